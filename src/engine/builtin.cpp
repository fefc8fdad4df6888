#include "engine/builtin.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/log.hpp"
#include "rails/selection.hpp"
#include "rails/self/self_driver.hpp"
#include "rails/shm/host.hpp"
#include "rails/shm/shm_driver.hpp"
#include "rails/tcp/address.hpp"
#include "rails/tcp/tcp_driver.hpp"

namespace headway::engine {
namespace {

using made_rail = std::unique_ptr<rails::driver>;

made_rail make_self(const launch::job& job, const rails::rail_choice&) {
  return std::make_unique<rails::self::self_driver>(static_cast<rails::peer_id>(job.who().rank));
}

made_rail make_shm(const launch::job& job, const rails::rail_choice&) {
  const auto& who = job.who();
  return std::make_unique<rails::shm::shm_driver>(
      rails::shm::config{.job_id = who.job_id,
                         .rank = static_cast<std::uint32_t>(who.rank),
                         .size = static_cast<std::uint32_t>(who.size)});
}

made_rail make_tcp(const launch::job& job, const rails::rail_choice& choice) {
  const auto& who = job.who();
  return std::make_unique<rails::tcp::tcp_driver>(
      rails::tcp::config{.rank = static_cast<std::uint32_t>(who.rank),
                         .size = static_cast<std::uint32_t>(who.size),
                         .secret = job.secret(),
                         .job_id = who.job_id,
                         .interfaces = {*choice.interface},
                         .number = choice.number});
}

std::string describe_self(std::span<const std::byte>) { return "this process"; }

std::string describe_shm(std::span<const std::byte> address) {
  const auto parsed = rails::shm::address::parse(address);
  return parsed ? parsed->path : "none";
}

std::string describe_tcp(std::span<const std::byte> address) {
  std::vector<std::string> all;
  if (const auto decoded = rails::tcp::address::decode(address))
    for (const auto& endpoint : decoded->endpoints) all.push_back(endpoint.text());
  return all.empty() ? "none" : fmt::format("{}", fmt::join(all, " "));
}

nearness tcp_nearness(std::span<const std::byte> a, std::span<const std::byte> b) {
  const auto one = rails::tcp::address::decode(a);
  const auto other = rails::tcp::address::decode(b);
  if (!one || !other) return nearness::none;
  switch (rails::tcp::closeness_of(*one, *other)) {
    case rails::tcp::closeness::same_address:
      return nearness::same;
    case rails::tcp::closeness::same_host:
      return nearness::inside;
    case rails::tcp::closeness::same_subnet:
      return nearness::direct;
    case rails::tcp::closeness::same_family:
      return nearness::routed;
    case rails::tcp::closeness::apart:
      break;
  }
  return nearness::none;
}

struct builtin_driver {
  rails::driver_kind kind;
  made_rail (*make)(const launch::job& job, const rails::rail_choice& choice);
  std::string (*describe)(std::span<const std::byte> address);  ///< what `open` returned, as text
  nearness_of judge = nullptr;
};

/// Every driver there is, nearest first. A new one is a line here.
constexpr std::array builtin_drivers{
    builtin_driver{{.name = "self"}, make_self, describe_self},
    builtin_driver{{.name = "shm"}, make_shm, describe_shm},
    builtin_driver{{.name = "tcp", .networked = true}, make_tcp, describe_tcp, tcp_nearness},
};

std::map<std::string, std::vector<rail_address>> by_driver(std::span<const opened_rail> rails) {
  std::map<std::string, std::vector<rail_address>> made;
  for (const auto& r : rails) made[r.driver].push_back(r.address);
  return made;
}

}  // namespace

base::result<std::vector<opened_rail>> open_rails(const launch::job& job) {
  std::array<rails::driver_kind, builtin_drivers.size()> kinds;
  std::ranges::transform(builtin_drivers, kinds.begin(), &builtin_driver::kind);
  const auto choices = rails::select_rails(kinds);
  if (!choices) return std::unexpected(choices.error());
  std::vector<opened_rail> opened;
  for (const auto& choice : *choices) {
    const auto found = std::ranges::find_if(
        builtin_drivers, [&](const auto& b) { return b.kind.name == choice.driver; });
    opened_rail r{.driver = choice.driver,
                  .rail = found->make(job, choice),
                  .address = {},
                  .address_text = {}};
    auto address = r.rail->open();
    if (!address && choice.interface && &choice != &choices->back()) {
      base::log(base::severity::warning, "{}:{} is left out: {}", choice.driver,
                choice.interface->name, address.error().text);
      continue;
    }
    if (!address) return std::unexpected(address.error());
    r.address = std::move(*address);
    r.address_text = found->describe(r.address);
    opened.push_back(std::move(r));
  }
  return opened;
}

nearness_of nearness_for(std::string_view driver) {
  for (const auto& b : builtin_drivers)
    if (b.kind.name == driver) return b.judge;
  return nullptr;
}

base::result<> publish_rails(launch::job& job, std::span<const opened_rail> rails) {
  for (const auto& [driver, own] : by_driver(rails))
    if (auto done = job.publish(driver, pack_addresses(own)); !done) return done;
  return {};
}

base::result<std::vector<partner>> find_partners(launch::job& job, int rank,
                                                 std::span<const opened_rail> rails) {
  std::map<std::string, std::vector<partner>> found;
  const bool lower = job.who().rank <= rank;
  std::size_t turns = 0;
  for (const auto& [driver, own] : by_driver(rails)) {
    auto& of_driver = found[driver];
    of_driver.resize(own.size());
    // A process without such a rail has published nothing under its name.
    const auto packed = job.lookup(rank, driver);
    if (!packed) continue;
    const auto theirs = unpack_addresses(*packed);
    if (!theirs) return std::unexpected(theirs.error());
    const auto pairs = pair_rails(own, *theirs, nearness_for(driver), lower);
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i])
        of_driver[i] = {.address = (*theirs)[*pairs[i]], .turn = turns + (lower ? i : *pairs[i])};
    turns += std::max(own.size(), theirs->size());
  }
  std::vector<partner> of_rails;
  std::map<std::string, std::size_t> next;
  for (const auto& r : rails) of_rails.push_back(std::move(found[r.driver][next[r.driver]++]));
  return of_rails;
}

}  // namespace headway::engine
