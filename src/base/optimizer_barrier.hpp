#pragma once

namespace headway::base {

/// Hides from the compiler where `word` comes from, so that it is read and written as one access,
/// as the source says: for memory that is read right after it was written. A load that covers more
/// than one recent store waits until those have left the store buffer, about 15 cycles, and
/// compilers merge neighbouring loads and narrow stores without regard to that.
/// Shape:    a number or a pointer that fits a register. Costs nothing itself.
template <class T>
[[gnu::always_inline]] inline void optimizer_barrier(T& word) noexcept {
  asm("" : "+r"(word));
}

}  // namespace headway::base
