#include "progress/core/meter.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "base/mutex.hpp"
#include "progress/core/queue.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress {
namespace {

constexpr std::size_t meters_max = 1024;  // further threads are not metered

std::uint64_t read(const meter::counter& c) noexcept { return c.load(std::memory_order_relaxed); }

std::string own_name() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

}  // namespace

/// Lives until the process ends, because its threads may.
struct meter::registry {
  base::mutex lock;  // cold: threads' ends, and reports
  std::deque<meter> all HEADWAY_GUARDED_BY(lock);
  std::vector<report> ended HEADWAY_GUARDED_BY(lock);  // background threads by name
  std::size_t timeline_entries HEADWAY_GUARDED_BY(lock) = 0;

  void fold(const report& of) HEADWAY_REQUIRES(lock);
};

meter::registry& meter::everyone() {
  static auto* const all = new registry;  // never freed: threads may outlive static objects
  return *all;
}

void meter::registry::fold(const report& of) {
  const bool ours = of.name.starts_with("hw-");
  const auto name = ours ? of.name.substr(0, of.name.find_first_of("0123456789")) : "ended";
  auto sum = std::ranges::find(ended, name, &meter::report::name);
  if (sum == ended.end()) sum = ended.insert(sum, {.name = name, .thread = 0, .rounds = {}});
  for (std::size_t i = 0; i < of.rounds.size(); ++i) sum->rounds[i].add(of.rounds[i]);
  sum->waits += of.waits;
  sum->waited_ns += of.waited_ns;
  sum->sleeps += of.sleeps;
  sum->slept_ns += of.slept_ns;
}

meter* meter::take() noexcept {
  if (!on()) return nullptr;
  auto& here = everyone();
  const base::lock_guard hold(here.lock);
  for (auto& m : here.all) {
    if (!m.ended_ || m.entries_) continue;
    m.begin(0);
    return &m;
  }
  if (here.all.size() == meters_max) return nullptr;
  here.all.emplace_back().begin(here.timeline_entries);
  return &here.all.back();
}

void meter::begin(std::size_t timeline_entries) {
  name_ = own_name();
  thread_ = gettid();
  ended_ = false;
  if (timeline_entries == 0) return;
  entries_max_ = timeline_entries;
  entries_ = std::make_unique_for_overwrite<happening[]>(entries_max_);
}

void meter::leave() noexcept {
  auto& here = everyone();
  const base::lock_guard hold(here.lock);
  ended_ = true;
  if (entries_) return;  // its numbers and its timeline are kept
  here.fold(read());
  for (auto& of : rounds)
    for (auto* c :
         {&of.rounds, &of.hits, &of.skips, &of.busy_ns, &of.masked_ns, &of.longest_wait_ns})
      c->store(0, std::memory_order_relaxed);
  for (auto* c : {&waits, &waited_ns, &sleeps, &slept_ns}) c->store(0, std::memory_order_relaxed);
}

void meter::switch_on(std::size_t timeline_entries) {
  auto& here = everyone();
  if (timeline_entries != 0) {
    const base::lock_guard hold(here.lock);
    here.timeline_entries = timeline_entries;
  }
  on_.store(true, std::memory_order_relaxed);
  auto& me = this_thread();
  if (!me.measured) me.measured = take();
}

void meter::enter_round(round_kind kind) noexcept {
  in_background_ = kind == round_kind::background;
}

void meter::under_mask(round_kind kind, std::uint64_t for_ns) noexcept {
  bump(rounds[static_cast<std::size_t>(kind)].masked_ns, for_ns);
}

void meter::ran_after(std::uint64_t wait_ns) noexcept {
  auto& longest = rounds[static_cast<std::size_t>(in_background_ ? round_kind::background
                                                                 : round_kind::explicit_)]
                      .longest_wait_ns;
  if (wait_ns > longest.load(std::memory_order_relaxed))
    longest.store(wait_ns, std::memory_order_relaxed);
}

