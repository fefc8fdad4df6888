#include "launch/rendezvous/rendezvous_launcher.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <time.h>

#include <array>
#include <optional>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "launch/rendezvous/rendezvous_server.hpp"
#include "launch/wire_text.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;
using stage = rendezvous_handshake::stage;

constexpr std::uint64_t answer_ns_max = 10'000'000'000;  // of a host that listens
constexpr long pause_ns = 20'000'000;                    // between two searches for a host

/// A guest's connection to the host that has welcomed it.
struct seat {
  stream_socket host;
  rendezvous_decision given;
};

std::unexpected<base::fault> refused(const rendezvous_settings& where, std::string why) {
  return failed(fault_kind::refused,
                fmt::format("the rendezvous at {} {}", where.address(), std::move(why)));
}

/// One step of the handshake. False: the host has closed the connection, or sends nothing.
bool advance(stream_socket& host, rendezvous_handshake& talk, std::uint64_t deadline_ns) {
  const auto to = talk.wanted();
  if (!host.receive(to, deadline_ns)) return false;
  if (talk.received(to.size()) == stage::broken) return true;
  const auto output = talk.output();
  if (!host.send(output, deadline_ns)) return false;
  talk.sent(output.size());
  return true;
}

/// Nothing: there is no host, it is gone, or it does not answer now.
base::result<std::optional<seat>> visit(const rendezvous_settings& where, const rendezvous_key& key,
                                        const stream_address& place, std::uint64_t deadline_ns) {
  auto host = place.call();
  if (!host.open()) return std::nullopt;
  auto talk = rendezvous_handshake::guest(key, static_cast<std::uint32_t>(where.processes));
  const auto soon = base::machine_now_ns() + answer_ns_max;
  const auto hello = talk.output();
  if (!host.send(hello, soon)) return std::nullopt;
  talk.sent(hello.size());
  if (!advance(host, talk, soon)) return std::nullopt;
  if (talk.at() == stage::broken)
    return refused(where, "has another secret than HEADWAY_RENDEZVOUS_SECRET or its file gives");
  if (!advance(host, talk, deadline_ns)) return std::nullopt;
  if (talk.at() == stage::broken) return refused(where, "gave a decision that proves nothing");
  switch (talk.decision().how) {
    case admission::granted:
      return seat{std::move(host), talk.decision()};
    case admission::other_count:
      return refused(where, fmt::format("is one of {} processes, not {} "
                                        "(HEADWAY_RENDEZVOUS_PROCESSES)",
                                        talk.decision().processes, where.processes));
    case admission::full:
      break;
  }
  return refused(where, "is complete");
}

}  // namespace

void rendezvous_launcher::begin(const rendezvous_key& key, std::span<const std::byte> nonce,
                                int rank, int size) {
  secret_ = key.job(nonce);
  std::string name = "rendezvous-";
  for (const auto byte : nonce.first(8)) name += fmt::format("{:02x}", byte);
  who_ = {.rank = rank,
          .size = size,
          .job_id = std::move(name),
          .launcher = "rendezvous",
          .universe_size = size};
}

base::result<std::unique_ptr<launcher>> rendezvous_launcher::meet(const rendezvous_settings& where,
                                                                  const settings& how) {
  if (sodium_init() < 0) return failed(fault_kind::system, "libsodium does not start");
  const auto deadline_ns = how.deadline_ns();
  const auto key = rendezvous_key::of(where.secret);
  const auto places = stream_address::find(where.host, where.port);
  if (!places)
    return failed(places.error().kind,
                  fmt::format("HEADWAY_RENDEZVOUS={}: {}", where.address(), places.error().text));
  std::unique_ptr<rendezvous_launcher> made(new rendezvous_launcher(how));
  while (base::machine_now_ns() < deadline_ns) {
    for (const auto& place : *places) {
      auto found = visit(where, key, place, deadline_ns);
      if (!found) return std::unexpected(found.error());
      if (!*found) continue;
      made->others_.push_back(std::move((*found)->host));
      const auto& given = (*found)->given;
      made->begin(key, given.job_nonce, static_cast<int>(given.rank), where.processes);
      return made;
    }
    for (const auto& place : *places) {
      auto listener = place.listen();
      if (!listener.open()) continue;
      rendezvous_server::job_nonce nonce;
      randombytes_buf(nonce.data(), nonce.size());
      auto guests =
          rendezvous_server(std::move(listener), key, where, how).gather(nonce, deadline_ns);
      if (!guests) return std::unexpected(guests.error());
      made->others_ = std::move(*guests);
      made->begin(key, nonce, 0, where.processes);
      return made;
    }
    const timespec rest{0, pause_ns};
    nanosleep(&rest, nullptr);
  }
  return failed(fault_kind::timed_out,
                fmt::format("the rendezvous at {} was not complete within {} s "
                            "(HEADWAY_START_TIMEOUT)",
                            where.address(), how.start_timeout_s()));
}

/// The values of all processes, by rank: the host receives every guest's and sends all to each
/// guest.
base::result<std::vector<std::vector<std::byte>>> rendezvous_launcher::collect(
    std::span<const std::byte> own) {
  const auto deadline_ns = how_.deadline_ns();
  const bool host = who_.rank == 0;
  // Not after `finish`.
  HEADWAY_ASSERT(others_.size() == (host ? static_cast<std::size_t>(who_.size) - 1 : 1));
  std::vector<std::vector<std::byte>> all;
  if (host) all.emplace_back(own.begin(), own.end());
  else if (auto done = others_[0].send_block(own, deadline_ns); !done)
    return std::unexpected(done.error());
  for (int rank = host ? 1 : 0; rank < who_.size; ++rank) {
    auto& from = others_[host ? static_cast<std::size_t>(rank) - 1 : 0];
    auto block = from.receive_block(record_bytes_max, deadline_ns);
    if (!block) return std::unexpected(block.error());
    all.push_back(std::move(*block));
  }
  if (host)
    for (auto& guest : others_)
      for (const auto& block : all)
        if (auto done = guest.send_block(block, deadline_ns); !done)
          return std::unexpected(done.error());
  return all;
}

base::result<> rendezvous_launcher::publish(std::span<const std::byte> value) {
  auto all = collect(value);
  if (!all) return std::unexpected(all.error());
  values_ = std::move(*all);
  return {};
}

base::result<> rendezvous_launcher::barrier() {
  auto all = collect({});
  if (!all) return std::unexpected(all.error());
  return {};
}

base::result<std::vector<std::byte>> rendezvous_launcher::value_of(int rank) {
  HEADWAY_ASSERT(rank >= 0 && rank < static_cast<int>(values_.size()));
  return values_[static_cast<std::size_t>(rank)];
}

base::result<> rendezvous_launcher::finish() {
  others_.clear();
  return {};
}

}  // namespace headway::launch
