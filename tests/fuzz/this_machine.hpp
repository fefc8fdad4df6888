#pragma once

#include "topology/machine.hpp"

namespace headway {

/// For the engines of a fuzz target, which makes one for each input.
[[nodiscard]] inline topology::machine& this_machine() {
  static const auto one = topology::machine::read().value();
  return *one;
}

}  // namespace headway
