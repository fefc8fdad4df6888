#pragma once

#include <cstdint>

namespace headway::collectives {

/// An operator on the elements of one type: right[i] = left[i] ∘ right[i]. "Left" comes first in
/// the order of ranks, which matters to operators that do not commute.
/// Shape:    elements lie `extent` apart, as the type says; left and right do not overlap.
/// Threads:  any; a user's function is called by the thread that advances the collective.
/// Source:   MPI-5.0 section 6.9.5 (the arguments of a user function, in its order).
struct reducer {
  using function = void (*)(const reducer& self, const void* left, void* right,
                            std::int64_t count) noexcept;

  function apply = nullptr;
  void* state = nullptr;  ///< for the function
  void* type = nullptr;   ///< the handle that a user's function receives
  bool commutative = true;
};

}  // namespace headway::collectives
