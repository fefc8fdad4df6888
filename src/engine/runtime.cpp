#include "engine/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/log.hpp"
#include "engine/builtin.hpp"
#include "engine/counted_rail.hpp"
#include "engine/node.hpp"
#include "engine/partners.hpp"
#include "engine/profiles.hpp"
#include "engine/rail_statistics.hpp"
#include "packets/peers.hpp"
#include "watch/observer.hpp"

namespace headway::engine {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What every process publishes beside its rails' addresses.
constexpr const char* kernel_name = "kernel";
constexpr const char* memory_name = "memory";
constexpr const char* processors_name = "processors";

}  // namespace

struct runtime::parts {
  std::unique_ptr<launch::job> job;
  std::unique_ptr<topology::machine> machine;
  std::unique_ptr<progress::engine> progress;
  std::unique_ptr<packets::peers> peers;
  std::unique_ptr<endpoints::service> endpoints;
  std::unique_ptr<messages::exchange> messages;
  std::unique_ptr<watch::observer> watching;
  std::vector<int> nodes;                       // of each rank: equal numbers share memory
  std::vector<int> computers;                   // of each rank: equal numbers share processors
  std::vector<int> processors;                  // of each rank's computer
  std::vector<opened_rail> rails;               // their drivers go to `peers`
  std::map<rails::peer_id, std::string> hosts;  // of peers with several rails

  ~parts() { take_down(); }

  base::result<> publish();
  base::result<int> find_nodes();
  base::result<> connect_all();
  base::result<> connect_to(int rank);
  base::result<> recall_profiles(rails::peer_id whom);
  void keep_profiles();
  void take_down() noexcept;
  [[nodiscard]] endpoints::service_options endpoint_options() const;
};

base::result<> runtime::parts::publish() {
  const auto here = whereabouts::own();
  if (auto done = job->publish(kernel_name, bytes_of(here.kernel)); !done) return done;
  if (auto done = job->publish(memory_name, bytes_of(here.memory)); !done) return done;
  const auto processor_count = std::to_string(machine->node_processors());
  if (auto done = job->publish(processors_name, bytes_of(processor_count)); !done) return done;
  if (auto done = publish_rails(*job, rails); !done) return done;
  return job->exchange();
}

/// Fills the tables by rank; how many processes share our processors, ourselves included.
base::result<int> runtime::parts::find_nodes() {
  std::vector<std::string> memories, kernels;
  for (int rank = 0; rank < job->who().size; ++rank) {
    const auto kernel = job->lookup(rank, kernel_name);
    if (!kernel) return std::unexpected(kernel.error());
    const auto memory = job->lookup(rank, memory_name);
    if (!memory) return std::unexpected(memory.error());
    const auto count = job->lookup(rank, processors_name);
    if (!count) return std::unexpected(count.error());
    processors.push_back(std::atoi(text_of(*count).c_str()));
    kernels.push_back(text_of(*kernel));
    memories.push_back(text_of(*memory));
  }
  nodes = number_by_equality(memories);
  computers = number_by_equality(kernels);
  const auto& own = kernels[static_cast<std::size_t>(job->who().rank)];
  return static_cast<int>(std::ranges::count(kernels, own));
}

base::result<> runtime::parts::connect_all() {
  for (int rank = 0; rank < job->who().size; ++rank)
    if (auto done = connect_to(rank); !done) return done;
  return {};
}

base::result<> runtime::parts::connect_to(int rank) {
  auto partners = find_partners(*job, rank, rails);
  if (!partners) return std::unexpected(partners.error());
  std::vector<std::optional<rail_address>> of_rails;
  std::vector<std::size_t> turns;
  for (auto& p : *partners) {
    of_rails.push_back(std::move(p.address));
    turns.push_back(p.turn);
  }
  const auto whom = static_cast<rails::peer_id>(rank);
  if (auto done = peers->connect(whom, of_rails, turns); !done) return done;
  return recall_profiles(whom);
}

/// What earlier jobs measured of the rails to a peer that has several. Read now, because files are
/// not for a polling round.
base::result<> runtime::parts::recall_profiles(rails::peer_id whom) {
  if (!peers->bundled(whom)) return {};
  auto host = host_of(*job, static_cast<int>(whom));
  if (!host) return std::unexpected(std::move(host).error());
  hosts[whom] = std::move(*host);
  for (std::size_t i = 0; i < rails.size(); ++i)
    if (const auto known = stored_profile(hosts[whom], peers->rail_at(i).query().name))
      peers->know(whom, i, *known);
  return {};
}

void runtime::parts::keep_profiles() {
  for (const auto& [whom, host] : hosts)
    for (std::size_t i = 0; i < rails.size(); ++i)
      if (const auto found = peers->learnt(whom, i))
        store_profile(host, peers->rail_at(i).query().name, *found);
}

