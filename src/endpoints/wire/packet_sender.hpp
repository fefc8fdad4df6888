#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "base/assert.hpp"
#include "endpoints/buffers/pool.hpp"
#include "endpoints/delivery/message.hpp"
#include "endpoints/settings.hpp"
#include "endpoints/wire/remote_processes.hpp"
#include "endpoints/wire/wire.hpp"
#include "packets/peers.hpp"

namespace headway::endpoints {

/// A packet to be sent. It is in the data of a block of its own.
struct packet_record : packets::send_item {
  pool* buffers = nullptr;
  block* self = nullptr;
  block* contents = nullptr;  ///< the buffer that the message was sent from, or nullptr
  bool lent = false;
  progress::completion* told = nullptr;  ///< completed when the rail no longer uses the packet
};

/// Several messages; needs a whole block of 8 KiB.
struct packed_message final : packet_record {
  static constexpr std::size_t room = 8192 - sizeof(packet_record) - sizeof(std::size_t);
  std::size_t used;
  std::array<std::byte, room> entries;  // uninitialised; `add` writes what it needs

  void begin() noexcept;
  [[nodiscard]] bool fits(std::size_t bytes, std::size_t room_bytes) const noexcept {
    return used + sizeof(packed_entry) + bytes <= room_bytes;
  }
  void add(const sending& what, std::uint32_t units) noexcept;
};
static_assert(sizeof(packed_message) == 8192);

/// A packet with bytes of its own behind its head.
struct control_packet final : packet_record {
  std::array<std::byte, name_bytes_max + 1> text;  // uninitialised; `tell` writes what it needs
};

/// Called for processes that turn out to be lost when something is sent to them.
class loss_listener {
 public:
  virtual void lose(std::uint32_t process) noexcept = 0;

 protected:
  ~loss_listener() = default;
};

/// Sends the packets of end-points to other processes, in order with those that are being packed.
///
/// Shape:    each packet's record is a buffer of the pool while the rail uses it.
/// Threads:  any.
/// Progress: never waits. Nothing is sent under a lock.
class packet_sender {
 public:
  packet_sender(packets::peers& peers, progress::engine& engine, pool& buffers,
                remote_processes& remotes, loss_listener& losses, const settings& chosen) noexcept
      : peers_(peers),
        engine_(engine),
        buffers_(buffers),
        remotes_(remotes),
        losses_(losses),
        settings_(chosen) {}

  /// A record in a block of its own, or nullptr; for a message, whose sender can be informed.
  template <class Record>
  [[nodiscard]] Record* make() noexcept {
    block* b = buffers_.request(sizeof(Record));
    return b ? &make_in<Record>(*b) : nullptr;
  }
  /// The same for what must be sent even if memory is used up.
  template <class Record>
  [[nodiscard]] Record& make_control() {
    return make_in<Record>(buffers_.request_internal(sizeof(Record)));
  }
  /// The rail has taken it, or never will: frees the record and the buffer that it was sent from.
  static void finish(packet_record& item) noexcept;
  /// `down`: the process is lost. Sent behind what is being packed for it.
  [[nodiscard]] packets::posted post_in_order(std::uint32_t process, packet_record& item) noexcept;
  /// A packet without a buffer: a head, and some bytes that are copied.
  template <class Head>
  void tell(std::uint32_t process, const Head& head, std::span<const std::byte> text = {}) noexcept;
  /// Announces that nothing more is sent; `done` completes when that has left.
  void take_leave(std::uint32_t process, std::uint32_t self, progress::completion& done) noexcept;
  /// Before the first packet to a process, or at the first from it.
  void meet(std::uint32_t process) noexcept {
    if (!remotes_[process].met.load(std::memory_order_acquire)) [[unlikely]]  // (E)
      meet_first(process);
  }
  /// From the first use on something is always pending: a message may arrive at any time.
  void start_use() noexcept;
  void end_use() noexcept;
  /// Sends what is being packed.
  void stop_packing() noexcept;

  [[nodiscard]] packets::peers& peers() noexcept { return peers_; }
  [[nodiscard]] progress::engine& engine() noexcept { return engine_; }

 private:
  template <class Record>
  [[nodiscard]] Record& make_in(block& b) noexcept {
    auto* item = new (b.data()) Record;
    item->buffers = &buffers_;
    item->self = &b;
    item->sent = [](packets::send_item& sent, bool) noexcept {
      finish(static_cast<packet_record&>(sent));
    };
    return *item;
  }
  [[gnu::noinline]] void meet_first(std::uint32_t process) noexcept;
  void learn_rail(std::uint32_t process, packets::peer& to) noexcept
      HEADWAY_REQUIRES(rail_facts_lock_);
  [[nodiscard]] packets::posted post(std::uint32_t process, packet_record& item) noexcept;

  packets::peers& peers_;
  progress::engine& engine_;
  pool& buffers_;
  remote_processes& remotes_;
  loss_listener& losses_;
  const settings& settings_;
  std::atomic<bool> in_use_{false};  // relaxed: one exchange wins
  base::spinlock rail_facts_lock_;   // of what `learn_rail` writes, until `met`
};

}  // namespace headway::endpoints
