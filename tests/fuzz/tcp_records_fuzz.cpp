// An encrypted connection whose bytes are any, or those of a writer in a changed order or with
// changes: the reader gives out nothing but a beginning of what was written.
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "rails/tcp/record_reader.hpp"
#include "rails/tcp/record_writer.hpp"

using namespace headway::rails::tcp;

namespace {

using bytes = std::vector<std::byte>;

iovec place(std::span<const std::byte> at) {
  return {.iov_base = const_cast<std::byte*>(at.data()), .iov_len = at.size()};
}

headway::authentication::key the_key() {
  headway::authentication::key made;
  made.fill(std::byte{7});
  return made;
}

/// Eight records of different lengths, each with the bytes that carry it. The same for all inputs.
struct written {
  std::vector<bytes> contents, records;
};
const written& original() {
  static const written made = [] {
    written w;
    const auto writer = std::make_unique<record_writer>(the_key());
    for (const std::size_t length : {1, 24, 24, 100, 3, 16 * 1024, 24, 500}) {
      w.contents.emplace_back(length, static_cast<std::byte>(w.contents.size()));
      const auto content = place(w.contents.back());
      record::cursor from({&content, 1});
      writer->seal(from, 1);
      w.records.emplace_back(writer->sealed().begin(), writer->sealed().end());
      writer->written(writer->sealed().size());
    }
    return w;
  }();
  return made;
}

/// What the reader gives out of such a stream, with buffers of `room` bytes.
bytes read(std::span<const std::byte> stream, std::size_t room) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const auto reader = std::make_unique<record_reader>(the_key());
  bytes got;
  bool broken = false;
  while (!stream.empty() && !broken) {
    const auto sent =
        send(ends[0], stream.data(), std::min<std::size_t>(stream.size(), 9000), MSG_NOSIGNAL);
    if (sent <= 0) break;
    stream = stream.subspan(static_cast<std::size_t>(sent));
    while (true) {
      bytes to(room);
      const iovec halves[] = {place(std::span(to).first(room / 2)),
                              place(std::span(to).subspan(room / 2))};
      const auto said = reader->receive(ends[1], halves);
      broken = said < 0 && errno == EBADMSG;
      if (said <= 0) break;
      got.insert(got.end(), to.begin(), to.begin() + said);
    }
    if (!broken && reader->holds_more()) std::abort();  // it would never be asked for
  }
  close(ends[0]);
  close(ends[1]);
  return got;
}

void expect_beginning(const bytes& got) {
  bytes all;
  for (const auto& content : original().contents)
    all.insert(all.end(), content.begin(), content.end());
  if (got.size() > all.size() || !std::equal(got.begin(), got.end(), all.begin())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (sodium_init() < 0) std::abort();
  if (size < 2) return 0;
  const std::size_t room = 1 + data[0];
  const auto plan = std::as_bytes(std::span(data + 1, size - 1));
  // Without the key nothing is given out.
  if (!read(plan, room).empty()) std::abort();
  // Each byte of the plan names a record to send; with its high bit, one that the next two change.
  bytes stream;
  for (std::size_t at = 0; at < plan.size(); ++at) {
    const auto what = static_cast<std::uint8_t>(plan[at]);
    auto record = original().records[what % 8];
    if (what >= 128 && at + 2 < plan.size()) {
      const auto where = static_cast<std::uint8_t>(plan[at + 1]) * record.size() / 256;
      record[where] ^= plan[at + 2];
      at += 2;
    } else if (what >= 64) {
      record.resize(record.size() * (what % 64) / 64);
    }
    stream.insert(stream.end(), record.begin(), record.end());
  }
  expect_beginning(read(stream, room));
  return 0;
}
