// Any bytes against the parser of frames, through a real socket: events stay inside the block, and
// nothing is written outside of exposed memory.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "rails/tcp/input.hpp"
#include "rails/tcp/wire.hpp"

using namespace headway::rails;
using namespace headway::rails::tcp;

namespace {

void reap(input& in, block_pool& blocks, int fd, bool& over) {
  std::array<event, 3> events;
  while (!over) {
    event_sink sink(events);
    const auto state = in.read(fd, sink, 4096);
    for (std::size_t i = 0; i < sink.count(); ++i) {
      if (events[i].kind != event_kind::received) continue;
      std::uint8_t sum = 0;  // every byte can be read
      for (const auto b : events[i].bytes) sum ^= static_cast<std::uint8_t>(b);
      [[maybe_unused]] volatile auto kept = sum;
      if (reinterpret_cast<std::uintptr_t>(events[i].bytes.data()) % 8 != 0) std::abort();
      auto& from = *reinterpret_cast<block*>(events[i].driver_word);
      --from.unreleased;
      blocks.settle(from);
    }
    if (state == input::state::waiting) return;
    over = state == input::state::ended || state == input::state::broken;
  }
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
  const auto id =
      memory.exposed.add({.bytes = shown, .rights = access::put | access::get | access::atomic});
  const auto call = memory.calls.begin(peer_id{1}, asked, 1);
  {
    block_pool blocks(8);
    input in(blocks, memory, peer_id{1});
    bool over = false;
    auto bytes = whole;
    while (!bytes.empty() && !over) {
      const auto part =
          std::min<std::size_t>(bytes.size(), 1 + static_cast<std::uint8_t>(bytes[0]));
      if (send(ends[0], bytes.data(), part, MSG_NOSIGNAL) != static_cast<ssize_t>(part)) break;
      bytes = bytes.subspan(part);
      reap(in, blocks, ends[1], over);
    }
  }
  if (!id || !call) std::abort();
  close(ends[0]);
  close(ends[1]);
  return 0;
}