void meter::report::of_kind::add(const of_kind& other) noexcept {
  rounds += other.rounds;
  hits += other.hits;
  skips += other.skips;
  busy_ns += other.busy_ns;
  masked_ns += other.masked_ns;
  longest_wait_ns = std::max(longest_wait_ns, other.longest_wait_ns);
}

void meter::round(round_kind kind, bool advanced, bool skipped, std::uint64_t began_ns) noexcept {
  const auto now = base::machine_now_ns();
  auto& of = rounds[static_cast<std::size_t>(kind)];
  bump(of.rounds);
  bump(of.busy_ns, now - began_ns);
  if (skipped) bump(of.skips);
  in_background_ = false;
  if (!advanced) return;
  bump(of.hits);
  const bool own = kind == round_kind::background;
  note(happening::sort::stretch, own ? "background round" : "explicit round", began_ns, now);
}

void meter::note(happening::sort what, const char* name, std::uint64_t begin_ns,
                 std::uint64_t end_ns, std::uint64_t id, std::uint64_t bytes) noexcept {
  if (!entries_) return;
  const auto at = length_.load(std::memory_order_relaxed);
  if (at == entries_max_) return bump(dropped_);
  auto& e = entries_[at];
  e = {.begin_ns = begin_ns, .end_ns = end_ns, .id = id, .bytes = bytes, .name = {}, .what = what};
  std::strncpy(e.name.data(), name, e.name.size() - 1);
  length_.store(at + 1, std::memory_order_release);  // (T)
}

meter::report meter::read() const {
  report r{.name = name_, .thread = thread_, .rounds = {}};
  for (std::size_t i = 0; i < rounds.size(); ++i)
    r.rounds[i] = {.rounds = progress::read(rounds[i].rounds),
                   .hits = progress::read(rounds[i].hits),
                   .skips = progress::read(rounds[i].skips),
                   .busy_ns = progress::read(rounds[i].busy_ns),
                   .masked_ns = progress::read(rounds[i].masked_ns),
                   .longest_wait_ns = progress::read(rounds[i].longest_wait_ns)};
  r.waits = progress::read(waits);
  r.waited_ns = progress::read(waited_ns);
  r.sleeps = progress::read(sleeps);
  r.slept_ns = progress::read(slept_ns);
  r.dropped = progress::read(dropped_);
  return r;
}

std::vector<meter::report> meter::all() {
  auto& here = everyone();
  const base::lock_guard hold(here.lock);
  std::vector<report> found;
  for (const auto& m : here.all)
    if (!m.ended_ || m.entries_) found.push_back(m.read());
  found.insert(found.end(), here.ended.begin(), here.ended.end());
  return found;
}

std::vector<meter::timeline> meter::timelines() {
  auto& here = everyone();
  const base::lock_guard hold(here.lock);
  std::vector<timeline> found;
  for (const auto& m : here.all) {
    if (!m.entries_) continue;
    const auto length = m.length_.load(std::memory_order_acquire);  // (T)
    found.push_back({m.name_,
                     m.thread_,
                     progress::read(m.dropped_),
                     {m.entries_.get(), m.entries_.get() + length}});
  }
  return found;
}

void note_now(happening::sort what, const char* name, const void* id,
              std::uint64_t bytes) noexcept {
  auto* const mine = this_thread().measured;
  if (!mine) return;
  const auto now = base::machine_now_ns();
  mine->note(what, name, now, now, reinterpret_cast<std::uintptr_t>(id), bytes);
}

void stretch::end(meter& of, const char* name, meter::counter meter::* times,
                  meter::counter meter::* total, std::uint64_t began_ns) noexcept {
  const auto now = base::machine_now_ns();
  meter::bump(of.*times);
  meter::bump(of.*total, now - began_ns);
  of.note(happening::sort::stretch, name, began_ns, now);
}

}  // namespace headway::progress
