#pragma once

namespace headway::base {

/// Hides from the compiler how `word` was computed, so that it is loaded or stored by one access of
/// its own: for memory that is read right after it was written. Compilers merge neighbouring loads
/// and stores; a load that covers more than one recent store then waits about 15 cycles, until
/// these have left the store buffer.
/// Shape:    a number or a pointer that fits a register. Costs nothing itself.
template <class T>
[[gnu::always_inline]] inline void optimizer_barrier(T& word) noexcept {
  asm("" : "+r"(word));
}

}  // namespace headway::base
