#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <random>
#include <vector>

#include "rails/tcp/record_reader.hpp"
#include "rails/tcp/record_writer.hpp"

namespace headway::rails::tcp::tcp_record_tests {
namespace {

using bytes = std::vector<std::byte>;

constexpr std::size_t most = record::content_bytes_max;

authentication::key key_of(int seed) {
  authentication::key made;
  made.fill(static_cast<std::byte>(seed));
  return made;
}

bytes noise(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  bytes made(count);
  for (auto& b : made) b = static_cast<std::byte>(random());
  return made;
}

iovec place(std::span<const std::byte> at) {
  return {.iov_base = const_cast<std::byte*>(at.data()), .iov_len = at.size()};
}

bytes joined(const std::vector<bytes>& parts) {
  bytes all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Returns how much it has encrypted.
std::size_t seal(record_writer& with, std::span<const iovec> plain) {
  record::cursor from(plain);
  with.seal(from, record_writer::records_max);
  return from.passed();
}

/// What the writer has encrypted, as a kernel would take it.
bytes taken_from(record_writer& from) {
  const bytes taken(from.sealed().begin(), from.sealed().end());
  from.written(taken.size());
  return taken;
}

/// Each content in a record of its own; the first has the stream's header before it.
std::vector<bytes> records_of(const std::vector<bytes>& contents, int key = 1) {
  const auto writer = std::make_unique<record_writer>(key_of(key));
  std::vector<bytes> made;
  for (const auto& content : contents) {
    const auto one = place(content);
    EXPECT_EQ(seal(*writer, {&one, 1}), content.size());
    made.push_back(taken_from(*writer));
  }
  return made;
}

/// A reader at the end of a connection.
class receiver {
 public:
  explicit receiver(int key = 1) : reader_(std::make_unique<record_reader>(key_of(key))) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends_), 0);
  }
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;
  ~receiver() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void send(std::span<const std::byte> some) {
    ASSERT_EQ(::send(ends_[0], some.data(), some.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(some.size()));
  }
  void send_end() { shutdown(ends_[0], SHUT_WR); }
  /// One call, which adds what came to `got`. Returns what it said.
  std::ptrdiff_t read(std::size_t at_most = 100'000) {
    bytes room(at_most);
    const auto one = place(room);
    const auto said = reader_->receive(ends_[1], {&one, 1});
    error = said < 0 ? errno : 0;
    if (said > 0) got.insert(got.end(), room.begin(), room.begin() + said);
    return said;
  }
  /// Until nothing more comes. Returns what the last call said.
  std::ptrdiff_t read_all(std::size_t at_most = 100'000) {
    std::ptrdiff_t said = 1;
    while (said > 0) said = read(at_most);
    return said;
  }
  [[nodiscard]] record_reader& operator*() { return *reader_; }
  [[nodiscard]] int fd() const { return ends_[1]; }

  bytes got;
  int error = 0;

 private:
  std::unique_ptr<record_reader> reader_;
  int ends_[2] = {-1, -1};
};

class tcp_record : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(sodium_init(), 0); }
  const std::vector<bytes> contents{noise(1, 1), noise(20, 2), noise(3, 3)};
};

TEST_F(tcp_record, what_comes_byte_by_byte_is_given_out_when_its_record_is_whole) {
  receiver to;
  bytes due;
  const auto sealed = records_of(contents);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    for (std::size_t at = 0; at < sealed[i].size(); ++at) {
      EXPECT_EQ(to.read(), -1);
      EXPECT_EQ(to.error, EAGAIN);
      EXPECT_EQ(to.got, due);
      to.send(std::span(sealed[i]).subspan(at, 1));
    }
    EXPECT_EQ(to.read(), static_cast<std::ptrdiff_t>(contents[i].size()));
    due.insert(due.end(), contents[i].begin(), contents[i].end());
    EXPECT_EQ(to.got, due);
    EXPECT_FALSE((*to).holds_more());
  }
}

