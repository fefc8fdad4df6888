#include "kinds.hpp"

#include <map>
#include <mutex>

#include "rails/interfaces.hpp"
#include "rails/self/self_driver.hpp"
#include "rails/shm/shm_driver.hpp"
#include "rails/software_memory.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "tests/drivers/faulty_driver.hpp"
#include "tests/simulation/driver.hpp"

namespace headway::rails::testing {
namespace {

peer_id id_of(int rank) { return peer_id{static_cast<std::uint32_t>(rank)}; }

kind self_kind() {
  return {.name = "self",
          .make = [](const std::string&, int rank,
                     int) { return std::make_unique<self::self_driver>(id_of(rank)); },
          .reaches_others = false,
          .reaches_processes = false};
}

kind shm_kind() {
  return {.name = "shm", .make = [](const std::string& job, int rank, int size) {
            return std::make_unique<shm::shm_driver>(
                shm::config{.job_id = job,
                            .rank = static_cast<std::uint32_t>(rank),
                            .size = static_cast<std::uint32_t>(size)});
          }};
}

std::vector<net_interface> loopback() {
  auto all = list_interfaces();
  if (!all) return {};
  std::erase_if(*all, [](const net_interface& i) { return !i.loopback; });
  return *all;
}

kind tcp_kind() {
  return {.name = "tcp", .make = [](const std::string& job, int rank, int size) {
            return std::make_unique<tcp::tcp_driver>(
                tcp::config{.rank = static_cast<std::uint32_t>(rank),
                            .size = static_cast<std::uint32_t>(size),
                            .secret = {},
                            .job_id = job,
                            .interfaces = loopback()});
          }};
}

/// The rail of the simulation, in the machine's time: one network for each job.
kind simulated_kind() {
  return {.name = "simulated",
          .make = [](const std::string& job, int rank, int size) -> std::unique_ptr<driver> {
            static std::mutex lock;
            static std::map<std::string, simulation::network> networks;
            const std::lock_guard guard(lock);
            constexpr simulation::rail_plan rail{
                .latency_ns = 1000, .jitter_ns = 1000, .bytes_per_us = 4000, .severable = true};
            auto& net = networks
                            .try_emplace(job, static_cast<std::uint32_t>(size), std::vector{rail},
                                         simulation::temper{.refuse_one_in = 0}, 1,
                                         simulation::time_source::machine)
                            .first->second;
            return std::make_unique<simulation::driver>(net, 0, static_cast<std::uint32_t>(rank));
          },
          .reaches_processes = false};
}

/// The same with late events and retries: the contracts must still hold.
kind faulty_kind(const kind& sound) {
  return {.name = "faulty_" + sound.name,
          .make =
              [make = sound.make](const std::string& job, int rank, int size) {
                return std::make_unique<faulty::faulty_driver>(
                    make(job, rank, size),
                    faulty::plan{.seed = static_cast<std::uint64_t>(rank) + 1,
                                 .retry_one_in = 7,
                                 .late_one_in = 5,
                                 .late_reaps_max = 3,
                                 .posted_one_in = 3});
              },
          .reaches_others = sound.reaches_others,
          .reaches_processes = sound.reaches_processes};
}

/// Its packets, with the software memory contract over them.
kind software_kind(const kind& packets) {
  return {.name = "software_" + packets.name,
          .make =
              [make = packets.make](const std::string& job, int rank, int size) {
                return std::make_unique<software_memory>(make(job, rank, size));
              },
          .reaches_others = packets.reaches_others,
          .reaches_processes = packets.reaches_processes};
}

}  // namespace

const std::vector<kind>& kinds() {
  static const std::vector<kind> all{self_kind(),
                                     shm_kind(),
                                     tcp_kind(),
                                     simulated_kind(),
                                     faulty_kind(self_kind()),
                                     faulty_kind(shm_kind()),
                                     faulty_kind(tcp_kind()),
                                     software_kind(self_kind()),
                                     software_kind(shm_kind()),
                                     software_kind(faulty_kind(tcp_kind()))};
  return all;
}

}  // namespace headway::rails::testing
