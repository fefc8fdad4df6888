#include "topology/machine.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HEADWAY_HAS_RSEQ 1
#endif

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "topology/processors.hpp"
#include "topology/tree.hpp"

namespace headway::topology {

struct machine::parts {
  std::vector<place> places;
  std::vector<place_id> leaf_of_processor;  // by the kernel's number; the root if there is none
  bool imagined = false;
  int package = -1;            // see the function of that name
  std::uint64_t identity = 0;  // the same
  int node_processors = 1;
  int quota_processors = INT32_MAX;  // read once: quotas change rarely, and their files are slow
};

namespace {

/// Invariants of every tree: a parent comes before its children, and contains their processors.
bool sound(const std::vector<place>& places) {
  return !places.empty() && !places[0].processors.empty() &&
         std::ranges::all_of(places.begin() + 1, places.end(), [&](const place& p) {
           return p.parent < p.id &&
                  std::ranges::includes(places[static_cast<std::size_t>(p.parent)].processors,
                                        p.processors);
         });
}

std::vector<place_id> leaves(const std::vector<place>& places) {
  HEADWAY_ASSERT(sound(places));
  std::vector<place_id> leaf_of(static_cast<std::size_t>(places[0].processors.back()) + 1,
                                place_id::root);
  for (const auto& p : places)  // a child comes after its parent, so the last writer is the leaf
    for (const int processor : p.processors) leaf_of[static_cast<std::size_t>(processor)] = p.id;
  return leaf_of;
}

/// The calling thread's processor, which the kernel writes at each context switch. `sched_getcpu`
/// reads the same word in thirty instructions; every poll needs it.
int processor_here() noexcept {
#ifdef HEADWAY_HAS_RSEQ
  const auto* self = static_cast<const char*>(__builtin_thread_pointer());
  const auto* registered = reinterpret_cast<const struct rseq*>(self + __rseq_offset);
  const auto id = static_cast<int>(__atomic_load_n(&registered->cpu_id, __ATOMIC_RELAXED));
  if (id >= 0) return id;  // otherwise the thread is not registered
#endif
  return sched_getcpu();
}

}  // namespace

/// The number of the package, if there is one alone; else -1.
static int only_package(const hardware& all) {
  constexpr auto is_package = [](const auto& o) { return o.what == hardware::kind::package; };
  const auto first = std::ranges::find_if(all.objects, is_package);
  if (first == all.objects.end() || std::ranges::count_if(all.objects, is_package) != 1) return -1;
  return static_cast<int>(first->number);
}

static std::uint64_t identity_of(const hardware& all) {
  const auto bytes = all.pack();
  return base::hash_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

base::result<std::unique_ptr<machine>> machine::read(const settings& chosen,
                                                     const std::optional<hardware>& found) {
  if (!chosen.description.empty()) return imagine(chosen.description);
  const auto bound = bound_processors();
  const bool known = found && std::ranges::includes(found->objects.front().processors, bound);
  const auto whole = known ? base::result<hardware>(*found) : hardware::read();
  if (!whole) return std::unexpected(whole.error());
  auto made = std::make_unique<parts>();
  const auto own = whole->only(bound);
  made->places = places_of(own);
  made->identity = identity_of(*whole);
  made->package = only_package(own);
  made->leaf_of_processor = leaves(made->places);
  made->node_processors = static_cast<int>(whole->objects.front().processors.size());
  const auto together =
      chosen.node_processors > 0 ? std::optional(chosen.node_processors) : confined_together();
  if (together) made->node_processors = std::min(made->node_processors, *together);
  if (const auto quota = group_quota())
    made->quota_processors = static_cast<int>(std::ceil(*quota));
  return std::unique_ptr<machine>(new machine(std::move(made)));
}

base::result<std::unique_ptr<machine>> machine::imagine(const std::string& description) {
  const auto whole = hardware::read(description);
  if (!whole) return std::unexpected(whole.error());
  auto made = std::make_unique<parts>();
  made->places = places_of(*whole);
  made->leaf_of_processor = leaves(made->places);
  made->node_processors = static_cast<int>(whole->objects.front().processors.size());
  made->identity = identity_of(*whole);
  made->imagined = true;
  std::vector<int> own;  // what the processors to which this process is bound stand for
  const auto& imagined = whole->objects.front().processors;
  for (const int real : bound_processors())
    own.push_back(imagined[static_cast<std::size_t>(real) % imagined.size()]);
  std::ranges::sort(own);
  own.erase(std::ranges::unique(own).begin(), own.end());
  made->package = only_package(whole->only(own));
  return std::unique_ptr<machine>(new machine(std::move(made)));
}

machine::machine(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
machine::~machine() = default;

const std::vector<place>& machine::places() const noexcept { return parts_->places; }
bool machine::imagined() const noexcept { return parts_->imagined; }
int machine::package() const noexcept { return parts_->package; }
std::uint64_t machine::identity() const noexcept { return parts_->identity; }

std::vector<place_id> machine::places_at(level which) const {
  const auto& all = parts_->places;
  std::vector<place_id> chosen;
  // A parent comes before its children, so walking backwards meets the narrowest ones first.
  // Children have one level, so all of them fit or none, and no part of the machine is left out.
  std::vector<bool> below(all.size(), false);  // a descendant was chosen
  for (std::size_t i = all.size(); i-- > 0;) {
    const auto parent = static_cast<std::size_t>(all[i].parent);
    if (!below[i] && all[i].widest <= which) {
      chosen.push_back(all[i].id);
      below[i] = true;
    }
    if (i > 0 && below[i]) below[parent] = true;
  }
  std::ranges::reverse(chosen);
  return chosen;
}

// pioman caches a thread's place because a query took microseconds (mechanism 4). Since glibc 2.35
// the kernel keeps it in the thread's rseq area and sched_getcpu is a load of it, about 2 ns:
// cheaper than checking whether a cache is stale, and never stale.
place_id machine::here() const noexcept {
  const int processor = processor_here();
  const auto& table = parts_->leaf_of_processor;
  if (static_cast<std::size_t>(processor) < table.size()) [[likely]]
    return table[static_cast<std::size_t>(processor)];
  return leaf_of(processor);
}

place_id machine::leaf_of(int processor) const noexcept {
  const auto& table = parts_->leaf_of_processor;
  if (processor < 0) return place_id::root;
  auto p = static_cast<std::size_t>(processor);
  if (p < table.size()) return table[p];
  return parts_->imagined ? table[p % table.size()] : place_id::root;
}

bool machine::limited_by_quota() const noexcept {
  return parts_->quota_processors < parts_->node_processors;
}

int machine::usable_processors() const noexcept {
  return std::clamp(parts_->quota_processors, 1, allowed_processors());
}

int machine::node_processors() const noexcept {
  return std::clamp(parts_->quota_processors, 1, parts_->node_processors);
}

int machine::runnable_threads() const noexcept {
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 1;
  char text[128];
  const auto got = ::read(file, text, sizeof text);
  close(file);
  if (got <= 0) return 1;
  return std::max(1, parse_runnable({text, static_cast<std::size_t>(got)}).value_or(1));
}

}  // namespace headway::topology
