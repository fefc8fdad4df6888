#include "tests/simulation/driver.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace headway::simulation {

namespace {

constexpr std::uint64_t pause_ns = 20'000;  // after an answer by the dice

}  // namespace

driver::driver(network& net, std::uint32_t rail, std::uint32_t self, processes::table& known,
               rails::peer_id me)
    : net_(net), rail_(rail), self_(self), known_(known) {
  const std::lock_guard guard(net_.lock_);
  HEADWAY_ASSERT(net_.names_[self] == known.at(me));
  net_.drivers_[rail * net_.processes_ + self] = this;
  net_.closed_[rail * net_.processes_ + self] = false;
}

driver::~driver() {
  const std::lock_guard guard(net_.lock_);
  net_.drivers_[rail_ * net_.processes_ + self_] = nullptr;
}

rails::limits driver::query() const noexcept {
  const auto& plan = net_.plans_[rail_];
  auto stated = plan.limits;
  if (stated.latency_ns == 0) stated.latency_ns = static_cast<std::uint32_t>(plan.latency_ns);
  return stated;
}

rails::health* driver::health() noexcept { return net_.plans_[rail_].severable ? this : nullptr; }

base::result<std::vector<std::byte>> driver::open() { return std::vector<std::byte>(1); }

base::result<> driver::connect(rails::peer_id peer, std::span<const std::byte>) {
  const std::lock_guard guard(net_.lock_);
  const auto found = net_.numbers_.find(known_.at(peer));
  if (found == net_.numbers_.end())
    return base::failed(base::fault_kind::unsupported, "no such process");
  const auto other = found->second;
  others_[other] = peer;
  numbers_[peer] = other;
  for (const auto& arrival : kept_)
    if (arrival.second == other) arrivals_.insert(arrival);
  std::erase_if(kept_, [&](const auto& arrival) { return arrival.second == other; });
  if (net_.dead(other))
    net_.lose(rail_, self_, other, true, net_.now_ns() + net_.plans_[rail_].latency_ns);
  return {};
}

rails::post driver::try_later(std::uint64_t at_ns) noexcept {
  // A little later at the earliest, because the packets before it may be late themselves.
  retry_ns_ = std::min(retry_ns_, std::max(at_ns, net_.now_ns() + pause_ns));
  return rails::post::retry;
}

std::uint64_t driver::due_ns() const noexcept {
  const std::lock_guard guard(net_.lock_);
  auto due_ns = retry_ns_;
  if (!arrivals_.empty()) due_ns = std::min(due_ns, arrivals_.begin()->first);
  if (!told_.empty()) due_ns = std::min(due_ns, told_.begin()->first);
  return due_ns;
}

std::vector<rails::ticket> driver::exposed() const {
  const std::lock_guard guard(net_.lock_);
  std::vector<rails::ticket> all;
  for (const auto& [id, what] : exposures_) all.push_back({.id = id, .bytes = what.bytes.size()});
  return all;
}

void driver::answer(std::optional<rails::post> how) {
  const std::lock_guard guard(net_.lock_);
  answer_ = how;
}

void driver::report(const rails::event& what) {
  const std::lock_guard guard(net_.lock_);
  net_.tell(rail_, self_, what, net_.now_ns());
}

std::optional<rails::post> driver::refuse(rails::peer_id peer) noexcept {
  if (closed_ || net_.dead(self_) || !knows(peer)) return rails::post::down;
  const auto to = number_of(peer);
  if (net_.closed_[rail_ * net_.processes_ + to] || !net_.end_of(rail_, self_, to).up)
    return rails::post::down;
  if (answer_ == rails::post::down) return answer_;
  if (answer_ == rails::post::retry) return try_later(net_.now_ns() + pause_ns);
  const auto& there = net_.end_of(rail_, to, self_);
  if (there.bytes >= net_.plans_[rail_].flight_bytes_max) {
    if (net_.dead(to)) return rails::post::retry;  // until its end is known
    return try_later(there.coming.front().at_ns);
  }
  if (const auto at_ns = net_.takes_again_ns(rail_, self_); at_ns > net_.now_ns())
    return try_later(at_ns);
  if (!answer_ && net_.dice_.one_in(net_.temper_.retry_one_in))
    return try_later(net_.now_ns() + pause_ns);
  return std::nullopt;
}

rails::post driver::dispatch(rails::peer_id peer, network::parcel p, std::size_t payload_bytes,
                             std::uint64_t cookie) noexcept {
  const auto to = number_of(peer);
  std::uint64_t left_ns = net_.now_ns();
  if (!net_.dead(to)) {
    if (net_.doubles && p.exposure == 0 && net_.dice_.one_in(4)) net_.depart(rail_, self_, to, p);
    left_ns = net_.depart(rail_, self_, to, std::move(p));
  }
  const auto posts = [&] {
    return answer_ ? answer_ == rails::post::posted : net_.dice_.one_in(net_.temper_.posted_one_in);
  };
  if (payload_bytes <= net_.plans_[rail_].limits.inline_bytes_max || !posts())
    return rails::post::done;
  tell({.kind = rails::event_kind::sent, .peer = peer, .cookie = cookie}, left_ns);
  return rails::post::posted;
}

