#pragma once

namespace headway::base {

/// Hides from the compiler how `word` came about, so that it is read and written as it stands: for
/// memory that is read right after it was written. A load that covers more than one store wrote
/// waits until all are through, some 15 cycles, and compilers join neighbouring loads and narrow
/// stores without a thought of that.
/// Shape:    a number or a pointer that fits a register. Costs nothing itself.
template <class T>
[[gnu::always_inline]] inline void hide(T& word) noexcept {
  asm("" : "+r"(word));
}

}  // namespace headway::base
