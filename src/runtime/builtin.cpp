#include "runtime/builtin.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "rails/selection.hpp"
#include "rails/self/self_driver.hpp"
#include "rails/shm/host.hpp"
#include "rails/shm/shm_driver.hpp"
#include "rails/software_memory.hpp"
#include "rails/tcp/address.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "sampling/connections.hpp"

namespace headway::runtime {
namespace {

using wireup::connection_wishes;
using wireup::nearness;
using wireup::nearness_of;
using wireup::opened_rail;
using wireup::rail_reach;

using made_rail = std::unique_ptr<rails::driver>;

made_rail make_self(const this_process& own, const settings&, const rails::rail_choice&) {
  return std::make_unique<rails::self::self_driver>(own.me);
}

made_rail make_shm(const this_process& own, const settings& how, const rails::rail_choice&) {
  const auto& who = own.job.who();
  return std::make_unique<rails::shm::shm_driver>(
      rails::shm::config{.known = &own.known,
                         .me = own.me,
                         .job_name = who.job_id,
                         .size = static_cast<std::uint32_t>(who.size),
                         .how = how.shm,
                         .clock = own.clock});
}

made_rail make_tcp(const this_process& own, const settings& how, const rails::rail_choice& choice) {
  return std::make_unique<rails::tcp::tcp_driver>(
      rails::tcp::config{.known = &own.known,
                         .me = own.me,
                         .secret = own.job.secret(),
                         .others = own.other_jobs,
                         .interfaces = {*choice.interface},
                         .how = how.tcp,
                         .number = choice.connection,
                         .clock = own.clock});
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
  made_rail (*make)(const this_process& own, const settings& how, const rails::rail_choice& choice);
  std::string (*describe)(std::span<const std::byte> address);  ///< what `open` returned, as text
  rail_reach reach;
  nearness_of judge = nullptr;
};

/// Every driver, nearest first. A new driver needs a line here and the functions that it names.
constexpr std::array builtin_drivers{
    builtin_driver{{.name = "self"}, make_self, describe_self, rail_reach::self},
    builtin_driver{{.name = "shm"}, make_shm, describe_shm, rail_reach::node},
    builtin_driver{{.name = "tcp", .networked = true},
                   make_tcp,
                   describe_tcp,
                   rail_reach::network,
                   tcp_nearness},
};

base::result<opened_rail> open_rail(const this_process& own, const settings& how,
                                    const rails::rail_choice& choice) {
  const auto found = std::ranges::find_if(
      builtin_drivers, [&](const auto& b) { return b.kind.name == choice.driver; });
  HEADWAY_ASSERT(found != builtin_drivers.end());  // `select_rails` knows these drivers only
  HEADWAY_ASSERT(found->kind.networked == choice.interface.has_value());
  opened_rail r;
  r.driver = choice.driver;
  r.reach = found->reach;
  if (choice.interface) r.interface = choice.interface->name;
  r.connection = choice.connection;
  r.judge = found->judge;
  r.rail = found->make(own, how, choice);
  auto address = r.rail->open();
  if (!address) return std::unexpected(std::move(address).error());
  if (!r.rail->memory())
    r.rail = std::make_unique<rails::software_memory>(std::move(r.rail), own.clock);
  r.address = std::move(*address);
  r.address_text = found->describe(r.address);
  return r;
}

/// The first rail of each interface.
base::result<opened_rails> open_first_rails(const this_process& own, const settings& how,
                                            std::span<const rails::rail_choice> choices) {
  HEADWAY_ASSERT(!choices.empty());
  opened_rails opened;
  for (const auto& choice : choices) {
    auto r = open_rail(own, how, choice);
    if (r) {
      opened.all.push_back(std::move(*r));
      continue;
    }
    const bool to_self = choice.driver == builtin_drivers.front().kind.name;
    if (to_self || &choice == &choices.back()) return std::unexpected(std::move(r).error());
    opened.node_left_out |= !choice.interface;
    base::log(base::severity::warning, "rail {}{}{} is left out: {}", choice.driver,
              choice.interface ? ":" : "", choice.interface ? choice.interface->name : "",
              r.error().text);
  }
  return opened;
}

/// Opens the second and further connections of the interfaces, as many as wanted. If one cannot be
/// opened, that is logged, and there are fewer.
void open_more(const this_process& own, const settings& how,
               std::span<const rails::rail_choice> choices, std::vector<opened_rail>& opened) {
  const auto interfaces = opened.size();
  HEADWAY_ASSERT(interfaces <= choices.size());
  for (int connection = 2; connection <= sampling::connections_max; ++connection)
    for (std::size_t i = 0; i < interfaces; ++i) {
      if (opened[i].wishes.most() < connection) continue;
      auto choice = *std::ranges::find_if(choices, [&](const rails::rail_choice& c) {
        return c.driver == opened[i].driver && c.interface->name == opened[i].interface;
      });
      choice.connection = connection;
      auto r = open_rail(own, how, choice);
      if (!r) {
        base::log(base::severity::warning, "connection {} of {}:{} is left out: {}", connection,
                  choice.driver, choice.interface->name, r.error().text);
        continue;
      }
      r->wishes = opened[i].wishes;
      opened.push_back(std::move(*r));
    }
}

}  // namespace

base::result<opened_rails> open_rails(const this_process& own, const settings& how,
                                      const wireup::rail_profiles& known) {
  std::array<rails::driver_kind, builtin_drivers.size()> kinds;
  std::ranges::transform(builtin_drivers, kinds.begin(), &builtin_driver::kind);
  const auto interfaces = rails::list_interfaces();
  if (!interfaces) return std::unexpected(interfaces.error());
  const auto choices = rails::select_rails(how.rails.wanted, *interfaces, kinds);
  if (!choices) return std::unexpected(choices.error());
  auto opened = open_first_rails(own, how, *choices);
  if (!opened) return opened;
  for (auto& r : opened->all)
    if (!r.interface.empty() && own.job.who().size > 1)
      r.wishes = how.rails.connections > 0
                     ? connection_wishes{.usual = how.rails.connections, .of_host = {}}
                     : known.connections_that_pay(r.rail->query().name);
  open_more(own, how, *choices, opened->all);
  return opened;
}

}  // namespace headway::runtime
