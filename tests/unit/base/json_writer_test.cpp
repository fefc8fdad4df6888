#include "base/json_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace headway::base::json_writer_test {
namespace {

TEST(json_writer, writes_every_kind_of_value_by_its_name) {
  json_writer out;
  out.object([&] {
    out.member("text", std::string("a"));
    out.member("letters", "b");
    out.member("small", -1);
    out.member("great", std::numeric_limits<std::uint64_t>::max());
    out.member("half", 0.5);
    out.member("is", true);
    out.name("list");
    out.array(std::array{1, 2}, [&](int each) { out.value(each); });
  });
  EXPECT_EQ(out.take(), R"({"text":"a","letters":"b","small":-1,"great":18446744073709551615,)"
                        R"("half":0.5,"is":true,"list":[1,2]})");
}

TEST(json_writer, escapes_what_would_end_a_string) {
  json_writer out;
  out.value("a\"b\\c\nd");
  EXPECT_EQ(out.take(), R"("a\"b\\c\nd")");
}

TEST(json_writer, has_null_for_numbers_that_json_cannot_express) {
  json_writer out;
  out.array(std::array{std::numeric_limits<double>::infinity(), std::nan("")},
            [&](double each) { out.value(each); });
  EXPECT_EQ(out.take(), "[null,null]");
}

TEST(json_writer, begins_another_value_after_it_was_taken) {
  json_writer out;
  out.array(std::array{1}, [&](int each) { out.value(each); }, true);
  EXPECT_EQ(out.take(), "[\n1]");
  out.value(2);
  EXPECT_EQ(out.take(), "2");
}

}  // namespace
}  // namespace headway::base::json_writer_test
