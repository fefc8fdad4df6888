// Any bytes, and frames of any lengths, against the parser of frames, through a real socket: events
// stay inside the block, and nothing is written outside of exposed memory.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "rails/tcp/input.hpp"
#include "rails/tcp/wire.hpp"
#include "tests/fuzz/bytes_of_input.hpp"

using namespace headway::rails;
using namespace headway::rails::tcp;

namespace {

/// The packets that are still in use, as a program keeps some.
class kept_packets {
 public:
  explicit kept_packets(block_pool& blocks) noexcept : blocks_(blocks) {}
  void add(std::uintptr_t of) {
    constexpr std::size_t most = 16;
    all_.push_back(of);
    if (all_.size() > most) release_oldest();
  }
  void release_all() {
    while (!all_.empty()) release_oldest();
  }

 private:
  void release_oldest() {
    auto& from = *reinterpret_cast<block*>(all_.front());
    all_.pop_front();
    --from.unreleased;
    blocks_.settle(from);
  }
  block_pool& blocks_;
  std::deque<std::uintptr_t> all_;
};

void reap(input& in, kept_packets& kept, int fd, bool& over) {
  std::array<event, 3> events;
  while (!over) {
    event_sink sink(events);
    const auto state = in.read(fd, sink, 4096);
    for (std::size_t i = 0; i < sink.count(); ++i) {
      if (events[i].kind != event_kind::received) continue;
      std::uint8_t sum = 0;  // every byte can be read
      for (const auto b : events[i].bytes) sum ^= static_cast<std::uint8_t>(b);
      [[maybe_unused]] volatile auto seen = sum;
      if (reinterpret_cast<std::uintptr_t>(events[i].bytes.data()) % 8 != 0) std::abort();
      kept.add(events[i].driver_word);
    }
    if (state == input::state::waiting) return;
    over = state == input::state::ended || state == input::state::broken;
  }
}

/// What the peer of this process knows of its memory.
struct known_ids {
  std::uint64_t exposed, call;
};

/// Frames whose numbers are those that this process has given out, or others; each with contents as
/// long as it says, unless the input ends them early.
std::vector<std::byte> some_frames(headway::bytes_of_input& input, known_ids known) {
  constexpr std::size_t bytes_max = block::bytes + 32 * 1024;  // more takes long
  std::vector<std::byte> all;
  while (input.any() && all.size() < bytes_max) {
    const auto what = input.byte();
    frame f{.kind = static_cast<frame_kind>(what % 6), .more = (what & 0x40) != 0};
    f.id = what < 0x80 ? known.exposed : input.byte() % 2 ? known.call : input.byte();
    f.offset = input.byte();
    std::vector<std::byte> contents;
    if (f.kind == frame_kind::request) {
      f.header_bytes = request_bytes;
      contents.resize(request_bytes);
      const memory_request asked{
          .bytes = input.byte(), .answer = input.byte(), .changes = input.byte() % 2 != 0};
      encode(asked, std::span<std::byte, request_bytes>(contents));
      contents[32] ^= static_cast<std::byte>(input.byte());
    } else if (f.kind == frame_kind::plain || f.kind == frame_kind::piece) {
      f.header_bytes = f.kind == frame_kind::plain ? std::uint16_t{8} : std::uint16_t{0};
      f.payload_bytes = input.byte() * (input.byte() % 2 ? 1u : 97u);
      contents.resize(f.header_bytes + f.payload_bytes, static_cast<std::byte>(what));
    }
    if (f.kind == frame_kind::plain) f = {.header_bytes = 8, .payload_bytes = f.payload_bytes};
    if (f.kind == frame_kind::goodbye) f = {.kind = f.kind};
    const auto head = encode(f);
    all.insert(all.end(), head.begin(), head.end());
    contents.resize(contents.size() + padding_of(contents.size()));
    all.insert(all.end(), contents.begin(), contents.end());
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto whole = std::as_bytes(std::span(data, size));
  if (whole.size() >= frame_bytes)
    if (const auto f = decode(whole.first<frame_bytes>()))
      if (!std::ranges::equal(encode(*f), whole.first<frame_bytes>())) std::abort();

  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  // Made anew for each input, so that the ids are always the same.
  const auto tables = std::make_unique<memory_tables>();
  auto& memory = *tables;
  std::vector<std::byte> shown(1000), asked(100);
  const auto id = memory.exposed.add(
      {.bytes = shown, .rights = access::put | access::get | access::atomic | access::notified});
  const auto call = memory.calls.begin(peer_id{1}, asked, 1);
  {
    block_pool blocks(8);
    input in(blocks, memory, peer_id{1});
    kept_packets kept(blocks);
    bool over = false;
    headway::bytes_of_input rest({data, size});
    const bool composed = rest.byte() >= 0x80;  // no kind of a frame
    const auto frames = composed && id && call ? some_frames(rest, {*id, *call})
                                               : std::vector<std::byte>(whole.begin(), whole.end());
    auto bytes = std::span<const std::byte>(frames);
    while (!bytes.empty() && !over) {
      const auto part =
          std::min<std::size_t>(bytes.size(), 1 + static_cast<std::uint8_t>(bytes[0]));
      if (send(ends[0], bytes.data(), part, MSG_NOSIGNAL) != static_cast<ssize_t>(part)) break;
      bytes = bytes.subspan(part);
      reap(in, kept, ends[1], over);
    }
    kept.release_all();
  }
  if (!id || !call) std::abort();
  close(ends[0]);
  close(ends[1]);
  return 0;
}
