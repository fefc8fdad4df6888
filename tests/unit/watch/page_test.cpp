#include "watch/page.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "watch/statistics.hpp"

namespace headway::watch {
namespace {

page_image image_of(std::uint64_t value) {
  page_image image;
  image.pid = static_cast<std::uint64_t>(getpid());
  image.size = 1;
  image.began_ns = 1;
  image.written_ns = 1'500'000'001;
  auto& row = image.add("queue", "core 3");
  row.add("hits", value);
  row.add("masked_ns", value);
  return image;
}

TEST(page, shows_another_process_what_was_written_last) {
  auto made = page::make();
  ASSERT_TRUE(made);
  made->write(image_of(7));
  made->write(image_of(8));
  const auto seen = read_pages(getpid());
  ASSERT_TRUE(seen) << seen.error().text;
  ASSERT_EQ(seen->size(), 1u);
  const auto rows = seen->front().of("queue");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_STREQ(rows[0]->name.data(), "core 3");
  EXPECT_EQ(rows[0]->at("hits"), 8u);
  EXPECT_EQ(rows[0]->at("no such"), 0u);
}

TEST(page, is_found_among_the_processes_and_gone_with_its_owner) {
  {
    auto made = page::make();
    ASSERT_TRUE(made);
    made->write(image_of(1));
    EXPECT_EQ(std::ranges::count(processes_with_page(), getpid()), 1);
  }
  const auto seen = read_pages(getpid());
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().kind, base::fault_kind::unsupported);
  EXPECT_NE(seen.error().text.find("HEADWAY_STATS"), std::string::npos);
}

TEST(page, of_another_process_that_we_inherited_is_not_taken_for_ours) {
  auto made = page::make();
  ASSERT_TRUE(made);
  auto image = image_of(1);
  image.pid += 1;
  made->write(image);
  EXPECT_FALSE(read_pages(getpid()));
}

TEST(page, of_each_copy_of_the_library_in_a_process_is_seen) {
  auto first = page::make(), second = page::make();
  ASSERT_TRUE(first && second);
  first->write(image_of(1));
  second->write(image_of(2));
  const auto seen = read_pages(getpid());
  ASSERT_TRUE(seen) << seen.error().text;
  EXPECT_EQ(seen->size(), 2u);
}

TEST(page, shows_no_commands_to_the_terminal) {
  auto made = page::make();
  ASSERT_TRUE(made);
  auto image = image_of(1);
  image.program.fill('\033');
  image.rows[0].name[4] = '\n';
  image.rows[0].cells[0].name[1] = '\x9b';
  image.row_count = image.rows[0].cell_count = ~std::uint64_t{0};
  made->write(image);
  const auto seen = read_pages(getpid());
  ASSERT_TRUE(seen) << seen.error().text;
  const auto& safe = seen->front();
  EXPECT_EQ(std::string(safe.program.data()), std::string(safe.program.size() - 1, '?'));
  EXPECT_STREQ(safe.rows[0].name.data(), "core?3");
  EXPECT_STREQ(safe.rows[0].cells[0].name.data(), "h?ts");
  EXPECT_EQ(safe.row_count, page_image::rows_max);
  EXPECT_EQ(safe.rows[0].cell_count, page_row::cells_max);
}

TEST(page, that_its_owner_could_make_shorter_is_not_read) {
  const int file = memfd_create(page_file::name, MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, page_file::bytes), 0);
  const auto seen = read_pages(getpid());
  close(file);
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().text, "its statistics may be cut short");
}

TEST(page, of_no_process_is_a_fault_of_the_system) {
  const auto seen = read_pages(0x7fff'fff0);
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().kind, base::fault_kind::system);
}

TEST(page, is_never_seen_half_written) {
  auto made = page::make();
  ASSERT_TRUE(made);
  made->write(image_of(0));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; !stop.load(std::memory_order_relaxed); ++i) {
      made->write(image_of(i));
      usleep(200);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const auto seen = read_pages(getpid());
    ASSERT_TRUE(seen) << seen.error().text;
    const auto* const row = seen->front().of("queue")[0];
    EXPECT_EQ(row->at("hits"), row->at("masked_ns"));
  }
  stop.store(true, std::memory_order_relaxed);
  writer.join();
}

TEST(page, leaves_out_rows_beyond_its_room_and_says_how_many) {
  page_image image;
  for (std::size_t i = 0; i < page_image::rows_max + 3; ++i) image.add("thread", "x").add("n", i);
  EXPECT_EQ(image.row_count, page_image::rows_max);
  EXPECT_EQ(image.rows_left_out, 3u);
  EXPECT_NE(statistics_text(image).find("and 3 more"), std::string::npos);
}

TEST(statistics, say_numbers_with_their_units) {
  auto image = image_of(1'234'567);
  auto& overlap = image.add("overlap", "messages");
  overlap.add("bytes_moved", 2'000'000'000);
  overlap.add("bytes_overlap", 1'500'000'000);
  overlap.add("waited_ns", 3'000'000);
  const auto text = statistics_text(image);
  EXPECT_NE(text.find("overlap: 75.0 % of 2.00 GB moved while no call waited; 3.00 ms spent"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("after 1.50 s"), std::string::npos) << text;
  EXPECT_NE(text.find("1.23 M"), std::string::npos) << text;
  EXPECT_NE(text.find("1.23 ms"), std::string::npos) << text;
}

TEST(statistics, in_json_have_names_with_any_character) {
  page_image image;
  image.add("thread", "a\"b\\c").add("rounds", 1);
  EXPECT_NE(statistics_json(image).find(R"("name":"a\"b\\c","rounds":1)"), std::string::npos);
}

}  // namespace
}  // namespace headway::watch
