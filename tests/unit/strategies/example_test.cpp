// The example of docs/strategy.md is the file that is compiled here.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(strategy_page, shows_the_example_as_it_is_compiled) {
  const std::string root = HEADWAY_SOURCE_DIR;
  const auto example = text_of(root + "/examples/strategy/strongest.c");
  ASSERT_FALSE(example.empty());
  EXPECT_NE(text_of(root + "/docs/strategy.md").find("```c\n" + example + "```"),
            std::string::npos);
}

}  // namespace
