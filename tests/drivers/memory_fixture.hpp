#pragma once

#include <gtest/gtest.h>

#include "world.hpp"

namespace headway::rails::testing {

/// One world of each kind for a test; `self`, which reaches no other process, is both of its ends.
class contract_memory : public ::testing::TestWithParam<kind> {
 protected:
  [[nodiscard]] world make_world() const {
    return world(GetParam(), GetParam().reaches_others ? 2 : 1);
  }
  /// The limits of the first driver for the last one's memory.
  [[nodiscard]] static memory_limits limits_of(world& w) {
    return w.first()->memory()->limits_to(w.last_id());
  }
};

}  // namespace headway::rails::testing
