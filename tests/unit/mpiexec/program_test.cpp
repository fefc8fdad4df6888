#include "tools/mpiexec/program.hpp"

#include <gtest/gtest.h>

namespace headway::mpiexec {
namespace {

TEST(find_program, looks_along_the_path_for_a_plain_name) {
  const auto found = find_program("sh", "", "/nonexistent:/bin");
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_EQ(found.path, "/bin/sh");
}

TEST(find_program, gives_a_shells_codes) {
  EXPECT_EQ(find_program("headway-no-such-program", "", "/bin").exit_code, 127);
  EXPECT_EQ(find_program("./headway-no-such-program", "", "/bin").exit_code, 127);
  EXPECT_EQ(find_program("/etc/passwd", "", "/bin").exit_code, 126);
  EXPECT_EQ(find_program("/etc", "", "/bin").exit_code, 126);
}

TEST(find_program, looks_for_a_relative_one_in_its_directory_first) {
  EXPECT_EQ(find_program("./sh", "/bin", "").path, "/bin/./sh");
  EXPECT_EQ(find_program("sh", "/bin", ".").path, "/bin/./sh");
}

TEST(find_program, names_a_directory_that_is_not_there) {
  const auto found = find_program("sh", "/headway-no-such-folder", "/bin");
  EXPECT_NE(found.exit_code, 0);
  EXPECT_NE(found.why.find("/headway-no-such-folder"), std::string::npos);
}

}  // namespace
}  // namespace headway::mpiexec