endpoints::service_options runtime::parts::endpoint_options() const {
  const auto& who = job->who();
  std::uint64_t tag = 0xcbf29ce484222325u;  // FNV-1a of the job's name
  for (const char c : who.job_id) tag = (tag ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return {.process = static_cast<std::uint32_t>(who.rank),
          .job = tag,
          .nodes = nodes,
          .share = std::ranges::find(rails, "shm", &opened_rail::driver) != rails.end()};
}

/// Also of what was built in part.
void runtime::parts::take_down() noexcept {
  if (watching) watching->finish();
  if (endpoints) endpoints->stop();
  messages.reset();  // closes the rails: nothing more is learnt
  if (peers) keep_profiles();
  peers.reset();
  endpoints.reset();  // the peers' second receiver
  progress.reset();
  if (watching) watching->write_timeline();
  watching.reset();
}

runtime::runtime(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

runtime::~runtime() = default;

base::result<std::unique_ptr<runtime>> runtime::start() {
  auto made = std::make_unique<parts>();
  auto job = launch::job::join();
  if (!job) return std::unexpected(job.error());
  made->job = std::move(*job);
  const auto& who = made->job->who();
  base::log_name(fmt::format("rank {}", who.rank));

  // Our own launcher gives the job's secret at the start, and so does a rendezvous; others give
  // only a way to agree on one.
  if (who.size > 1 && who.launcher != "headway" && who.launcher != "rendezvous")
    if (auto done = made->job->exchange(); !done) return std::unexpected(done.error());

  auto machine = topology::machine::read();
  if (!machine) return std::unexpected(machine.error());
  made->machine = std::move(*machine);

  auto rails = open_rails(*made->job);
  if (!rails) return std::unexpected(rails.error());
  made->rails = std::move(*rails);
  if (auto done = made->publish(); !done) return std::unexpected(done.error());
  const auto on_node = made->find_nodes();
  if (!on_node) return std::unexpected(on_node.error());

  auto engine = progress::engine::start(
      *made->machine,
      {.points = progress::polling_from_environment(), .processes_on_node = *on_node});
  if (!engine) return std::unexpected(engine.error());
  made->progress = std::move(*engine);

  made->peers = std::make_unique<packets::peers>(
      *made->progress, static_cast<std::size_t>(who.size), static_cast<rails::peer_id>(who.rank));
  for (auto& r : made->rails)
    made->peers->add_rail(watch::statistics_wanted()
                              ? std::make_unique<counted_rail>(std::move(r.rail))
                              : std::move(r.rail));
  if (auto done = made->connect_all(); !done) return std::unexpected(done.error());
  made->endpoints =
      std::make_unique<endpoints::service>(*made->peers, *made->progress, made->endpoint_options());
  made->messages = std::make_unique<messages::exchange>(*made->peers, *made->progress);
  made->endpoints->attach(*made->messages);
  made->watching = std::make_unique<watch::observer>(watch::observed{.progress = *made->progress,
                                                                     .rank = who.rank,
                                                                     .size = who.size,
                                                                     .job = who.job_id,
                                                                     .add_rows = add_rail_rows,
                                                                     .above = made->peers.get()});
  return std::unique_ptr<runtime>(new runtime(std::move(made)));
}

base::result<> runtime::stop() {
  parts_->take_down();
  return parts_->job->finish();
}

int runtime::rank() const noexcept { return parts_->job->who().rank; }
int runtime::size() const noexcept { return parts_->job->who().size; }

int runtime::node_of(int world_rank) const noexcept {
  return parts_->nodes[static_cast<std::size_t>(world_rank)];
}

bool runtime::outnumber_processors(std::span<const std::uint32_t> world_ranks) const {
  std::vector<int> members(parts_->computers.size(), 0);  // of each computer
  return std::ranges::any_of(world_ranks, [&](std::uint32_t rank) {
    const auto computer = static_cast<std::size_t>(parts_->computers[rank]);
    return ++members[computer] > parts_->processors[rank];
  });
}

std::vector<rail_entry> runtime::rails() const {
  std::vector<rail_entry> all;
  for (std::size_t i = 0; i < parts_->peers->rail_count(); ++i) {
    const auto limits = parts_->peers->rail_at(i).query();
    all.push_back({.name = limits.name,
                   .address = parts_->rails[i].address_text,
                   .peers = parts_->peers->peers_on(i)});
  }
  return all;
}

launch::job& runtime::job() noexcept { return *parts_->job; }
const topology::machine& runtime::machine() const noexcept { return *parts_->machine; }
progress::engine& runtime::progress() noexcept { return *parts_->progress; }
messages::exchange& runtime::messages() noexcept { return *parts_->messages; }
endpoints::service& runtime::endpoints() noexcept { return *parts_->endpoints; }

rails::board* runtime::board() noexcept {
  for (std::size_t i = 0; i < parts_->peers->rail_count(); ++i)
    if (auto* found = parts_->peers->rail_at(i).shared_board()) return found;
  return nullptr;
}

rails::neighbours* runtime::memory_nearby() noexcept {
  for (std::size_t i = 0; i < parts_->peers->rail_count(); ++i)
    if (auto* found = parts_->peers->rail_at(i).memory_nearby()) return found;
  return nullptr;
}

}  // namespace headway::engine
