#include "kinds.hpp"

#include "rails/faulty/faulty_driver.hpp"
#include "rails/interfaces.hpp"
#include "rails/self/self_driver.hpp"
#include "rails/shm/shm_driver.hpp"
#include "rails/tcp/tcp_driver.hpp"

namespace headway::rails::testing {
namespace {

peer_id id_of(int rank) { return peer_id{static_cast<std::uint32_t>(rank)}; }

kind self_kind() {
  return {.name = "self",
          .make = [](const std::string&, int rank,
                     int) { return std::make_unique<self::self_driver>(id_of(rank)); },
          .reaches_others = false};
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

/// The same, late and reluctant: the contract holds all the same.
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
          .reaches_others = sound.reaches_others};
}

}  // namespace

const std::vector<kind>& kinds() {
  static const std::vector<kind> all{self_kind(),
                                     shm_kind(),
                                     tcp_kind(),
                                     faulty_kind(self_kind()),
                                     faulty_kind(shm_kind()),
                                     faulty_kind(tcp_kind())};
  return all;
}

}  // namespace headway::rails::testing
