#include "topology/hardware.hpp"

#include <gtest/gtest.h>

#include "topology/machine.hpp"
#include "topology/processors.hpp"

namespace headway::topology {
namespace {

hardware hardware_of(const char* description) { return hardware::read(description).value(); }

TEST(hardware, comes_out_of_its_bytes_as_it_went_in) {
  for (const char* description : {"core:1 pu:1", "package:2 l3:2 core:3 pu:2", "pu:3"}) {
    const auto whole = hardware_of(description);
    EXPECT_EQ(hardware::unpack(whole.pack()).value(), whole) << description;
  }
  const auto here = hardware::read();
  ASSERT_TRUE(here) << here.error().text;
  EXPECT_EQ(hardware::unpack(here->pack()).value(), *here);
}

TEST(hardware, cut_short_or_changed_is_refused_or_sound) {
  const auto bytes = hardware_of("package:2 core:2 pu:2").pack();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto found = hardware::unpack(std::span(bytes).first(size));
    if (!found) continue;
    EXPECT_LT(found->objects.size(), 7u) << "a whole number of objects";
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] ^= std::byte{0x81};
    const auto found = hardware::unpack(changed);
    if (!found) continue;
    for (const auto& o : found->objects) EXPECT_FALSE(o.processors.empty());
  }
}

TEST(hardware, without_the_other_processors_has_only_what_is_around_those) {
  const auto whole = hardware_of("package:2 core:2 pu:2");
  const auto part = whole.only(std::vector{4, 5, 6});
  ASSERT_EQ(part.objects.size(), 4u);
  EXPECT_EQ(part.objects[0].processors, (std::vector{4, 5, 6}));
  EXPECT_EQ(part.objects[1].what, hardware::kind::package);
  EXPECT_EQ(part.objects[1].number, 1u);
  EXPECT_EQ(part.objects[3].processors, (std::vector{6}));
  EXPECT_EQ(whole.only({}), whole) << "the kernel did not say";
}

TEST(hardware, that_another_process_has_read_makes_the_same_machine) {
  const auto found = hardware::read();
  ASSERT_TRUE(found);
  const auto own = machine::read().value(), given = machine::read({}, *found).value();
  ASSERT_EQ(own->places().size(), given->places().size());
  for (std::size_t i = 0; i < own->places().size(); ++i) {
    EXPECT_EQ(own->places()[i].name, given->places()[i].name);
    EXPECT_EQ(own->places()[i].processors, given->places()[i].processors);
  }
  EXPECT_EQ(own->node_processors(), given->node_processors());
}

TEST(hardware, that_lacks_a_processor_of_this_process_is_not_believed) {
  auto wrong = hardware::read().value();
  const auto bound = bound_processors();
  ASSERT_FALSE(bound.empty());
  for (auto& o : wrong.objects) std::erase(o.processors, bound.front());
  EXPECT_EQ(machine::read({}, wrong).value()->places()[0].processors, bound);
}

}  // namespace
}  // namespace headway::topology