rails::post driver::send(rails::peer_id peer, const rails::packet& what) noexcept {
  const std::lock_guard guard(net_.lock_);
  if (const auto answer = refuse(peer)) return *answer;
  if (net_.on_packet) net_.on_packet(self_, number_of(peer), what.header);
  network::parcel p{.bytes = {what.header.begin(), what.header.end()}};
  p.bytes.insert(p.bytes.end(), what.payload.begin(), what.payload.end());
  return dispatch(peer, std::move(p), what.payload.size(), what.cookie);
}

rails::post driver::send_part(rails::peer_id peer, std::span<const std::byte> part,
                              std::size_t following) noexcept {
  const std::lock_guard guard(net_.lock_);
  if (const auto answer = refuse(peer)) return *answer;
  return dispatch(peer, {.bytes = {part.begin(), part.end()}, .following = following}, 0, 0);
}

rails::post driver::put(rails::peer_id peer, const rails::remote_place& to,
                        std::span<const std::byte> from, std::uint64_t cookie) noexcept {
  const std::lock_guard guard(net_.lock_);
  if (const auto answer = refuse(peer)) return *answer;
  if (from.empty()) return rails::post::done;
  net_.put_bytes_[rail_] += from.size();
  return dispatch(
      peer, {.bytes = {from.begin(), from.end()}, .exposure = to.exposed.id, .offset = to.offset},
      from.size(), cookie);
}

base::result<rails::ticket> driver::expose(const rails::exposure& what) noexcept {
  const std::lock_guard guard(net_.lock_);
  const bool refuses = net_.refuses_memory_[self_];
  if (refuses || net_.dice_.one_in(net_.temper_.refuse_one_in)) {
    if (!refuses) static_cast<void>(try_later(net_.now_ns() + pause_ns));
    return base::failed(base::fault_kind::no_memory, "no memory now");
  }
  exposures_[++last_exposure_] = what;
  return rails::ticket{.id = last_exposure_, .bytes = what.bytes.size()};
}

void driver::withdraw(const rails::ticket& exposed) noexcept {
  const std::lock_guard guard(net_.lock_);
  exposures_.erase(exposed.id);
}

rails::memory_limits driver::limits_to(rails::peer_id peer) const noexcept {
  const std::lock_guard guard(net_.lock_);
  const bool known = knows(peer);
  const bool readable = known && net_.plans_[rail_].readable;
  return {.put = known,
          .get = readable,
          .notifies = known,
          .direct = readable,
          .large = readable ? rails::sooner_by::measured : rails::sooner_by::put};
}

/// Gets and puts are the cheaper way by turns, so that large messages that cross go both ways.
rails::copy_costs driver::costs_with(rails::peer_id) const noexcept {
  const std::lock_guard guard(net_.lock_);
  return {.put = 2, .get = ++costs_asked_ % 2 == 0 ? 1U : 3U};
}

/// All simulated processes are in one.
rails::post driver::get(rails::peer_id peer, const rails::remote_place& from,
                        std::span<std::byte> to, std::uint64_t) noexcept {
  const std::lock_guard guard(net_.lock_);
  if (closed_ || !knows(peer) || !net_.plans_[rail_].readable) return rails::post::down;
  // A process that has given this one up, or has closed, uses its memory for something else.
  const auto other = number_of(peer);
  if (net_.dead(other) || net_.closed_[rail_ * net_.processes_ + other] ||
      !net_.end_of(rail_, other, self_).up || !net_.end_of(rail_, self_, other).up)
    return rails::post::down;
  std::uint64_t address = from.exposed.address;
  if (from.exposed.id != 0) {
    const driver* owner = net_.driver_of(rail_, other);
    if (!owner || !owner->knows(self_)) return rails::post::down;
    const auto found = owner->exposures_.find(from.exposed.id);
    if (found == owner->exposures_.end() || !found->second.who.has(owner->peer_of(self_)))
      return rails::post::down;
    address = reinterpret_cast<std::uintptr_t>(found->second.bytes.data());
  }
  if (!to.empty())
    std::memcpy(to.data(), reinterpret_cast<const std::byte*>(address) + from.offset, to.size());
  return rails::post::done;
}

void driver::tell(const rails::event& what, std::uint64_t at_ns) { told_.emplace(at_ns, what); }

