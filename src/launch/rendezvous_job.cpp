#include "launch/rendezvous_job.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <time.h>

#include <array>
#include <optional>

#include "base/clock.hpp"
#include "launch/pmi_wire.hpp"
#include "launch/reception_desk.hpp"
#include "launch/tunables.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;

constexpr std::uint64_t answer_ns_max = 10'000'000'000;  // of a host that listens
constexpr long pause_ns = 20'000'000;                    // between two looks for a host

/// A guest that was let in, and who let it in.
struct seat {
  meeting_socket host;
  greeting talk;
};

std::unexpected<base::fault> refused(const rendezvous_settings& where, std::string why) {
  return failed(fault_kind::refused,
                fmt::format("the rendezvous at {} {}", where.address(), std::move(why)));
}

/// One step of the talk. False: the other side has gone, or says nothing.
bool listen_to(meeting_socket& host, greeting& talk, std::uint64_t deadline_ns) {
  std::vector<std::byte> bytes(talk.expected_bytes());
  if (!host.receive(bytes, deadline_ns)) return false;
  talk.received(bytes);
  return talk.at() == greeting::stage::broken || host.send(talk.output(), deadline_ns).has_value();
}

/// Nothing: there is no host, or it has gone.
base::result<std::optional<seat>> visit(const rendezvous_settings& where, const meeting_key& key,
                                        const meeting_place& place, std::uint64_t deadline_ns) {
  auto host = place.call();
  if (!host.open()) return std::nullopt;
  auto talk = greeting::guest(key, static_cast<std::uint32_t>(where.processes));
  const auto soon = base::now_ns() + answer_ns_max;
  if (!host.send(talk.output(), soon) || !listen_to(host, talk, soon)) {
    if (base::now_ns() < soon) return std::nullopt;
    return refused(where, "does not answer as one of ours would");
  }
  if (talk.at() == greeting::stage::broken)
    return refused(where, "has another secret than HEADWAY_RENDEZVOUS_SECRET or its file gives");
  if (!listen_to(host, talk, deadline_ns)) return std::nullopt;
  if (talk.at() == greeting::stage::broken) return refused(where, "talks nonsense");
  switch (talk.received_as()) {
    case reception::welcome:
      return seat{std::move(host), talk};
    case reception::other_count:
      return refused(where, fmt::format("is one of {} processes, not {} "
                                        "(HEADWAY_RENDEZVOUS_PROCESSES)",
                                        talk.host_processes(), where.processes));
    case reception::full:
      break;
  }
  return refused(where, "is complete");
}

}  // namespace

void rendezvous_job::begin(const meeting_key& key, std::span<const std::byte> nonce, int rank,
                           int size) {
  secret_ = key.job(nonce);
  std::string name = "meeting-";
  for (const auto byte : nonce.first(8)) name += fmt::format("{:02x}", byte);
  who_ = {.rank = rank,
          .size = size,
          .job_id = std::move(name),
          .launcher = "rendezvous",
          .universe_size = size};
}

base::result<std::unique_ptr<job>> rendezvous_job::meet(const rendezvous_settings& where) {
  if (sodium_init() < 0) return failed(fault_kind::system, "libsodium does not start");
  const auto deadline_ns = start_deadline_ns();
  const auto key = meeting_key::of(where.secret);
  const auto places = meeting_place::find(where.host, where.port);
  if (!places) return std::unexpected(places.error());
  std::unique_ptr<rendezvous_job> made(new rendezvous_job);
  while (base::now_ns() < deadline_ns) {
    for (const auto& place : *places) {
      auto found = visit(where, key, place, deadline_ns);
      if (!found) return std::unexpected(found.error());
      if (!*found) continue;
      made->others_.push_back(std::move((*found)->host));
      const auto& talk = (*found)->talk;
      made->begin(key, talk.job_nonce(), static_cast<int>(talk.rank()), where.processes);
      return made;
    }
    for (const auto& place : *places) {
      auto listener = place.listen();
      if (!listener.open()) continue;
      std::array<std::byte, greeting::nonce_bytes> nonce;
      randombytes_buf(nonce.data(), nonce.size());
      auto guests = reception_desk(std::move(listener), key, where).gather(nonce, deadline_ns);
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
                            where.address(), start_timeout.get()));
}

base::result<> rendezvous_job::publish(std::string_view name, std::span<const std::byte> value) {
  own_.insert_or_assign(std::string(name), std::vector(value.begin(), value.end()));
  return {};
}

/// Every rank's card, packed, by rank.
base::result<> rendezvous_job::collect(std::uint64_t deadline_ns,
                                       std::vector<std::vector<std::byte>>& packed) {
  if (who_.rank != 0) {
    if (auto done = others_[0].send_block(pack_card(own_), deadline_ns); !done) return done;
    for (int rank = 0; rank < who_.size; ++rank) {
      auto block = others_[0].receive_block(card_bytes_max, deadline_ns);
      if (!block) return std::unexpected(block.error());
      packed.push_back(std::move(*block));
    }
    return {};
  }
  packed.push_back(pack_card(own_));
  for (auto& guest : others_) {
    auto block = guest.receive_block(card_bytes_max, deadline_ns);
    if (!block) return std::unexpected(block.error());
    packed.push_back(std::move(*block));
  }
  for (auto& guest : others_)
    for (const auto& block : packed)
      if (auto done = guest.send_block(block, deadline_ns); !done) return done;
  return {};
}

base::result<> rendezvous_job::exchange() {
  std::vector<std::vector<std::byte>> packed;
  if (auto done = collect(start_deadline_ns(), packed); !done)
    return failed(done.error().kind,
                  fmt::format("exchange among {} processes: {}", who_.size, done.error().text));
  cards_.clear();
  for (const auto& block : packed) {
    auto entries = unpack_card(block);
    if (!entries)
      return failed(fault_kind::bad_input,
                    fmt::format("what process {} says of itself makes no sense", cards_.size()));
    cards_.push_back(std::move(*entries));
  }
  return {};
}

base::result<std::vector<std::byte>> rendezvous_job::lookup(int rank, std::string_view name) {
  if (rank < 0 || rank >= static_cast<int>(cards_.size()))
    return failed(fault_kind::bad_input, fmt::format("there is no rank {} of {}", rank, who_.size));
  const auto& entries = cards_[static_cast<std::size_t>(rank)];
  const auto found = entries.find(name);
  if (found == entries.end())
    return failed(fault_kind::peer_lost, fmt::format("rank {} has published no '{}'", rank, name));
  return found->second;
}

base::result<> rendezvous_job::finish() {
  others_.clear();
  return {};
}

}  // namespace headway::launch
