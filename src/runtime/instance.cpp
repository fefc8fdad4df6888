#include "runtime/instance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/once_a_job.hpp"
#include "packets/peers.hpp"
#include "progress/background/polling_points.hpp"
#include "rails/interfaces.hpp"
#include "rails/job_keys.hpp"
#include "runtime/builtin.hpp"
#include "runtime/counted_rail.hpp"
#include "runtime/job_router.hpp"
#include "runtime/rail_statistics.hpp"
#include "runtime/tuned.hpp"
#include "runtime/window_statistics.hpp"
#include "watch/observer.hpp"
#include "watch/statistics.hpp"
#include "windows/statistics.hpp"
#include "wireup/foreign_processes.hpp"
#include "wireup/peer_rails.hpp"
#include "wireup/places.hpp"
#include "wireup/process_record.hpp"
#include "wireup/profiles.hpp"

namespace headway::runtime {

using wireup::opened_rail;

struct instance::parts {
  wireup::rail_profiles profiles;
  std::unique_ptr<launch::job> job;
  processes::table known_processes;  // the processes of the job have the first indices
  rails::job_keys other_jobs;
  processes::membership_ref members;  // of the job
  std::unique_ptr<topology::machine> machine;
  std::unique_ptr<progress::engine> progress;
  std::unique_ptr<packets::peers> peers;
  std::unique_ptr<endpoints::service> endpoints;
  std::unique_ptr<messages::exchange> messages;
  std::unique_ptr<watch::observer> watching;
  wireup::places places;  // of the processes of the job
  std::optional<wireup::foreign_processes> foreign;
  std::vector<opened_rail> rails;              // their drivers are moved to `peers`
  std::optional<wireup::own_rails> own_rails;  // how others reach us, and we them
  std::optional<job_router> router;
  windows::statistics windows;
  std::optional<collectives::tuned_table> tuned;         // that this process has read
  const collectives::tuned_shape* tuned_here = nullptr;  // of it, if all of the node agree

  explicit parts(const settings& how) : profiles(how.sampling) {}
  ~parts() { take_down(); }

