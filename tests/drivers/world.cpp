#include "world.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "base/clock.hpp"
#include "tests/random_bytes.hpp"

namespace headway::rails::testing {

std::size_t station::step(std::size_t most) {
  std::vector<event> events(most);
  const std::size_t count = driver_->reap(events);
  for (std::size_t i = 0; i < count; ++i) {
    const event& e = events[i];
    switch (e.kind) {
      case event_kind::received:
        received.emplace_back(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size());
        received_from.push_back(e.peer);
        following.push_back(e.count);
        keep_or_release(e);
        break;
      case event_kind::continued:
        continue_packet(e);
        keep_or_release(e);
        break;
      case event_kind::landed:
        landed_bytes += e.count;
        landed_tokens.push_back(e.cookie);
        break;
      case event_kind::sent:
        sent.push_back(e.cookie);
        break;
      case event_kind::failed:
        failed.push_back(e.cookie);
        break;
      case event_kind::lost:
        lost.push_back(e.peer);
        break;
      case event_kind::restored:
        restored.push_back(e.peer);
        break;
      case event_kind::called:
        called.push_back(e.peer);
        break;
    }
  }
  return count;
}

void station::keep_or_release(const event& e) {
  if (keep) kept.push_back(e);
  else driver_->release(e);
}

void station::continue_packet(const event& e) {
  const auto begun = std::find(received_from.rbegin(), received_from.rend(), e.peer);
  ASSERT_NE(begun, received_from.rend()) << "nothing was begun";
  const auto which = static_cast<std::size_t>(received_from.rend() - begun) - 1;
  EXPECT_EQ(following[which], e.bytes.size() + e.count) << "of the bytes that were due";
  received[which].append(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size());
  following[which] = e.count;
}

void station::release_kept() {
  for (const event& e : kept) driver_->release(e);
  kept.clear();
}

post send_soon(driver& from, peer_id to, const packet& p) {
  post said = post::retry;
  for (int tries = 0; tries < 1000 && said == post::retry; ++tries) said = from.send(to, p);
  return said;
}

post put_soon(driver& from, peer_id to, const remote_place& where, std::span<const std::byte> bytes,
              std::uint64_t cookie) {
  post said = post::retry;
  for (int tries = 0; tries < 1000 && said == post::retry; ++tries)
    said = from.memory()->put(to, where, bytes, cookie);
  return said;
}

ticket show(driver& whose, const exposure& what) {
  auto shown = whose.memory()->expose(what);
  if (!shown) throw std::runtime_error(shown.error().text);
  return *shown;
}

world::world(const kind& k, int size) {
  const std::string job = fresh_job();
  std::vector<std::vector<std::byte>> addresses;
  for (int rank = 0; rank < size; ++rank) {
    known.push_back(&headway::testing::table_of(job, static_cast<std::uint32_t>(size)));
    stations.emplace_back(k.make_for({.world = job,
                                      .number = rank,
                                      .size = size,
                                      .known = known.back(),
                                      .me = peer_id{static_cast<std::uint32_t>(rank)}}));
    auto address = stations.back()->open();
    if (!address) throw std::runtime_error(address.error().text);
    addresses.push_back(std::move(*address));
  }
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      if (from == to && k.reaches_others) continue;
      const auto done = stations[static_cast<std::size_t>(from)]->connect(
          peer_id{static_cast<std::uint32_t>(to)}, addresses[static_cast<std::size_t>(to)]);
      if (!done) throw std::runtime_error(done.error().text);
    }
  }
}

world::~world() {
  for (auto& s : stations) s->close();
}

bool world::run_until(const std::function<bool()>& enough) {
  const auto deadline = base::machine_now_ns() + 120'000'000'000u;
  while (!enough()) {
    for (auto& s : stations) s.step();
    if (base::machine_now_ns() > deadline) return false;
  }
  return true;
}

post world::taken(const std::function<post()>& offer) {
  post said = post::retry;
  const bool answered = run_until([&] {
    said = offer();
    return said != post::retry;
  });
  return answered ? said : post::retry;
}

post world::push(const packet& p) {
  return taken([&] { return first()->send(last_id(), p); });
}

post world::put(const remote_place& where, std::span<const std::byte> bytes, std::uint64_t cookie) {
  return taken([&] { return first()->memory()->put(last_id(), where, bytes, cookie); });
}

post world::put_lent(const remote_place& where, std::span<const std::byte> bytes,
                     std::uint64_t cookie) {
  return taken([&] { return first()->memory()->put_lent(last_id(), where, bytes, cookie); });
}

post world::get(const remote_place& where, std::span<std::byte> to, std::uint64_t cookie) {
  return taken([&] { return first()->memory()->get(last_id(), where, to, cookie); });
}

post world::atomic(const remote_place& where, const atomic_request& what, std::uint64_t& before,
                   std::uint64_t cookie) {
  return taken([&] { return first()->memory()->atomic(last_id(), where, what, before, cookie); });
}

post world::flush(std::uint64_t cookie) {
  return taken([&] { return first()->memory()->flush(last_id(), cookie); });
}

bool world::ends_well(post said, std::uint64_t cookie) {
  if (said != post::posted) return said == post::done;
  const auto in = [&](const std::vector<std::uint64_t>& some) {
    return std::ranges::find(some, cookie) != some.end();
  };
  return run_until([&] { return in(first().sent) || in(first().failed); }) && in(first().sent);
}

std::string fresh_job() {
  std::uint32_t salt = 0;
  if (getrandom(&salt, sizeof salt, 0) != sizeof salt) throw std::runtime_error("getrandom");
  return fmt::format("test-{}-{:08x}", getpid(), salt);
}

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  headway::testing::fill_at_random(bytes, seed);
  return bytes;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

bool readable(int descriptor, int timeout_ms) {
  pollfd p{descriptor, POLLIN, 0};
  return ::poll(&p, 1, timeout_ms) == 1;
}

}  // namespace headway::rails::testing
