#pragma once

#include <cstddef>
#include <cstdint>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "packets/transfer/transfer.hpp"

namespace headway::endpoints {

struct bulk_receive;

/// Zones of memory for the next large message, which its receiver opens before the message is
/// announced, so that the sender need not ask for memory: one here for the other process, and one
/// there for this process.
///
/// There is only one, opened as late as possible, in the buffer that was released last: it is in
/// the processor's cache; two zones would share the cache with the message.
///
/// Shape:    one in each direction. A zone takes one message, and must not be much larger than it.
/// Threads:  any.
/// Source:   a rendezvous that the receiver initiates, because it can predict the next message.
class preposted_zones {
 public:
  /// a zone may be at most so many times larger than its message
  static constexpr std::uint64_t waste_max = 4;

  /// Takes the zone there: it `suits` a message, or the receiver is to close it. Number 0: none.
  struct taken {
    packets::preposted zone;
    bool suits = false;
  };
  [[nodiscard]] taken take_there(std::uint64_t bytes) noexcept;
  /// False: there is one already.
  [[nodiscard]] bool add_there(const packets::preposted& zone) noexcept;
  void forget_there() noexcept;

  /// Takes the request of the zone here; nullptr: there is none of that number.
  [[nodiscard]] bulk_receive* take_here(std::uint32_t zone) noexcept;
  /// The same for any number, and no other is added any more. 0: none.
  [[nodiscard]] std::uint32_t take_last_here() noexcept;
  /// False: there is one already, or zones have ended.
  [[nodiscard]] bool add_here(std::uint32_t zone, bulk_receive& by) noexcept;
  /// Its process is lost.
  void forget_here(const bulk_receive& by) noexcept;
  /// A zone of so many bytes is to be opened here when a buffer is free again.
  void want_here(std::uint64_t bytes) noexcept;
  /// Takes that request, for one caller, which opens the zone. 0: there is none.
  [[nodiscard]] std::uint64_t take_wish() noexcept;

 private:
  base::spinlock lock_;
  packets::preposted there_ HEADWAY_GUARDED_BY(lock_);
  std::uint32_t zone_here_ HEADWAY_GUARDED_BY(lock_) = 0;  // 0: none
  bulk_receive* here_ HEADWAY_GUARDED_BY(lock_) = nullptr;
  std::uint64_t due_bytes_ HEADWAY_GUARDED_BY(lock_) = 0;  // of the next zone here
  bool no_more_here_ HEADWAY_GUARDED_BY(lock_) = false;
};

}  // namespace headway::endpoints
