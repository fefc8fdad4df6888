// Two processes that share memory and a network. One or both cannot attach to the memory of the
// other, because no descriptor is left at that moment.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rails/shm/shm_driver.hpp"
#include "tcp_world.hpp"
#include "tests/loopback.hpp"
#include "tests/no_descriptors.hpp"
#include "tests/unit/rails/shm_folder.hpp"

namespace headway::packets::testing::refused_rail_tests {
namespace {

/// Shared memory and a TCP rail between two processes, which are not connected yet.
struct node {
  node() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto& one = all[i];
      one.engine =
          progress::engine::start(*machine, {.points = progress::polling::automatic}).value();
      one.peers = std::make_unique<packets::peers>(*one.engine, rails::peer_id{i}, one.routes,
                                                   settings{.processes = 2});
      auto near = std::make_unique<rails::shm::shm_driver>(config_in(folder, i));
      auto far = std::make_unique<rails::tcp::tcp_driver>(
          rails::tcp::config{.known = &headway::testing::table_of("job", 2),
                             .me = rails::peer_id{i},
                             .secret = {},
                             .interfaces = headway::testing::loopback()});
      all[1 - i].routes.addresses.emplace_back(near->open().value());
      all[1 - i].routes.addresses.emplace_back(far->open().value());
      one.peers->add_rail(std::move(near), rail_use::from_start);
      one.peers->add_rail(std::move(far));
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      all[i].messages = std::make_unique<messages::exchange>(*all[i].peers, *all[i].engine);
      all[i].context =
          all[i].messages->open_context(3, static_cast<int>(i), headway::processes::consecutive(2));
    }
  }
  ~node() {
    for (auto& one : all) one.messages->close_context(one.context);
  }
  [[nodiscard]] bool use_without_descriptors(std::uint32_t which) {
    const headway::testing::no_descriptors now;
    return all[which].peers->use(rails::peer_id{1 - which}).has_value();
  }

  const rails::shm::folder folder;
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  process all[2];
};

TEST(refused_rail, of_one_process_is_replaced_and_nothing_is_lost) {
  node w;
  ASSERT_TRUE(w.use_without_descriptors(0));
  exchange_messages(w, 1, 300);
}

TEST(refused_rail, of_a_process_that_was_sent_to_before_is_replaced_and_nothing_is_lost) {
  node w;
  ASSERT_TRUE(w.all[1].peers->use(rails::peer_id{0}));
  std::vector<std::byte> bytes(1000, std::byte{7});
  messages::request early;
  w.all[1].messages->send(*w.all[1].context, early, bytes, 0, 8);
  ASSERT_TRUE(w.use_without_descriptors(0));
  std::vector<std::byte> got(bytes.size());
  messages::request receive;
  w.all[0].messages->receive(*w.all[0].context, receive, got, 1, 8);
  ASSERT_TRUE(w.all[0].engine->wait_until(receive, base::machine_now_ns() + patience_ns));
  ASSERT_TRUE(w.all[1].engine->wait_until(early, base::machine_now_ns() + patience_ns));
  EXPECT_EQ(got, bytes);
  exchange_messages(w, 2, 300);
}

TEST(refused_rail, of_both_processes_is_replaced_and_nothing_is_lost) {
  node w;
  for (const std::uint32_t which : {0u, 1u}) ASSERT_TRUE(w.use_without_descriptors(which));
  exchange_messages(w, 3, 300);
}

}  // namespace
}  // namespace headway::packets::testing::refused_rail_tests