/// False, without an event: the bytes are no longer exposed.
bool driver::take(std::uint32_t from, network::parcel& p, rails::event& e) {
  if (p.exposure == 0) {
    held_.push_back(std::move(p.bytes));
    auto& following = net_.end_of(rail_, self_, from).following;
    const bool goes_on = std::exchange(following, p.following) > 0;
    e = {.kind = goes_on ? rails::event_kind::continued : rails::event_kind::received,
         .peer = peer_of(from),
         .count = p.following,
         .bytes = held_.back()};
    return true;
  }
  const auto found = exposures_.find(p.exposure);
  if (found == exposures_.end() || !found->second.who.has(peer_of(from))) return false;
  const auto& shown = found->second;
  if (!rails::allows(shown.rights, rails::access::put) || p.offset > shown.bytes.size() ||
      p.bytes.size() > shown.bytes.size() - p.offset)
    return false;
  std::memcpy(shown.bytes.data() + p.offset, p.bytes.data(), p.bytes.size());
  if (!rails::allows(shown.rights, rails::access::notified)) return false;
  e = {.kind = rails::event_kind::landed,
       .peer = peer_of(from),
       .count = p.bytes.size(),
       .cookie = shown.token};
  return true;
}

std::size_t driver::reap(std::span<rails::event> out) noexcept {
  constexpr std::uint64_t end_step_ns = 100'000'000;
  const std::lock_guard guard(net_.lock_);
  if (net_.running_out_) net_.set_now(net_.now_ns() + end_step_ns);
  if (closed_) return report_ends(out);
  std::size_t count = 0;
  const auto now_ns = net_.now_ns();
  if (retry_ns_ <= now_ns) retry_ns_ = UINT64_MAX;
  while (count < out.size() && !arrivals_.empty() && arrivals_.begin()->first <= now_ns) {
    const auto [at_ns, from] = *arrivals_.begin();
    arrivals_.erase(arrivals_.begin());
    if (!knows(from)) {  // kept until `connect`
      if (called_.insert(from).second)
        out[count++] = {.kind = rails::event_kind::called, .peer = known_.add(net_.names_[from])};
      kept_.emplace_back(at_ns, from);
      continue;
    }
    auto& c = net_.between(rail_, self_, from);
    auto& e = c.ends[self_ > from];
    // Lost with a connection that was cut, or held back until `mend`.
    if (c.muted || e.coming.empty() || e.coming.front().at_ns != at_ns) continue;
    auto p = std::move(e.coming.front());
    e.coming.pop_front();
    e.bytes -= p.bytes.size();
    for (auto& one : c.ends) one.active_ns = now_ns;  // the receiver's machine acknowledges it
    if (take(from, p, out[count])) ++count;
  }
  while (count < out.size() && !told_.empty() && told_.begin()->first <= now_ns) {
    out[count++] = told_.begin()->second;
    told_.erase(told_.begin());
  }
  return count;
}

/// After `close`: only how posted packets and operations have ended.
std::size_t driver::report_ends(std::span<rails::event> out) noexcept {
  std::size_t count = 0;
  for (; count < out.size() && !told_.empty(); told_.erase(told_.begin()))
    if (told_.begin()->second.kind == rails::event_kind::sent) out[count++] = told_.begin()->second;
  return count;
}

void driver::release(const rails::event& received) noexcept {
  const std::lock_guard guard(net_.lock_);
  HEADWAY_ASSERT(!held_.empty() && held_.front().data() == received.bytes.data());
  held_.pop_front();
}

void driver::sever(rails::peer_id peer) noexcept {
  const std::lock_guard guard(net_.lock_);
  if (!knows(peer)) return;
  const auto other = number_of(peer);
  net_.lose(rail_, self_, other, false, net_.now_ns());
  if (!net_.between(rail_, self_, other).muted)
    net_.lose(rail_, other, self_, false, net_.now_ns() + net_.plans_[rail_].latency_ns);
}

void driver::revive(rails::peer_id peer) noexcept {
  const std::lock_guard guard(net_.lock_);
  if (!knows(peer)) return;
  const auto other = number_of(peer);
  auto& e = net_.end_of(rail_, self_, other);
  if (e.up) return;
  e.wants = true;
  net_.say("the first calls again", rail_, self_, other);
  net_.connect_again(rail_, self_, other);
}

std::uint64_t driver::last_activity_ns(rails::peer_id peer) noexcept {
  const std::lock_guard guard(net_.lock_);
  if (!net_.plans_[rail_].tells_activity || !knows(peer)) return 0;
  const auto other = number_of(peer);
  return net_.end_of(rail_, self_, other).active_ns;
}

void driver::close() noexcept {
  const std::lock_guard guard(net_.lock_);
  closed_ = net_.closed_[rail_ * net_.processes_ + self_] = true;
}

}  // namespace headway::simulation
