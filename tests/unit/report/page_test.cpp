#include "report/page.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/report/parts.hpp"

namespace headway::report {
namespace {

TEST(page, has_its_data_inside_one_script_element_whatever_names_contain) {
  auto p = part_of(0, 1);
  p.program = "</script><b>\"\\\n";
  const auto page = page_of(merge({p}, 1));
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_NE(page.find(R"(\u003c/script>\u003cb>)"), std::string::npos);
  EXPECT_NE(page.find(R"("headway_report":2)"), std::string::npos);
  EXPECT_EQ(page.find("{\"data\": null}"), std::string::npos);
}

TEST(page, is_written_in_whole_or_not_at_all) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "headway_report_test";
  std::filesystem::create_directories(folder);
  const auto job = merge({part_of(0, 1)}, 1);
  const auto file = folder / "report.html";
  ASSERT_TRUE(write_page(job, file));
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), page_of(job));
  // Where its name is a folder, nothing is left behind.
  std::filesystem::create_directories(folder / "taken" / "inside");
  const auto refused = write_page(job, folder / "taken");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("taken"), std::string::npos);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder)) ++files;
  EXPECT_EQ(files, 2u);
  std::filesystem::remove_all(folder);
}

TEST(page, is_written_through_a_link_which_stays_one) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "headway_report_link_test";
  std::filesystem::create_directories(folder);
  const auto job = merge({part_of(0, 1)}, 1);
  std::ofstream(folder / "file") << std::string(1 << 20, 'x');  // longer than the page
  std::filesystem::create_symlink("file", folder / "link");
  ASSERT_TRUE(write_page(job, folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  std::stringstream text;
  text << std::ifstream(folder / "file").rdbuf();
  EXPECT_EQ(text.str(), page_of(job));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headway::report
