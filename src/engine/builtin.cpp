#include "engine/builtin.hpp"

#include "rails/self/self_driver.hpp"
#include "rails/shm/shm_driver.hpp"

namespace headway::engine {
namespace {

std::unique_ptr<rails::driver> make_self(const launch::job& job) {
  return std::make_unique<rails::self::self_driver>(
      static_cast<rails::peer_id>(job.who().rank));
}

std::unique_ptr<rails::driver> make_shm(const launch::job& job) {
  const auto& who = job.who();
  return std::make_unique<rails::shm::shm_driver>(
      rails::shm::config{.job_id = who.job_id,
                         .rank = static_cast<std::uint32_t>(who.rank),
                         .size = static_cast<std::uint32_t>(who.size)});
}

struct maker {
  const char* name;
  std::unique_ptr<rails::driver> (*make)(const launch::job& job);
};

constexpr maker makers[] = {{"self", make_self}, {"shm", make_shm}};

}  // namespace

base::result<std::vector<opened_rail>> open_rails(const launch::job& job) {
  std::vector<opened_rail> opened;
  for (const auto& [name, make] : makers) {
    opened_rail r{.driver = name, .rail = make(job), .address = {}};
    auto address = r.rail->open();
    if (!address) return std::unexpected(address.error());
    r.address = std::move(*address);
    opened.push_back(std::move(r));
  }
  return opened;
}

}  // namespace headway::engine
