#pragma once

#include <cstddef>
#include <cstdint>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "packets/transfer/transfer.hpp"

namespace headway::endpoints {

struct bulk_receive;

/// Zones of memory for the next large message, which its receiver opens before the message is
/// announced, so that no sender has to ask and wait: one here for the other process, and one there
/// for this process.
///
/// There is a single one, opened as late as possible, in the buffer that was released last: it lies
/// in the processor's cache, which two zones would share with the message.
///
/// Shape:    one in each direction. A zone takes one message, of which it must not be many times as
///           large.
/// Threads:  any.
/// Source:   a rendezvous in which the receiver speaks first, because it knows what comes next.
class preposted_zones {
 public:
  static constexpr std::uint64_t waste_max = 4;  ///< a zone may be so many times its message

  /// The zone there, taken: it `suits` a message, or the receiver is to close it. Number 0: none.
  struct taken {
    packets::preposted zone;
    bool suits = false;
  };
  [[nodiscard]] taken take_there(std::uint64_t bytes) noexcept;
  /// False: there is one already.
  [[nodiscard]] bool add_there(const packets::preposted& zone) noexcept;
  void forget_there() noexcept;

  /// The request of the zone here, taken out; nullptr: there is none of that name.
  [[nodiscard]] bulk_receive* take_here(std::uint32_t zone) noexcept;
  /// The same, whatever it is called, and no other will be added. 0: none.
  [[nodiscard]] std::uint32_t take_last_here() noexcept;
  /// False: there is one already, or none is wanted any more.
  [[nodiscard]] bool add_here(std::uint32_t zone, bulk_receive& by) noexcept;
  /// Its process is lost.
  void forget_here(const bulk_receive& by) noexcept;
  /// A zone of so many bytes is to be opened here when a buffer is free again.
  void want_here(std::uint64_t bytes) noexcept;
  /// Takes that wish, for one caller, which opens the zone. 0: there is none.
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
