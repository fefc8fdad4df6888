#include "tests/simulation/process.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tests/simulation/driver.hpp"

namespace headway::simulation {
namespace {

// Ticks come after a round and may submit ltasks: a second round runs these.
constexpr int idle_rounds = 2;
constexpr int rounds_max = 64;  // a rail that answers `retry` is tried again in every round
constexpr std::uint64_t look_period_ns = 5'000'000;
constexpr std::uint64_t tick_period_ns = 100'000'000;

/// A wait cannot sleep, because virtual time does not pass meanwhile.
progress::settings engine_settings(const network& net, progress::polling points) {
  if (net.clock().is_virtual()) return {.points = points, .waits = progress::waiting_policy::busy};
  return {.points = points};
}

std::vector<int> each_on_its_own_node(std::uint32_t processes) {
  std::vector<int> nodes(processes);
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

}  // namespace

process::process(network& net, const topology::machine& machine, std::uint32_t self,
                 const process_options& chosen)
    : net_(net), self_(self), chosen_(chosen), routes_(net.rails()) {
  routes_.sees_ends = true;
  for (std::uint32_t rank = 0; rank < net.processes(); ++rank)
    static_cast<void>(known_.add({.job = network::job, .rank = rank}));
  engine_ =
      progress::engine::start(machine, engine_settings(net, chosen.points), 1, net.clock()).value();
  peers_ = std::make_unique<packets::peers>(
      *engine_, rails::peer_id{self}, routes_,
      packets::settings{
          .processes = known_.size(),
          .eager_memory_bytes = static_cast<std::int64_t>(chosen.credit_bytes * known_.size()),
          .cut_off_ns = chosen.cut_off_ns,
          .collect_always = chosen.packs});
  for (std::uint32_t rail = 0; rail < net.rails(); ++rail) {
    auto made = std::make_unique<driver>(net, rail, self, known_, rails::peer_id{self});
    drivers_.push_back(made.get());
    peers_->add_rail(std::move(made), packets::rail_use::from_start);
    const auto plan = net.plan(rail);
    if (chosen.measured)
      routes_.known.push_back(
          sampling::profile::guessed(static_cast<double>(plan.latency_ns + plan.jitter_ns / 2),
                                     static_cast<double>(plan.bytes_per_us) / 1000));
  }
  if (chosen.endpoints)
    service_ = std::make_unique<endpoints::service>(
        *peers_, *engine_,
        endpoints::service_options{
            .process = self, .job = network::job, .nodes = each_on_its_own_node(net.processes())},
        endpoints::settings{.memory_bytes = chosen.endpoint_bytes_max,
                            .share = false,
                            .window = chosen.window,
                            .pack_always = chosen.packs});
  messages_ = std::make_unique<messages::exchange>(*peers_, *engine_);
  if (service_) service_->attach(*messages_);
}

process::~process() {
  stop();
  messages_.reset();
  peers_.reset();
}

void process::stop() {
  if (service_) service_->stop();
  peers_->stop();
}

void process::connect_to_all() {
  for (std::uint32_t other = 0; other < net_.processes(); ++other)
    if (other != self_) peers_->use(rails::peer_id{other}).value();
}

messages::context* process::open(const messages::context_name& name, bool collective) {
  return messages_->open_context(name, static_cast<int>(self_),
                                 processes::consecutive(static_cast<int>(net_.processes())),
                                 collective);
}

std::size_t process::credit_bytes() const noexcept { return peers_->chosen().credit_bytes(); }

bool process::at_rest(std::size_t always_pending) const {
  // Open end-points count as one thing that is pending.
  return engine_->pending() <= always_pending + (service_ ? 1 : 0) &&
         std::ranges::all_of(drivers_, [&](const driver* d) {
           return d->exposed_count() == 0 || (service_ && d->exposed_count() < net_.processes());
         });
}

std::size_t process::exposed_count() const {
  std::size_t count = 0;
  for (const auto* d : drivers_) count += d->exposed_count();
  return count;
}

bool process::run() {
  int idle = 0, round = 0;
  for (; round < rounds_max && idle < idle_rounds; ++round)
    idle = engine_->poll_everywhere() ? 0 : idle + 1;
  if (idle < idle_rounds) net_.wake(self_, net_.now_ns() + 20'000);
  for (const auto* d : drivers_) net_.wake(self_, d->due_ns());
  if (engine_->pending() > 0)
    net_.wake(self_, net_.now_ns() + (net_.rails() > 1 ? look_period_ns : tick_period_ns));
  return round > idle_rounds;
}

}  // namespace headway::simulation
