#include "kinds.hpp"

#include <map>
#include <mutex>

#include "rails/self/self_driver.hpp"
#include "rails/shm/shm_driver.hpp"
#include "rails/software_memory.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "tests/drivers/faulty_driver.hpp"
#include "tests/loopback.hpp"
#include "tests/simulation/driver.hpp"

namespace headway::rails::testing {
namespace {

kind self_kind() {
  return {.name = "self",
          .make_for = [](const member& who) { return std::make_unique<self::self_driver>(who.me); },
          .reaches_others = false,
          .reaches_processes = false};
}

kind shm_kind() {
  return {.name = "shm", .make_for = [](const member& who) {
            return std::make_unique<shm::shm_driver>(
                shm::config{.known = who.known,
                            .me = who.me,
                            .job_name = who.world,
                            .size = static_cast<std::uint32_t>(who.size)});
          }};
}

/// Where the kernel lets no process read another's memory; `every`: only processes with an even
/// number are refused that, if it is 2.
kind unreadable_shm_kind(std::string name, int every) {
  return {.name = std::move(name), .make_for = [every](const member& who) {
            shm::settings how;
            if (who.number % every == 0) how.large = shm::large_way::ring;
            return std::make_unique<shm::shm_driver>(
                shm::config{.known = who.known,
                            .me = who.me,
                            .job_name = who.world,
                            .size = static_cast<std::uint32_t>(who.size),
                            .how = how});
          }};
}

kind tcp_kind(std::string name, bool encrypted) {
  return {.name = std::move(name), .make_for = [encrypted](const member& who) {
            return std::make_unique<tcp::tcp_driver>(
                tcp::config{.known = who.known,
                            .me = who.me,
                            .secret = {},
                            .interfaces = headway::testing::loopback(),
                            .how = {.encryption = encrypted}});
          }};
}

/// The rail of the simulation, in the machine's time: one network for each world.
kind simulated_kind() {
  return {.name = "simulated",
          .make_for = [](const member& who) -> std::unique_ptr<driver> {
            static std::mutex lock;
            static std::map<std::string, simulation::network> networks;
            const std::lock_guard guard(lock);
            constexpr simulation::rail_plan rail{
                .latency_ns = 1000, .jitter_ns = 1000, .bytes_per_us = 4000, .severable = true};
            const auto number = static_cast<std::uint32_t>(who.number);
            auto& net = networks
                            .try_emplace(who.world, static_cast<std::uint32_t>(who.size),
                                         std::vector{rail}, simulation::temper{.refuse_one_in = 0},
                                         1, simulation::time_source::machine)
                            .first->second;
            net.name(number, who.known->at(who.me));
            return std::make_unique<simulation::driver>(net, 0, number, *who.known, who.me);
          },
          .reaches_processes = false};
}

/// The same with late events and retries: the contracts must still hold.
kind faulty_kind(const kind& sound) {
  auto made = sound;
  made.name = "faulty_" + sound.name;
  made.make_for = [make = sound.make_for](const member& who) {
    return std::make_unique<faulty::faulty_driver>(
        make(who), faulty::plan{.seed = static_cast<std::uint64_t>(who.number) + 1,
                                .retry_one_in = 7,
                                .late_one_in = 5,
                                .late_reaps_max = 3,
                                .posted_one_in = 3});
  };
  return made;
}

/// Its packets, with the software memory contract over them.
kind software_kind(const kind& packets) {
  auto made = packets;
  made.name = "software_" + packets.name;
  made.make_for = [make = packets.make_for](const member& who) {
    return std::make_unique<software_memory>(make(who));
  };
  return made;
}

}  // namespace

const std::vector<kind>& kinds() {
  static const std::vector<kind> all{self_kind(),
                                     shm_kind(),
                                     unreadable_shm_kind("unreadable_shm", 1),
                                     unreadable_shm_kind("half_readable_shm", 2),
                                     tcp_kind("tcp", false),
                                     tcp_kind("encrypted_tcp", true),
                                     simulated_kind(),
                                     faulty_kind(self_kind()),
                                     faulty_kind(shm_kind()),
                                     faulty_kind(unreadable_shm_kind("unreadable_shm", 1)),
                                     faulty_kind(tcp_kind("tcp", false)),
                                     software_kind(self_kind()),
                                     software_kind(shm_kind()),
                                     software_kind(faulty_kind(tcp_kind("tcp", false)))};
  return all;
}

std::vector<kind> kinds_that_reach_others() {
  auto some = kinds();
  std::erase_if(some, [](const kind& k) { return !k.reaches_others; });
  return some;
}

}  // namespace headway::rails::testing
