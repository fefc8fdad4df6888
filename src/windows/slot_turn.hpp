#pragma once

#include <atomic>
#include <cstdint>

namespace headway::windows {

/// Whether an origin or the target may use a slot now.
/// Shape:    one word; zero: free.
/// Threads:  any, of any process that maps it.
/// Progress: never waits. A process that ends while it has the slot keeps it.
template <class Atomic>
class basic_slot_turn {
  // free -> filled by an origin (claim) -> asked (ask) -> begun by the target (begin)
  //      -> done (finish) -> free (leave). Or asked -> filled by its origin once more (withdraw).
  // Hazards, and the edge that removes each:
  //   half a request is carried out        (Q) ask release -> begin acquire
  //   half an answer is read               (D) finish release -> is_done acquire
  //   an answer is overwritten unread      (F) leave release -> claim acquire
  //   a request is carried out and withdrawn   one exchange of `asked` wins
  // Checked by tests/model/request_slot_model.cpp (mutations there).
 public:
  // [origin]
  [[nodiscard]] bool claim() noexcept {
    std::uint32_t now = now_.load(std::memory_order_relaxed);  // a hint, carries nothing
    return now == free &&
           now_.compare_exchange_strong(now, filled, std::memory_order_acquire,  // (F)
                                        std::memory_order_relaxed);
  }
  void ask() noexcept { now_.store(asked, std::memory_order_release); }  // (Q)
  [[nodiscard]] bool is_done() const noexcept {
    return now_.load(std::memory_order_acquire) == done;  // (D)
  }
  /// False: the target has begun, and `is_done` will be true.
  [[nodiscard]] bool withdraw() noexcept {
    std::uint32_t now = asked;
    return now_.compare_exchange_strong(now, filled, std::memory_order_relaxed,  // the origin's own
                                        std::memory_order_relaxed);
  }
  void leave() noexcept { now_.store(free, std::memory_order_release); }  // (F)

  // [target]
  [[nodiscard]] bool is_asked() const noexcept {
    return now_.load(std::memory_order_relaxed) == asked;  // a hint, which `begin` confirms
  }
  [[nodiscard]] bool begin() noexcept {
    std::uint32_t now = asked;
    return now_.compare_exchange_strong(now, begun, std::memory_order_acquire,  // (Q)
                                        std::memory_order_relaxed);
  }
  void finish() noexcept { now_.store(done, std::memory_order_release); }  // (D)

 private:
  static constexpr std::uint32_t free = 0, filled = 1, asked = 2, begun = 3, done = 4;

  Atomic now_{free};
};

}  // namespace headway::windows
