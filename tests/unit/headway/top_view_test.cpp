#include "tools/headway/top_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace headway::tool {
namespace {

using ::testing::HasSubstr;

process_line line(pid_t process, double rate = 0) {
  return {.counts = {.page = {process, 0},
                     .job = 7,
                     .rank = static_cast<std::uint64_t>(process),
                     .size = 64,
                     .program = "heat"},
          .now = {.processes = 1, .bytes_in = rate}};
}

std::vector<process_line> lines(int count) {
  std::vector<process_line> made;
  for (int i = 0; i < count; ++i) made.push_back(line(i, 1000 * i));
  return made;
}

std::string text(const std::vector<screen_line>& screen) {
  std::string all;
  for (const auto& one : screen) all += one.text + '\n';
  return all;
}

std::string selected(top_view& view) {
  for (const auto& one : view.draw(80, 24))
    if (one.how == style::selected) return one.text.substr(5, 5);
  return "none";
}

TEST(view, fits_any_size) {
  top_view view;
  auto many = lines(100);
  for (auto& one : many) one.counts.job = static_cast<std::uint64_t>(one.counts.page.first % 30);
  view.update(std::move(many), {"process 1: " + std::string(300, 'x')});
  for (const auto keys : {command::none, command::help, command::leave, command::open}) {
    view.press(keys);
    for (std::size_t width = 1; width < 250; ++width)
      for (const std::size_t height : {1, 2, 3, 6, 7, 24, 200}) {
        const auto screen = view.draw(width, height);
        ASSERT_LE(screen.size(), height);
        for (const auto& one : screen) ASSERT_LE(one.text.size(), width);
      }
  }
}

TEST(view, leaves_out_no_figure_from_60_columns_on_whatever_its_size) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  top_view view;
  process_line large{
      .counts = {.page = {4194304, 0}, .job = 7, .rank = 99999, .size = 100000, .program = "heat"},
      .now = {.processes = 1,
              .bytes_in = 999.4e9,
              .bytes_out = 999.4e9,
              .packets = 999.4e6,
              .bytes_overlap = 999.4e9,
              .waited_s = 300,
              .library_s = 40}};
  large.counts.bytes_in = most / 2;
  large.counts.written_ns = most;
  view.update({large}, {});
  for (std::size_t width = table_shape::width_min; width < 130; ++width) {
    const auto screen = text(view.draw(width, 24));
    for (const auto* figure : {" 99999 ", " 4194304 ", " 999 GB ", " 50 % ", " 9999 % ", " heat"})
      EXPECT_THAT(screen, HasSubstr(figure)) << width;
  }
}

TEST(view, keeps_the_process_selected_that_is_sorted_elsewhere) {
  top_view view;
  view.update(lines(5), {});
  view.press(command::down);
  EXPECT_EQ(selected(view), "    1");
  for (int i = 0; i < 2; ++i) view.press(command::right);  // process, received
  EXPECT_EQ(selected(view), "    1");
  view.press(command::up);  // the next larger rate
  EXPECT_EQ(selected(view), "    2");
  view.press(command::reverse);
  view.press(command::down);
  EXPECT_EQ(selected(view), "    3");
}

TEST(view, selects_the_one_in_the_place_of_a_process_that_ends) {
  top_view view;
  view.update(lines(5), {});
  for (int i = 0; i < 2; ++i) view.press(command::down);
  auto left = lines(5);
  left.erase(left.begin() + 2);
  view.update(left, {});
  EXPECT_EQ(selected(view), "    3");
  view.update({line(0)}, {});
  EXPECT_EQ(selected(view), "    0");
  view.update({}, {});
  EXPECT_EQ(selected(view), "none");
  EXPECT_THAT(text(view.draw(80, 24)), HasSubstr("no process of yours runs with HEADWAY_STATS"));
}

TEST(view, closes_the_tables_of_a_process_that_ends) {
  top_view view;
  view.press(command::open);  // nothing to open
  EXPECT_FALSE(view.opened());
  view.update(lines(2), {});
  view.press(command::open);
  ASSERT_TRUE(view.opened());
  watch::page_image image;
  image.add("rail", "shm").add("bytes_in", 5);
  view.update_tables(image);
  EXPECT_THAT(text(view.draw(80, 24)), HasSubstr("rail shm"));
  view.update({line(1)}, {});
  EXPECT_FALSE(view.opened());
  view.press(command::open);
  view.update_tables(std::nullopt);
  EXPECT_FALSE(view.opened());
}

TEST(view, is_left_by_the_key_that_also_leaves_a_page) {
  top_view view;
  view.press(command::help);
  view.press(command::leave);
  EXPECT_FALSE(view.ended());
  view.press(command::back);
  EXPECT_FALSE(view.ended());
  view.press(command::leave);
  EXPECT_TRUE(view.ended());
}

TEST(view, shows_the_jobs_that_fit_and_how_many_there_are_more) {
  std::vector<process_line> many;
  for (int i = 0; i < 12; ++i) {
    many.push_back(line(i));
    many.back().counts.job = static_cast<std::uint64_t>(i);
  }
  top_view view;
  view.update(std::move(many), {});
  EXPECT_THAT(text(view.draw(80, 20)), HasSubstr("and 8 more jobs"));
  EXPECT_THAT(text(view.draw(80, 50)), ::testing::Not(HasSubstr("more job")));
}

TEST(sorting, by_every_column_has_one_order) {
  std::vector<ranked> processes;
  for (int i = 0; i < 50; ++i) {
    processes.push_back({.process = line(i % 7, i % 3), .job_number = 1});
    if (i % 5 == 0) processes.back().process.now = {};
  }
  for (int i = 0; i <= static_cast<int>(column::program); ++i)
    for (const bool reversed : {false, true}) {
      sort_by(processes, static_cast<column>(i), reversed);
      EXPECT_EQ(processes.size(), 50u);
    }
  sort_by(processes, column::in, false);
  EXPECT_TRUE(std::ranges::is_sorted(processes, std::greater<>(),
                                     [](const ranked& one) { return one.process.now.bytes_in; }));
}

}  // namespace
}  // namespace headway::tool
