#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/delivery/dispatcher.hpp"
#include "endpoints/delivery/local_endpoint.hpp"
#include "endpoints/delivery/outcome.hpp"
#include "endpoints/delivery/slots.hpp"

namespace headway::endpoints {

/// The end-points of this process, and the dispatcher of their handlers.
/// Shape:    as many slots as there ever were end-points open at the same time.
/// Threads:  any.
/// Progress: waits for nothing but an inbox's locks.
class local_endpoints {
 public:
  local_endpoints(message_source& source, progress::engine& engine) noexcept
      : handlers_(source, engine) {}

  /// nullptr: no end-point ever had this slot. The caller compares the id under the box's lock.
  [[nodiscard]] local_endpoint* find(std::uint32_t id) noexcept {
    return id == 0 ? nullptr : pages_.find(slot_of(id));
  }
  /// The id of a new one; 0: none is left.
  [[nodiscard]] std::uint32_t open(std::string_view name);
  /// This process no longer has to unregister its name.
  void drop_name(std::uint32_t id) noexcept;
  /// What is left when an end-point closes.
  struct closed {
    std::string name;
    std::vector<inbox::debt> senders;  ///< processes that sent there
    std::vector<parcel*> unread;
  };
  /// `gone`: it is closed already.
  [[nodiscard]] outcome close(std::uint32_t id, closed& left) noexcept;
  [[nodiscard]] std::vector<std::uint32_t> open_ids();
  /// A counter for display.
  [[nodiscard]] std::size_t open_count() const noexcept {
    return open_count_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] outcome descriptor(std::uint32_t id, int& descriptor) noexcept;
  [[nodiscard]] outcome handle(std::uint32_t id, const handler& by);
  [[nodiscard]] dispatcher& handlers() noexcept { return handlers_; }

 private:
  slot_pages<local_endpoint, 256> pages_;
  slot_ids ids_;
  std::atomic<std::uint32_t> open_count_{0};
  dispatcher handlers_;
};

}  // namespace headway::endpoints