  base::result<> exchange_records(bool shares_memory);
  [[nodiscard]] packets::rail_use use_of(const opened_rail& rail) const;
  void choose_tuned();
  [[nodiscard]] int processes_here() const noexcept;
  [[nodiscard]] wireup::process_position position_of(processes::peer_id process) const;
  void take_down() noexcept;
  template <class Power>
  [[nodiscard]] Power* first_with(Power* (rails::driver::*ask)()) const noexcept;
  [[nodiscard]] endpoints::service_options endpoint_options() const;
  [[nodiscard]] watch::observed observed() const;
  static void add_rows(void* of, const std::vector<progress::meter::report>& threads,
                       watch::page_image& image);
  void log_start() const;
};

/// Publishes where this process runs and how its rails are reached, and reads the same of the
/// others. If a process of a node could not open the rail of that node, it shares no memory: all
/// agree on that, and use the network.
base::result<> instance::parts::exchange_records(bool shares_memory) {
  own_rails.emplace(rails);
  auto place = wireup::process_place::own(static_cast<std::uint32_t>(machine->node_processors()),
                                          machine->package());
  if (!shares_memory)
    place.memory = base::hash_of(fmt::format("{}/{}", place.memory, job->who().rank));
  place.tuned = tuned_number(tuned, *machine);
  const wireup::process_record own{
      .place = place, .host = wireup::own_host(), .addresses = own_rails->addresses()};
  if (auto done = job->publish(own.pack()); !done) return done;
  auto found = wireup::places::read(*job);
  if (!found) return std::unexpected(found.error());
  places = std::move(*found);
  foreign.emplace(places);
  return {};
}

/// How many processes of the job run on this process's node, itself included.
int instance::parts::processes_here() const noexcept {
  const auto nodes = places.nodes();
  return static_cast<int>(
      std::ranges::count(nodes, nodes[static_cast<std::size_t>(job->who().rank)]));
}

wireup::process_position instance::parts::position_of(processes::peer_id process) const {
  const auto rank = static_cast<std::uint32_t>(process);  // if it is of this job
  if (std::cmp_less(rank, job->who().size)) return places.of(rank);
  const auto found = foreign->position_of(process);
  HEADWAY_ASSERT(found.has_value());  // the modules above use processes that were introduced
  return *found;
}

/// Ranks that chose different algorithms would wait for each other for ever, so a table is used
/// only where all ranks of the node have read the same. Collective operations between nodes use the
/// built-in table.
void instance::parts::choose_tuned() {
  if (places.tuned_here() == wireup::places::tables::same && tuned)
    tuned_here = tuned->shape_of(processes_here(), machine->node_processors());
  constexpr const char* line =
      "the table of headway tune is not used: the ranks of a node have found different ones";
  if (places.tuned_here() == wireup::places::tables::different && base::first_of_job(line))
    base::log(base::severity::warning, "{}", line);
}

/// A process that this one has not used may send first, over the nearest rail between the two.
packets::rail_use instance::parts::use_of(const opened_rail& rail) const {
  const auto nodes = places.nodes();
  const auto here = processes_here();
  const bool shares_node =
      std::ranges::any_of(rails, [](const auto& r) { return r.reach == wireup::rail_reach::node; });
  bool first = false;
  switch (rail.reach) {
    case wireup::rail_reach::self:
      break;
    case wireup::rail_reach::node:
      first = here > 1;
      break;
    case wireup::rail_reach::network:
      first = std::cmp_less(here, nodes.size()) || (here > 1 && !shares_node);
      break;
  }
  return first ? packets::rail_use::from_start : packets::rail_use::on_first_use;
}

/// The first rail that has this optional contract; null: none.
template <class Power>
Power* instance::parts::first_with(Power* (rails::driver::*ask)()) const noexcept {
  for (std::size_t i = 0; i < peers->rail_count(); ++i)
    if (auto* found = (peers->rail_at(i).*ask)()) return found;
  return nullptr;
}

endpoints::service_options instance::parts::endpoint_options() const {
  const auto& who = job->who();
  const auto nodes = places.nodes();
  return {.process = static_cast<std::uint32_t>(who.rank),
          .job = processes::job_id_of(who.job_id),
          .nodes = std::vector(nodes.begin(), nodes.end()),
          .share = first_with(&rails::driver::slots) != nullptr};
}

watch::observed instance::parts::observed() const {
  const auto& who = job->who();
  return {.progress = *progress,
          .rank = who.rank,
          .size = who.size,
          .job = who.job_id,
          .add_rows = add_rows,
          .above = const_cast<parts*>(this)};
}

/// For the statistics; `of` is a parts.
void instance::parts::add_rows(void* of, const std::vector<progress::meter::report>& threads,
                               watch::page_image& image) {
  const auto& own = *static_cast<const parts*>(of);
  add_rail_rows(*own.peers, threads, image);
  add_window_rows(own.windows, image);
}

/// Also for a partly built instance.
void instance::parts::take_down() noexcept {
  if (watching) watching->finish();
  if (endpoints) endpoints->stop();
  messages.reset();  // closes the rails: no further transfers update profiles
  if (peers) router->keep_profiles(*peers);
  peers.reset();
  endpoints.reset();  // the peers' second receiver
  progress.reset();
  if (watching) watching->write_timeline();
  watching.reset();
}

/// A part that exists until `stop`.
template <class Part>
static Part& running(const std::unique_ptr<Part>& part) noexcept {
  HEADWAY_DEBUG_ASSERT(part != nullptr);
  return *part;
}

/// Raises the soft limit on descriptors, up to the hard limit. Each peer on another machine needs a
/// connection on each rail, and a second one while that is made. If a descriptor is missing, an
/// error names the limit.
static void raise_descriptor_limit(std::size_t processes) noexcept {
  constexpr rlim_t for_each = 4, for_the_program = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = std::min(processes * for_each + for_the_program, limit.rlim_max);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

/// Read by one process of the node for all. Nothing: each reads it itself.
static std::optional<topology::hardware> hardware_of_node(launch::job& job) {
  const auto bytes = job.once_a_node([] {
    const auto found = topology::hardware::read();
    return found ? found->pack() : std::vector<std::byte>{};
  });
  auto known = topology::hardware::unpack(bytes);
  return known ? std::optional(std::move(*known)) : std::nullopt;
}

/// The background polling points that are on: "event, timer"; "none".
static std::string progression_text(progress::engine& engine) {
  using progress::polling_point;
  constexpr std::pair<polling_point, const char*> points[] = {{polling_point::event, "event"},
                                                              {polling_point::timer, "timer"},
                                                              {polling_point::idle, "idle"}};
  std::vector<const char*> on;
  for (const auto& [point, name] : points)
    if (engine.points().is_on(point)) on.push_back(name);
  return on.empty() ? "none" : fmt::format("{}", fmt::join(on, ", "));
}

/// Logs the rails, the background progression and the processors of this process, in one line.
void instance::parts::log_start() const {
  if (!base::log_admits(base::severity::info)) return;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < peers->rail_count(); ++i)
    names.push_back(peers->rail_at(i).query().name);
  const int package = machine->package();
  base::log(base::severity::info,
            "rails: {}; background progression: {}; may run on {} of {} processors{}{}",
            fmt::join(names, ", "), progression_text(*progress), machine->usable_processors(),
            machine->node_processors(),
            package < 0 ? "" : fmt::format(", all of package {}", package),
            tuned_here ? "; collectives as headway tune has measured" : "");
}

instance::instance(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

instance::~instance() = default;

base::result<std::unique_ptr<instance>> instance::start(const settings& how) try {
  base::log_as(how.log);
  auto made = std::make_unique<parts>(how);
  auto job = launch::job::join(how.launch);
  if (!job) return std::unexpected(job.error());
  made->job = std::move(*job);
  const auto& who = made->job->who();
  HEADWAY_ASSERT(0 <= who.rank && who.rank < who.size);
  base::log_name(fmt::format("rank {}", who.rank));
  const auto job_number = processes::job_id_of(who.job_id);
  raise_descriptor_limit(static_cast<std::size_t>(who.size));
  for (int rank = 0; rank < who.size; ++rank)
    made->known_processes.add({.job = job_number, .rank = static_cast<std::uint32_t>(rank)});
  const auto me =
      made->known_processes.add({.job = job_number, .rank = static_cast<std::uint32_t>(who.rank)});
  made->members = processes::consecutive(who.size);
  HEADWAY_ASSERT((*made->members)[who.rank] == me);  // rank i of the job is process i of the table

  auto machine = topology::machine::read(
      how.topology, how.topology.description.empty() ? hardware_of_node(*made->job) : std::nullopt);
  if (!machine) return std::unexpected(machine.error());
  made->machine = std::move(*machine);
  made->tuned = find_tuned(how, *made->machine);

  auto rails = open_rails({.job = *made->job,
                           .known = made->known_processes,
                           .other_jobs = &made->other_jobs,
                           .me = me,
                           .clock = how.clock},
                          how, made->profiles);
  if (!rails) return std::unexpected(rails.error());
  made->rails = std::move(rails->all);
  if (auto done = made->exchange_records(!rails->node_left_out); !done)
    return std::unexpected(done.error());
  made->choose_tuned();

  watch::switch_on_meters(how.watch);
  auto engine = progress::engine::start(*made->machine, how.progress, made->places.beside(who.rank),
                                        how.clock);
  if (!engine) return std::unexpected(engine.error());
  made->progress = std::move(*engine);

  made->router.emplace(job_router::sources{.job = *made->job,
                                           .processes = made->known_processes,
                                           .places = made->places,
                                           .foreign = *made->foreign,
                                           .rails = *made->own_rails,
                                           .profiles = made->profiles});
  auto chosen = how.packets;
  chosen.processes = static_cast<std::size_t>(who.size);
  made->peers = std::make_unique<packets::peers>(*made->progress, me, *made->router, chosen);
  for (auto& r : made->rails)
    made->peers->add_rail(
        how.watch.counts() ? std::make_unique<counted_rail>(std::move(r.rail)) : std::move(r.rail),
        made->use_of(r));
  HEADWAY_ASSERT(made->peers->rail_count() == made->rails.size());
  made->endpoints = std::make_unique<endpoints::service>(*made->peers, *made->progress,
                                                         made->endpoint_options(), how.endpoints);
  made->messages = std::make_unique<messages::exchange>(*made->peers, *made->progress);
  made->endpoints->attach(*made->messages);
  made->watching = std::make_unique<watch::observer>(made->observed(), how.watch);
  made->log_start();
  return std::unique_ptr<instance>(new instance(std::move(made)));
} catch (const std::bad_alloc&) {
  return base::failed(base::fault_kind::no_memory, "no memory to start with");
} catch (const std::system_error& why) {  // a thread
  return base::failed(base::fault_kind::no_memory, why.what());
}

base::result<> instance::stop() {
  parts_->take_down();
  return parts_->job->finish();
}

int instance::rank() const noexcept { return parts_->job->who().rank; }
int instance::size() const noexcept { return parts_->job->who().size; }

const processes::membership_ref& instance::job_members() const noexcept { return parts_->members; }

processes::process_id instance::name_of(processes::peer_id process) const noexcept {
  return parts_->known_processes.at(process);
}

base::result<std::vector<std::byte>> instance::own_record() {
  return parts_->job->record_of(rank());
}

launch::job_secret instance::contribution_for(std::uint64_t other_job) const {
  return parts_->job->contribution_for(other_job);
}

void instance::share_key_with(std::uint64_t other_job, const launch::job_secret& contribution) {
  const auto own_job = processes::job_id_of(parts_->job->who().job_id);
  const auto ours = parts_->job->contribution_for(other_job);
  parts_->other_jobs.add(other_job, own_job < other_job ? launch::pair_key(ours, contribution)
                                                        : launch::pair_key(contribution, ours));
}

base::result<processes::peer_id> instance::introduce(processes::process_id process,
                                                     std::span<const std::byte> record) {
  const auto number = parts_->known_processes.add(process);
  if (process.job == processes::job_id_of(parts_->job->who().job_id)) return number;
  if (auto done = parts_->foreign->add(number, record); !done) return std::unexpected(done.error());
  return number;
}

base::result<std::vector<std::string>> instance::hosts() const {
  const auto interfaces = rails::list_interfaces();
  if (!interfaces) return std::unexpected(interfaces.error());
  std::vector<std::string> found;
  for (const auto& one : *interfaces) {
    const bool used =
        std::ranges::find(parts_->rails, one.name, &opened_rail::interface) != parts_->rails.end();
    if (one.usable && (one.loopback || used))
      for (const auto& address : one.addresses) found.push_back(address.text());
  }
  return found;
}

int instance::node_of(processes::peer_id process) const noexcept {
  return parts_->position_of(process).node;
}

int instance::package_of(processes::peer_id process) const noexcept {
  return parts_->position_of(process).package;
}

bool instance::outnumber_processors(const processes::membership& of) const {
  std::vector<wireup::process_position> all;
  for (const auto process : of.peers()) all.push_back(parts_->position_of(process));
  return wireup::outnumber_processors(all);
}

const collectives::tuned_shape* instance::tuned_for(
    const processes::membership& of) const noexcept {
  const auto* shape = parts_->tuned_here;
  if (shape == nullptr || of.size() != shape->ranks) return nullptr;
  const int here = parts_->places.nodes()[static_cast<std::size_t>(rank())];
  // Another job may have read another table.
  const bool all_here = std::ranges::all_of(of.peers(), [&](processes::peer_id process) {
    return std::cmp_less(static_cast<std::uint32_t>(process), size()) && node_of(process) == here;
  });
  return all_here ? shape : nullptr;
}

std::vector<rail_entry> instance::rails() const {
  for (const auto process : parts_->members->peers()) static_cast<void>(parts_->peers->at(process));
  std::vector<rail_entry> all;
  for (std::size_t i = 0; i < parts_->peers->rail_count(); ++i) {
    const auto limits = parts_->peers->rail_at(i).query();
    all.push_back({.name = limits.name,
                   .address = parts_->rails[i].address_text,
                   .peers = parts_->peers->peers_on(i)});
  }
  return all;
}

std::string instance::rail_to(processes::peer_id process) const {
  return name_of_rail_to(*parts_->peers, process);
}

launch::job& instance::job() noexcept { return *parts_->job; }
const topology::machine& instance::machine() const noexcept { return *parts_->machine; }
progress::engine& instance::progress() noexcept { return running(parts_->progress); }
const progress::engine& instance::progress() const noexcept { return running(parts_->progress); }
const packets::peers& instance::peers() const noexcept { return running(parts_->peers); }
messages::exchange& instance::messages() noexcept { return running(parts_->messages); }
endpoints::service& instance::endpoints() noexcept { return running(parts_->endpoints); }

void instance::add_to_timeline(std::string_view json) {
  running(parts_->watching).add_to_timeline(json);
}

void instance::gather(watch::page_image& image) const {
  watch::gather(parts_->observed(), 0, image);
}

rails::shm_slots* instance::shm_slots() noexcept {
  return parts_->first_with(&rails::driver::slots);
}

windows::statistics& instance::window_counts() noexcept { return parts_->windows; }

rails::memory* instance::node_memory() noexcept {
  for (std::size_t i = 0; i < parts_->peers->rail_count(); ++i)
    if (auto& rail = parts_->peers->rail_at(i); rail.slots()) return rail.memory();
  return nullptr;
}

}  // namespace headway::runtime
