#pragma once

#include <memory>
#include <span>
#include <vector>

#include "endpoints/buffers/pool.hpp"
#include "endpoints/delivery/delivery.hpp"
#include "endpoints/names/names.hpp"
#include "endpoints/service.hpp"
#include "endpoints/wire/arrivals.hpp"
#include "endpoints/wire/buffer_queue.hpp"
#include "endpoints/wire/bulk.hpp"
#include "endpoints/wire/packet_sender.hpp"
#include "endpoints/wire/region_offers.hpp"
#include "endpoints/wire/remote_processes.hpp"
#include "endpoints/wire/sender.hpp"

namespace headway::endpoints {

/// The parts of a service, each built on those above it, and the calls upwards between them.
struct service::parts final : loss_listener, name_transport, message_source {
  parts(packets::peers& peers, progress::engine& engine, service_options of, settings chosen);
  ~parts();

  void lose(std::uint32_t process) noexcept override;
  void deliver(std::uint32_t process, const name_head& head, std::string_view name) override;
  [[nodiscard]] bool take_for_handler(local_endpoint& at, message& out,
                                      handler& by) noexcept override;

  const service_options options;
  const settings chosen;
  const std::uint32_t process_count;
  progress::engine& engine;
  remote_processes remotes;
  pool buffers;
  packet_sender packets;
  delivery inboxes;
  buffer_queue waiting;
  bulk_transfers bulk;
  region_offers regions;
  names directory;
  sender out;
  arrivals in;
  /// `leaving` packets that their peers have not read in time: in use until the peers are gone.
  std::vector<std::unique_ptr<progress::completion>> unread;
};

}  // namespace headway::endpoints
