// The memory for a process that is never used: all modules below `mpi` together, with all three
// drivers open, allocate at most 64 bytes for it.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "endpoints/service.hpp"
#include "launch/job.hpp"
#include "messages/exchange.hpp"
#include "packets/peers.hpp"
#include "processes/membership.hpp"
#include "processes/table.hpp"
#include "progress/core/engine.hpp"
#include "rails/interfaces.hpp"
#include "rails/self/self_driver.hpp"
#include "rails/shm/shm_driver.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "runtime/job_router.hpp"
#include "topology/machine.hpp"
#include "wireup/peer_rails.hpp"
#include "wireup/places.hpp"
#include "wireup/process_record.hpp"
#include "wireup/profiles.hpp"

namespace {

// Relaxed: a sum of the blocks' real sizes (malloc_usable_size).
std::atomic<std::size_t> live_bytes{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* made = nullptr;
  if (posix_memalign(&made, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes) != 0)
    throw std::bad_alloc();
  live_bytes.fetch_add(malloc_usable_size(made), std::memory_order_relaxed);
  return made;
}

void release(void* gone) noexcept {
  if (gone) live_bytes.fetch_sub(malloc_usable_size(gone), std::memory_order_relaxed);
  std::free(gone);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t to) {
  return allocate(bytes, static_cast<std::size_t>(to));
}
void operator delete(void* gone) noexcept { release(gone); }
void operator delete(void* gone, std::size_t) noexcept { release(gone); }
void operator delete(void* gone, std::align_val_t) noexcept { release(gone); }
void operator delete(void* gone, std::size_t, std::align_val_t) noexcept { release(gone); }

namespace headway::runtime {
namespace {

/// The launcher of a job in which every process publishes the same record as this one.
class many_alike final : public launch::launcher {
 public:
  explicit many_alike(int size) : who_{.size = size, .job_id = "idle-peers", .launcher = "none"} {}
  [[nodiscard]] const launch::identity& who() const noexcept override { return who_; }
  [[nodiscard]] std::optional<launch::job_secret> secret() const override {
    launch::job_secret own{};
    own[0] = static_cast<std::byte>(getpid());
    own[1] = static_cast<std::byte>(getpid() >> 8);
    return own;
  }
  [[nodiscard]] base::result<> publish(std::span<const std::byte> value) override {
    given_.assign(value.begin(), value.end());
    return {};
  }
  [[nodiscard]] base::result<> barrier() override { return {}; }
  [[nodiscard]] base::result<std::vector<std::byte>> value_of(int) override { return given_; }
  void abort(int, std::string_view) noexcept override {}
  [[nodiscard]] base::result<> finish() override { return {}; }

 private:
  launch::identity who_;
  std::vector<std::byte> given_;
};

/// A process of a job of `size`, as instance::start puts it together.
std::size_t bytes_of_a_job_of(std::uint32_t size) {
  const auto before = live_bytes.load(std::memory_order_relaxed);
  auto job = launch::job::join(std::make_unique<many_alike>(static_cast<int>(size))).value();
  processes::table known;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    known.add({processes::job_id_of("idle-peers"), rank});
  const auto members = processes::consecutive(static_cast<int>(size));

  const auto machine = topology::machine::imagine("core:2 pu:1").value();
  auto interfaces = rails::list_interfaces().value();
  std::erase_if(interfaces, [](const auto& i) { return !i.loopback; });
  std::vector<wireup::opened_rail> rails(3);
  rails[0].driver = "self";
  rails[0].rail = std::make_unique<rails::self::self_driver>(rails::peer_id{0});
  rails[1].driver = "shm";
  rails[1].rail = std::make_unique<rails::shm::shm_driver>(
      rails::shm::config{.known = &known, .job_name = "idle-peers", .size = size});
  rails[2].driver = "tcp";
  rails[2].rail = std::make_unique<rails::tcp::tcp_driver>(
      rails::tcp::config{.known = &known, .secret = {}, .interfaces = interfaces});
  for (auto& r : rails) r.address = r.rail->open().value();
  const wireup::own_rails own(rails);
  const wireup::process_record record{
      .place = wireup::process_place::own(2), .host = "here", .addresses = own.addresses()};
  EXPECT_TRUE(job->publish(record.pack()));
  const auto places = wireup::places::read(*job).value();
  const wireup::foreign_processes foreign(places);

  const auto engine = progress::engine::start(*machine).value();
  const wireup::rail_profiles profiles({});
  job_router router({.job = *job,
                     .processes = known,
                     .places = places,
                     .foreign = foreign,
                     .rails = own,
                     .profiles = profiles});
  packets::settings chosen;
  chosen.processes = size;
  packets::peers peers(*engine, rails::peer_id{0}, router, chosen);
  for (auto& r : rails) peers.add_rail(std::move(r.rail), packets::rail_use::from_start);
  const auto nodes = places.nodes();
  endpoints::service service(peers, *engine,
                             {.process = 0, .job = 1, .nodes = {nodes.begin(), nodes.end()}}, {});
  messages::exchange exchange(peers, *engine);
  service.attach(exchange);
  auto* world = exchange.open_context(2, 0, members);
  const auto made = live_bytes.load(std::memory_order_relaxed) - before;
  EXPECT_EQ(peers.find(rails::peer_id{size - 1}), nullptr);
  exchange.close_context(world);
  service.stop();
  return made;
}

TEST(idle_peers, cost_at_most_64_bytes_each_in_all_modules_together) {
  constexpr std::uint32_t few = 100, many = 10'000;
  static_cast<void>(bytes_of_a_job_of(few));  // what is made once in a process
  const auto small = bytes_of_a_job_of(few), large = bytes_of_a_job_of(many);
  const double each = static_cast<double>(large - small) / (many - few);
  RecordProperty("bytes_a_process", std::to_string(each));
  printf("a process that was never spoken to costs %.1f bytes\n", each);
  EXPECT_LE(each, 64.0);
}

}  // namespace
}  // namespace headway::runtime
