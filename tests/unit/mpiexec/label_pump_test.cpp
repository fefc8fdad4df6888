#include "tools/mpiexec/label_pump.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <string>

namespace label_pump_tests {

using headway::mpiexec::label_pump;

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends = {-1, -1};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  return ends;
}

void write_whole(int to, const std::string& text) {
  ASSERT_EQ(write(to, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

std::string read_line(int from) {
  std::string line;
  for (char c = 0; c != '\n' && read(from, &c, 1) == 1;) line += c;
  return line;
}

// Each child that is being started has, until its exec, a copy of every pipe.
TEST(label_pump, a_pipe_that_has_ended_is_left_alone_though_a_child_has_a_copy) {
  const auto ends_first = make_pipe(), ends_later = make_pipe(), shown = make_pipe();
  const int copy = dup(ends_first[0]);
  testing::internal::CaptureStderr();
  {
    label_pump pump;
    pump.add(0, ends_first[0], shown[1], false);
    pump.add(1, ends_later[0], shown[1], false);
    ASSERT_TRUE(pump.start());
    write_whole(ends_first[1], "of rank 0");
    close(ends_first[1]);
    EXPECT_EQ(read_line(shown[0]), "0: of rank 0\n");
    // What is read next was written after the end of the first pipe was seen.
    for (int i = 0; i < 100; ++i) {
      write_whole(ends_later[1], "of rank 1\n");
      EXPECT_EQ(read_line(shown[0]), "1: of rank 1\n");
    }
    close(ends_later[1]);
    pollfd finished = {pump.finished_descriptor(), POLLIN, 0};
    EXPECT_EQ(poll(&finished, 1, 20000), 1);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  for (const int each : {copy, shown[0], shown[1]}) close(each);
}

}  // namespace label_pump_tests
