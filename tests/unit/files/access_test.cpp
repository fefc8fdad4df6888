#include "files/access.hpp"

#include <cerrno>
#include <random>

#include "datatypes/build.hpp"
#include "temporary_file.hpp"

namespace headway::files {
namespace {

namespace dt = datatypes;

[[nodiscard]] const dt::layout& bytes_type() { return dt::layout::of(dt::number::byte); }

[[nodiscard]] memory_data whole(std::vector<std::byte>& data) {
  return {data.data(), bytes_type(), static_cast<std::int64_t>(data.size())};
}

/// Increasing blocks of random length, `count` of them.
[[nodiscard]] dt::layout_ptr random_type(std::mt19937& random, int count, int longest) {
  std::vector<std::int64_t> lengths, places;
  std::int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    at += static_cast<std::int64_t>(random() % 3 == 0 ? random() % 9000 : random() % 40);
    lengths.push_back(1 + static_cast<std::int64_t>(random()) % longest);
    places.push_back(at);
    at += lengths.back();
  }
  const auto type = dt::build_hindexed(lengths, places, bytes_type()).value();
  return dt::build_resized(0, at + static_cast<std::int64_t>(random() % 50), *type).value();
}

/// What a plain loop over single bytes finds.
[[nodiscard]] std::vector<std::int64_t> places_of(const dt::layout& type, std::int64_t from,
                                                  std::int64_t bytes) {
  std::vector<std::int64_t> places;
  for (std::int64_t round = 0; static_cast<std::int64_t>(places.size()) < from + bytes; ++round)
    type.for_each_block(1, 0, type.size(), [&](std::int64_t at, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) places.push_back(round * type.extent() + at + i);
    });
  places.erase(places.begin(), places.begin() + from);
  places.resize(static_cast<std::size_t>(bytes));
  return places;
}

TEST(access, moves_each_byte_to_its_place_in_file_and_memory) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    // A few with more data than is moved at a time.
    const int longest = seed % 20 == 0 ? 20'000 : seed % 3 == 0 ? 2'000 : 30;
    const view seen{.displacement = static_cast<std::int64_t>(random() % 100),
                    .filetype = random_type(random, 1 + static_cast<int>(random() % 9), longest)};
    const auto memory_type = random_type(random, 1 + static_cast<int>(random() % 9), longest);
    const std::int64_t count = seed % 20 == 0 ? 80 : 1 + static_cast<std::int64_t>(random() % 30);
    const auto bytes = count * memory_type->size();
    const auto position = static_cast<std::int64_t>(random() % 1000);
    auto memory = pattern(static_cast<std::size_t>(count * memory_type->extent()), seed);

    const temporary_file at;
    const auto file = at.open();
    const auto in_file = places_of(*seen.filetype, position, bytes);
    const auto in_memory = places_of(*memory_type, 0, bytes);
    std::vector<std::byte> expected(
        static_cast<std::size_t>(seen.displacement + in_file.back() + 1), std::byte{0});
    for (std::size_t i = 0; i < in_file.size(); ++i)
      expected[static_cast<std::size_t>(seen.displacement + in_file[i])] =
          memory[static_cast<std::size_t>(in_memory[i])];

    access what{direction::writing, position, {memory.data(), memory_type, count}};
    const auto written = carry_out(what, file, seen);
    EXPECT_EQ(written.bytes, bytes);
    EXPECT_EQ(written.error, 0);
    EXPECT_EQ(at.bytes(), expected);

    std::vector<std::byte> back(memory.size(), std::byte{0});
    what.way = direction::reading;
    what.memory.buffer = back.data();
    EXPECT_EQ(carry_out(what, file, seen).bytes, bytes);
    std::size_t wrong = 0;
    for (const auto place : in_memory)
      wrong += back[static_cast<std::size_t>(place)] != memory[static_cast<std::size_t>(place)];
    EXPECT_EQ(wrong, 0U);
  }
}

TEST(access, ends_at_the_end_of_the_file) {
  // Blocks of 10 at each 25: the file ends in the middle of the third.
  const auto type =
      dt::build_resized(0, 25, *dt::build_contiguous(10, bytes_type()).value()).value();
  const temporary_file at;
  at.fill(pattern(54));
  const auto file = at.open();
  std::vector<std::byte> got(40);
  const access what{direction::reading, 0, whole(got)};
  EXPECT_EQ(carry_out(what, file, view{.filetype = type}).bytes, 24);
  EXPECT_EQ(got[23], pattern(54)[53]);
}

TEST(access, leaves_what_lies_between_its_blocks) {
  const auto type = dt::build_resized(0, 2, bytes_type()).value();
  const temporary_file at;
  at.fill(std::vector<std::byte>(100, std::byte{7}));
  auto data = pattern(50);
  const access what{direction::writing, 0, whole(data)};
  EXPECT_EQ(carry_out(what, at.open(), view{.filetype = type}).bytes, 50);
  const auto now = at.bytes();
  ASSERT_EQ(now.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(now[i], i % 2 == 0 ? data[i / 2] : std::byte{7});
}

TEST(access, reports_the_error_of_the_kernel) {
  const temporary_file at;
  auto data = pattern(50);
  const access what{direction::writing, 0, whole(data)};
  EXPECT_EQ(carry_out(what, at.open(O_RDONLY), view{}).error, EBADF);
}

TEST(access, of_nothing_moves_nothing) {
  const temporary_file at;
  std::vector<std::byte> none;
  const access what{direction::reading, 5, whole(none), true};
  EXPECT_EQ(carry_out(what, at.open(), view{}).bytes, 0);
}

}  // namespace
}  // namespace headway::files
