#include "tests/simulation/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/simulation/driver.hpp"

namespace headway::simulation {

network::network(std::uint32_t processes, std::vector<rail_plan> rails, temper t,
                 std::uint64_t seed, time_source time)
    : processes_(processes),
      lock_(time == time_source::machine),
      plans_(std::move(rails)),
      temper_(t),
      dice_(seed),
      clock_(time == time_source::simulated ? base::clock(now_ns_) : base::clock()),
      connections_(plans_.size() * processes * processes),
      interface_free_ns_(plans_.size() * processes),
      names_(processes),
      drivers_(plans_.size() * processes),
      closed_(plans_.size() * processes),
      dead_(processes + 1),
      refuses_memory_(processes),
      put_bytes_(plans_.size()),
      late_ns_(processes + 1),
      wake_ns_(processes + 1, UINT64_MAX) {
  for (std::uint32_t p = 0; p < processes; ++p) name(p, {.job = job, .rank = p});
}

void network::name(std::uint32_t process, processes::process_id as) {
  const std::lock_guard guard(lock_);
  numbers_.erase(names_[process]);
  names_[process] = as;
  numbers_[as] = process;
}

void network::say(const char* what, std::uint32_t rail, std::uint32_t a, std::uint32_t b) const {
  if (trace)
    fmt::print(stderr, "{:.6f} s: rail {} between {} and {}: {}\n",
               static_cast<double>(now_ns()) * 1e-9, rail, a, b, what);
}

network::connection& network::between(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  const std::size_t low = std::min(a, b), high = std::max(a, b);
  auto& there = connections_[(rail * processes_ + high) * processes_ + low];
  if (!there) there = std::make_unique<connection>();
  return *there;
}

void network::wake(std::uint32_t process, std::uint64_t at_ns) {
  if (dead_[process] || at_ns == UINT64_MAX || !clock_.is_virtual()) return;
  at_ns = std::max(at_ns, now_ns()) + late_ns_[process];
  if (wake_ns_[process] <= at_ns) return;
  wake_ns_[process] = at_ns;
  wake_ups_.push({at_ns, process});
}

const std::vector<std::uint32_t>& network::next() {
  now_awake_.clear();
  while (!wake_ups_.empty() && (now_awake_.empty() || wake_ups_.top().at_ns <= now_ns())) {
    const auto [at_ns, process] = wake_ups_.top();
    wake_ups_.pop();
    if (wake_ns_[process] != at_ns || dead_[process]) continue;  // was woken earlier since
    wake_ns_[process] = UINT64_MAX;
    set_now(std::max(now_ns(), at_ns));
    now_awake_.push_back(process);
  }
  for (std::size_t i = now_awake_.size(); i > 1; --i)
    std::swap(now_awake_[i - 1], now_awake_[dice_.below(i)]);
  return now_awake_;
}

bool network::due(std::uint32_t process) const {
  const std::lock_guard guard(lock_);
  for (std::uint32_t rail = 0; rail < rails(); ++rail) {
    const auto* d = drivers_[rail * processes_ + process];
    if (d && d->due_ns() <= now_ns()) return true;
  }
  return false;
}

bool network::uses(std::uint32_t rail, std::uint32_t whose, std::uint32_t other) {
  const auto* d = driver_of(rail, whose);
  return d && d->knows(other);
}

/// From when on at most `queue_bytes_max` wait for the interface of the process, if no more follow.
std::uint64_t network::takes_again_ns(std::uint32_t rail, std::uint32_t process) const {
  const auto& plan = plans_[rail];
  if (plan.queue_bytes_max == SIZE_MAX) return 0;
  const auto queue_ns = plan.queue_bytes_max * 1000 / plan.bytes_per_us;
  const auto free_ns = interface_free_ns_[rail * processes_ + process];
  return free_ns - std::min(free_ns, queue_ns);
}

/// When the packet has left the sender. It arrives after the packets before it.
std::uint64_t network::depart(std::uint32_t rail, std::uint32_t from, std::uint32_t to, parcel p) {
  const auto& plan = plans_[rail];
  auto& free_ns = interface_free_ns_[rail * processes_ + from];
  const auto size = p.bytes.size() + headers_bytes;
  free_ns =
      std::max(free_ns, now_ns()) + size * 1000 / std::max<std::uint64_t>(plan.bytes_per_us, 1);
  auto& there = end_of(rail, to, from);
  p.at_ns = free_ns + plan.latency_ns + (plan.jitter_ns ? dice_.below(plan.jitter_ns) : 0);
  if (!there.coming.empty()) p.at_ns = std::max(p.at_ns, there.coming.back().at_ns);
  wake(to, p.at_ns);
  note(p.at_ns ^ (std::uint64_t{from} << 40) ^ (std::uint64_t{to} << 20) ^ p.bytes.size());
  there.bytes += p.bytes.size();
  ++packets_;
  if (auto* d = driver_of(rail, to)) d->arrivals_.emplace(p.at_ns, from);
  there.coming.push_back(std::move(p));
  for (std::size_t i = there.coming.size() - 1; puts_overtake && i > 0; --i) {
    auto &before = there.coming[i - 1], &behind = there.coming[i];
    if (before.exposure != 0 || behind.exposure == 0) break;
    std::swap(before, behind);
    std::swap(before.at_ns, behind.at_ns);
  }
  return free_ns;
}

void network::tell(std::uint32_t rail, std::uint32_t process, const rails::event& what,
                   std::uint64_t at_ns) {
  if (dead_[process]) return;
  if (auto* d = driver_of(rail, process)) d->tell(what, at_ns);
  wake(process, at_ns);
}

/// Ends the connection at this end; packets on the way to it are lost.
void network::lose(std::uint32_t rail, std::uint32_t whose, std::uint32_t other, bool process_gone,
                   std::uint64_t at_ns) {
  auto& e = end_of(rail, whose, other);
  if (!uses(rail, whose, other)) {  // it accepts another connection, and has none to lose
    if (!process_gone) e.coming.clear();
    if (!process_gone) e.bytes = 0;
    return;
  }
  if (!std::exchange(e.up, false)) return;
  say(process_gone ? "the second process is gone" : "ended for the first", rail, whose, other);
  at_ns = std::max(at_ns, e.known_ns);
  if (process_gone) {  // what it sent before its end arrives
    if (!e.coming.empty()) at_ns = std::max(at_ns, e.coming.back().at_ns);
  } else {
    e.coming.clear();
    e.bytes = 0;
  }
  tell(rail, whose,
       {.kind = rails::event_kind::lost,
        .peer = driver_of(rail, whose)->peer_of(other),
        .count = process_gone ? 1u : 0u},
       at_ns);
}

void network::cut(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  const std::lock_guard guard(lock_);
  note(1);
  say("cut", rail, a, b);
  lose(rail, a, b, false, now_ns());
  lose(rail, b, a, false, now_ns());
}

void network::mute(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  const std::lock_guard guard(lock_);
  note(2);
  say("silent", rail, a, b);
  between(rail, a, b).muted = true;
}

void network::mend(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  const std::lock_guard guard(lock_);
  if (between(rail, a, b).lost) return;
  note(3);
  say("no longer silent", rail, a, b);
  between(rail, a, b).muted = false;
  connect_again(rail, a, b);
  for (const auto& [whose, other] : {std::pair{a, b}, std::pair{b, a}}) {
    auto* d = driver_of(rail, whose);
    if (!d || dead_[whose]) continue;
    for (auto& p : end_of(rail, whose, other).coming) {  // packets that were held back
      if (p.at_ns > now_ns()) continue;
      p.at_ns = now_ns();
      d->arrivals_.emplace(p.at_ns, other);
    }
    wake(whose, now_ns());
  }
}

void network::kill(std::uint32_t process, std::uint64_t known_after_ns) {
  die(process, known_after_ns, false);
}

void network::kill_machine(std::uint32_t process, std::uint64_t known_after_ns) {
  die(process, known_after_ns, true);
}

void network::die(std::uint32_t process, std::uint64_t known_after_ns, bool machine) {
  const std::lock_guard guard(lock_);
  note(4);
  dead_[process] = true;
  for (std::uint32_t rail = 0; rail < rails(); ++rail)
    for (std::uint32_t other = 0; other < processes_; ++other)
      if (other != process && uses(rail, other, process))
        lose(rail, other, process, !machine,
             now_ns() + (known_after_ns ? dice_.below(known_after_ns) : 0));
}

void network::lose_rail(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  const std::lock_guard guard(lock_);
  auto& c = between(rail, a, b);
  c.lost = c.muted = true;
  cut(rail, a, b);
}

void network::refuse_memory(std::uint32_t process, bool refuses) {
  const std::lock_guard guard(lock_);
  note(6);
  refuses_memory_[process] = refuses;
  wake(process, now_ns());
}

void network::jump(std::uint64_t ns) {
  note(7);
  set_now(now_ns() + ns);
}

void network::set_rate(std::uint32_t rail, std::uint64_t bytes_per_us) {
  const std::lock_guard guard(lock_);
  plans_[rail].bytes_per_us = bytes_per_us;
}

void network::slow_down(std::uint32_t process, std::uint64_t late_ns) {
  note(5);
  late_ns_[process] = late_ns;
}

/// A call that arrives: an end that has not noticed the loss of the old connection notices it now.
void network::connect_again(std::uint32_t rail, std::uint32_t a, std::uint32_t b) {
  auto& c = between(rail, a, b);
  if (c.muted || dead_[a] || dead_[b] || (!c.ends[0].wants && !c.ends[1].wants)) return;
  lose(rail, std::min(a, b), std::max(a, b), false, now_ns());
  lose(rail, std::max(a, b), std::min(a, b), false, now_ns());
  const auto low = std::min(a, b), high = std::max(a, b);
  if (!c.ends[0].wants && uses(rail, low, high)) return;
  if (!c.ends[1].wants && uses(rail, high, low)) return;
  say("connected again", rail, a, b);
  const auto known_ns = now_ns() + plans_[rail].latency_ns;
  for (auto& e : c.ends) {
    e = end{};
    e.known_ns = known_ns;
  }
  for (const auto& [whose, other] : {std::pair{a, b}, std::pair{b, a}})
    if (uses(rail, whose, other))
      tell(rail, whose,
           {.kind = rails::event_kind::restored, .peer = driver_of(rail, whose)->peer_of(other)},
           known_ns);
}

}  // namespace headway::simulation
