#include "engine/builtin.hpp"

#include <algorithm>
#include <array>

#include "rails/selection.hpp"
#include "rails/self/self_driver.hpp"
#include "rails/shm/shm_driver.hpp"
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
                         .interfaces = choice.interfaces});
}

struct builtin_driver {
  rails::driver_kind kind;
  made_rail (*make)(const launch::job& job, const rails::rail_choice& choice);
};

/// Every driver there is, nearest first. A new one is a line here.
constexpr std::array builtin_drivers{
    builtin_driver{{.name = "self"}, make_self},
    builtin_driver{{.name = "shm"}, make_shm},
    builtin_driver{{.name = "tcp", .networked = true}, make_tcp},
};

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
    opened_rail r{.driver = choice.driver, .rail = found->make(job, choice), .address = {}};
    auto address = r.rail->open();
    if (!address) return std::unexpected(address.error());
    r.address = std::move(*address);
    opened.push_back(std::move(r));
  }
  return opened;
}

}  // namespace headway::engine
