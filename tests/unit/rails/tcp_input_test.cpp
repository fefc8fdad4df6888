// What is special about parsing an encrypted connection; all else is in the drivers' contract.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "rails/tcp/input.hpp"
#include "rails/tcp/record_writer.hpp"

namespace headway::rails::tcp::tcp_input_tests {
namespace {

using bytes = std::vector<std::byte>;

authentication::key the_key() {
  authentication::key made;
  made.fill(std::byte{3});
  return made;
}

class tcp_encrypted_input : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(sodium_init(), 0);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  }
  void TearDown() override {
    close(ends[0]);
    close(ends[1]);
  }
  /// A frame with `payload_bytes` zeros behind it, in records of its own.
  bytes sealed(const frame& f) {
    bytes plain(frame_bytes + f.payload_bytes + padding_of(f.payload_bytes));
    std::ranges::copy(encode(f), plain.begin());
    const iovec one{.iov_base = plain.data(), .iov_len = plain.size()};
    record::cursor from({&one, 1});
    bytes made;
    while (!from.front().empty()) {
      writer->seal(from, 1);
      made.insert(made.end(), writer->sealed().begin(), writer->sealed().end());
      writer->written(writer->sealed().size());
    }
    return made;
  }
  void send(std::span<const std::byte> some) {
    ASSERT_EQ(::send(ends[0], some.data(), some.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(some.size()));
  }
  /// One call, with room for as many events.
  input::state read(std::size_t events_max = 8) {
    std::vector<event> events(events_max);
    event_sink sink(events);
    const auto state = in->read(ends[1], sink, 1 << 20);
    for (std::size_t i = 0; i < sink.count(); ++i) {
      auto& from = *reinterpret_cast<block*>(events[i].driver_word);
      --from.unreleased;
      blocks.settle(from);
    }
    received += sink.count();
    return state;
  }

  int ends[2] = {-1, -1};
  std::unique_ptr<record_writer> writer = std::make_unique<record_writer>(the_key());
  std::unique_ptr<memory_tables> memory = std::make_unique<memory_tables>();
  block_pool blocks{8};
  std::unique_ptr<input> in = std::make_unique<input>(blocks, *memory, peer_id{1},
                                                      std::make_unique<record_reader>(the_key()));
  std::size_t received = 0;
};

TEST_F(tcp_encrypted_input, a_change_behind_what_is_valid_is_noticed_though_nothing_more_comes) {
  auto all = sealed({.kind = frame_kind::plain, .payload_bytes = 16});
  auto changed = sealed({.kind = frame_kind::plain, .payload_bytes = 16});
  changed.back() ^= std::byte{1};
  all.insert(all.end(), changed.begin(), changed.end());
  send(all);
  EXPECT_EQ(read(), input::state::more);
  EXPECT_EQ(received, 1u);
  EXPECT_EQ(read(), input::state::unverified);
  EXPECT_EQ(received, 1u);
}

TEST_F(tcp_encrypted_input, whatever_has_been_decrypted_is_parsed_though_nothing_more_comes) {
  for (int i = 0; i < 20; ++i) send(sealed({.kind = frame_kind::plain, .payload_bytes = 4'000}));
  auto state = input::state::more;
  for (int calls = 0; state == input::state::more && calls < 1000; ++calls) state = read(1);
  EXPECT_EQ(state, input::state::waiting);
  EXPECT_EQ(received, 20u);
}

TEST_F(tcp_encrypted_input, never_awaits_more_than_is_still_to_be_read_from_the_connection) {
  const auto all = sealed({.kind = frame_kind::piece, .payload_bytes = 200'000, .id = 77});
  for (std::size_t at = 0; at < all.size();) {
    const auto part = std::min<std::size_t>(all.size() - at, 7'000);
    send(std::span(all).subspan(at, part));
    at += part;
    while (read() == input::state::more) {
    }
    EXPECT_LE(in->awaited_bytes(), all.size() - at) << "a low-water mark would never be reached";
    if (at > record::bytes_max + part && at < all.size() / 2) {  // the frame has come
      EXPECT_GT(in->awaited_bytes(), 0u);
    }
  }
}

}  // namespace
}  // namespace headway::rails::tcp::tcp_input_tests