TEST_F(tcp_record, every_length_of_buffers_at_both_ends_gives_the_same_bytes) {
  std::mt19937 random(5);
  const auto writer = std::make_unique<record_writer>(key_of(1));
  receiver to;
  bytes sent;
  for (int round = 0; round < 300; ++round) {
    std::vector<bytes> parts(1 + random() % 6);
    std::vector<iovec> vectors;
    for (auto& part : parts) {
      const std::size_t lengths[] = {0, 1 + random() % 60, most - 1, most, most + 1, 2 * most + 7};
      part = noise(lengths[random() % (round % 20 == 0 ? 6 : 2)], static_cast<unsigned>(random()));
      vectors.push_back(place(part));
    }
    const auto all = joined(parts);
    sent.insert(sent.end(), all.begin(), all.end());
    record::cursor from(vectors);
    while (!from.front().empty() || !writer->empty()) {
      if (writer->empty()) writer->seal(from, 1 + random() % record_writer::records_max);
      // As a kernel that takes some, also none.
      const auto taken = std::min<std::size_t>(random() % 20'000, writer->sealed().size());
      to.send(writer->sealed().first(taken));
      writer->written(taken);
      while (to.read(1 + random() % 20'000) > 0) {
      }
      EXPECT_EQ(to.error, EAGAIN);
    }
  }
  EXPECT_TRUE(to.got == sent);
}

TEST_F(tcp_record, a_record_goes_on_in_the_next_of_several_buffers) {
  const std::vector<bytes> three{noise(most, 4), noise(most, 5), noise(most, 6)};
  const auto all = joined(three);
  receiver to;
  to.send(joined(records_of(three)));
  bytes first(most + 5), none, second(most), third(2 * most);
  const iovec into[] = {place(first), place(none), place(second), place(third)};
  ASSERT_EQ((*to).receive(to.fd(), into), static_cast<std::ptrdiff_t>(all.size()));
  third.resize(most - 5);
  EXPECT_TRUE(joined({first, second, third}) == all);
}

TEST_F(tcp_record, no_more_is_encrypted_at_once_than_there_is_room_for) {
  const auto all = noise(most * record_writer::records_max + 1, 6);
  const auto writer = std::make_unique<record_writer>(key_of(1));
  const auto from = place(all);
  ASSERT_EQ(seal(*writer, {&from, 1}), all.size() - 1);
  receiver to;
  to.send(taken_from(*writer));
  to.read_all();
  const auto rest = place(std::span(all).last(1));
  ASSERT_EQ(seal(*writer, {&rest, 1}), 1u);
  to.send(taken_from(*writer));
  to.read_all();
  EXPECT_TRUE(to.got == all);
}

TEST_F(tcp_record, what_was_read_and_not_asked_for_is_held_and_said) {
  receiver to;
  to.send(joined(records_of(contents)));
  EXPECT_EQ(to.read(1), 1);
  EXPECT_TRUE((*to).holds_more());
  EXPECT_GE((*to).held_bytes(), contents[1].size() + contents[2].size());
  EXPECT_EQ(to.read(7), 7) << "a part of a record";
  EXPECT_TRUE((*to).holds_more());
  EXPECT_EQ(to.read_all(), -1);
  EXPECT_EQ(to.got, joined(contents));
  EXPECT_FALSE((*to).holds_more());
  EXPECT_EQ((*to).held_bytes(), 0u);
}

TEST_F(tcp_record, a_stream_that_is_cut_at_any_byte_gives_its_whole_records_and_then_its_end) {
  const auto sealed = records_of(contents);
  const auto all = joined(sealed);
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    receiver to;
    to.send(std::span(all).first(cut));
    to.send_end();
    (void)to.read_all();
    EXPECT_EQ(to.read_all(), 0) << "after all that came before";
    bytes due;
    std::size_t whole = 0;
    for (std::size_t i = 0; i < sealed.size() && (whole += sealed[i].size()) <= cut; ++i)
      due.insert(due.end(), contents[i].begin(), contents[i].end());
    EXPECT_EQ(to.got, due) << cut;
  }
}

TEST_F(tcp_record, a_change_of_any_bit_is_noticed_as_soon_as_its_record_has_come) {
  const auto sealed = records_of(contents);
  const auto all = joined(sealed);
  for (std::size_t bit = 0; bit < 8 * all.size(); ++bit) {
    auto changed = all;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    bytes due;
    std::size_t whole = 0;
    std::size_t i = 0;
    for (; (whole += sealed[i].size()) <= bit / 8; ++i)
      due.insert(due.end(), contents[i].begin(), contents[i].end());
    receiver to;
    to.send(std::span(changed).first(whole));
    EXPECT_EQ(to.read_all(), -1);
    ASSERT_EQ(to.error, EBADMSG) << "bit " << bit;
    EXPECT_EQ(to.got, due);
    EXPECT_TRUE((*to).holds_more());
    to.send(std::span(changed).subspan(whole));
    EXPECT_EQ(to.read_all(), -1);
    EXPECT_EQ(to.error, EBADMSG) << "for ever";
    EXPECT_EQ(to.got, due);
  }
}

TEST_F(tcp_record, a_record_that_is_moved_repeated_or_left_out_does_not_verify) {
  // All of one length, so that nothing but their numbers tells them apart.
  const std::vector<bytes> alike{noise(9, 1), noise(9, 2), noise(9, 3), noise(9, 4)};
  const auto sealed = records_of(alike);
  const std::vector<std::vector<std::size_t>> orders{
      {0, 2, 1, 3}, {0, 1, 1, 2}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2, 0}};
  for (const auto& order : orders) {
    receiver to;
    bytes due;
    bool right = true;
    for (std::size_t i = 0; i < order.size(); ++i) {
      to.send(sealed[order[i]]);
      right = right && order[i] == i;
      if (right) due.insert(due.end(), alike[i].begin(), alike[i].end());
    }
    EXPECT_EQ(to.read_all(), -1);
    EXPECT_EQ(to.error, EBADMSG);
    EXPECT_EQ(to.got, due);
  }
}

TEST_F(tcp_record, the_same_bytes_under_another_key_do_not_verify) {
  receiver to(2);
  to.send(joined(records_of(contents, 1)));
  EXPECT_EQ(to.read_all(), -1);
  EXPECT_EQ(to.error, EBADMSG);
  EXPECT_TRUE(to.got.empty());
}

TEST_F(tcp_record, a_stream_in_the_place_of_another_of_the_same_key_does_not_verify) {
  receiver to;
  const auto one = records_of(contents), other = records_of(contents);
  to.send(one[0]);
  to.send(other[1]);
  EXPECT_EQ(to.read_all(), -1);
  EXPECT_EQ(to.error, EBADMSG);
  EXPECT_EQ(to.got, contents[0]);
}

TEST_F(tcp_record, a_length_of_nothing_or_too_much_is_refused_also_with_a_valid_hash) {
  const record::keys use(key_of(1));
  for (const std::uint32_t length : {std::uint32_t{0}, std::uint32_t{most} + 1, UINT32_MAX}) {
    const auto head = record::encode(length, 7, use);
    EXPECT_FALSE(record::decode(head, 7, use)) << length;
  }
  const auto head = record::encode(most, 7, use);
  EXPECT_EQ(record::decode(head, 7, use), most);
  EXPECT_FALSE(record::decode(head, 8, use)) << "of another record";
}

}  // namespace
}  // namespace headway::rails::tcp::tcp_record_tests
