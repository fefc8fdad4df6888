#include "tests/simulation/endpoint_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/simulation/pattern.hpp"

namespace headway::simulation {
namespace {

using endpoints::no_wait;

constexpr std::int32_t letter_tags = 2;
constexpr std::size_t hoarded_bytes_max = 1 << 20;  // what no message exceeds

/// The first bytes of each message that is long enough.
struct letter_head {
  std::uint32_t from, from_point, to, to_point;
  std::int32_t tag;
  std::uint32_t number;
};

letter_head head_of(const planned_letter& what) {
  return {what.from, what.from_point, what.to, what.to_point, what.tag, what.number};
}

std::uint64_t key_of(const planned_letter& what) {
  return (std::uint64_t{what.from} << 40) ^ (std::uint64_t{what.number} << 8) ^
         (std::uint64_t{what.to_point} << 4) ^ static_cast<std::uint64_t>(what.tag);
}

std::string name_of(std::uint32_t process, std::uint32_t point) {
  return fmt::format("{}.{}", process, point);
}

}  // namespace

endpoint_plan::endpoint_plan(std::uint32_t processes, std::uint32_t messages, std::size_t bytes_max,
                             std::uint64_t seed)
    : sends(processes), ids(processes), dead(processes) {
  dice d(seed);
  for (std::uint32_t i = 0; i < messages; ++i) {
    planned_letter l;
    l.from = static_cast<std::uint32_t>(d.below(processes));
    const auto reach = d.one_in(4) ? processes : std::min(processes, 3u);
    l.to = (l.from + static_cast<std::uint32_t>(d.below(reach))) % processes;  // or to itself
    l.from_point = static_cast<std::uint32_t>(d.below(points_each));
    l.to_point = static_cast<std::uint32_t>(d.below(points_each));
    l.tag = static_cast<std::int32_t>(d.below(letter_tags));
    std::size_t most = sizeof(letter_head);
    while (most < bytes_max && !d.one_in(10)) most *= 2;
    l.bytes =
        d.between(sizeof(letter_head), std::max(std::min(most, bytes_max), sizeof(letter_head)));
    l.keep = d.one_in(5);
    sends[l.from].push_back(l);
  }
  for (auto& list : sends)
    for (auto& l : list) {
      auto& in_order = lines[line_of(l)];
      l.number = static_cast<std::uint32_t>(in_order.size());
      in_order.push_back(&l);
    }
}

endpoint_traffic::endpoint_traffic(process& on, endpoint_plan& all, std::uint64_t seed, bool names)
    : on_(on), plan_(all), service_(*on.endpoints()), dice_(seed), names_(names) {
  for (std::uint32_t point = 0; point < points_each; ++point) {
    const auto name = names ? name_of(on.self(), point) : std::string();
    if (service_.start_open(name, claims_[point], plan_.ids[on.self()][point]) !=
        endpoints::outcome::ok)
      complain("an end-point does not open");
  }
  for (const auto& [line, letters] : plan_.lines)
    if (line.to == on.self()) missing_ += letters.size();
}

endpoint_traffic::~endpoint_traffic() = default;

void endpoint_traffic::complain_of(const planned_letter& what, const std::string& why) {
  complain(fmt::format("process {}: end-point {}.{} -> {}.{}, tag {}, number {}, {} bytes{}: {}",
                       on_.self(), what.from, what.from_point, what.to, what.to_point, what.tag,
                       what.number, what.bytes, what.keep ? ", kept" : "", why));
}

// ---- names --------------------------------------------------------------------------------------

void endpoint_traffic::process_died(std::uint32_t which) {
  plan_.dead[which] = true;
  if (plan_.dead[on_.self()]) return;
  blocked_ = false;
  for (const auto& [line, letters] : plan_.lines)
    if (line.to == on_.self() && line.from == which) missing_ -= letters.size() - came_[line];
  for (auto& [whose, one] : lookups_) {
    if (whose.first != which || one->over || one->q.test()) continue;
    one->over = service_.cancel(one->q);
  }
}

/// The receiver's name was found, or is not needed.
bool endpoint_traffic::knows(const planned_letter& what) {
  if (!names_ || plan_.dead[what.to]) return true;
  auto& one = lookups_[{what.to, what.to_point}];
  if (!one) {
    one = std::make_unique<lookup>();
    if (service_.start_lookup(name_of(what.to, what.to_point), one->q) != endpoints::outcome::ok)
      complain("a look-up does not start");
    check_names();
  }
  return one->over;
}

void endpoint_traffic::check_names() {
  for (auto& claim : claims_)
    if (claim.test() && claim.how != endpoints::outcome::ok)
      complain(fmt::format("process {}: a name is not registered, {}", on_.self(),
                           static_cast<int>(claim.how)));
  for (auto& [whose, one] : lookups_) {
    if (one->over || !one->q.test()) continue;
    one->over = true;
    const bool found = one->q.how == endpoints::outcome::ok;
    const endpoints::address due{whose.first, plan_.ids[whose.first][whose.second]};
    if (plan_.dead[whose.first] || (found && one->q.owner == due)) continue;
    complain(fmt::format("process {}: looking for the name of {}.{} ended as {}, with {}.{}",
                         on_.self(), whose.first, whose.second, static_cast<int>(one->q.how),
                         one->q.owner.process, one->q.owner.id));
  }
}

// ---- buffers ------------------------------------------------------------------------------------

void endpoint_traffic::own(std::byte* data) {
  std::size_t bytes = 0;
  if (service_.capacity(data, bytes) != endpoints::outcome::ok)
    return complain("a buffer is not known");
  const auto after = plan_.held.upper_bound(data);
  if ((after != plan_.held.end() && after->first < data + bytes) ||
      (after != plan_.held.begin() && std::prev(after)->second > data))
    complain(fmt::format("process {}: a buffer of {} bytes has two owners", on_.self(), bytes));
  plan_.held[data] = data + bytes;
  if (service_.bytes_taken() > 2 * on_.endpoint_bytes_max())  // a half is for arrivals
    complain(fmt::format("process {}: buffers take {} bytes", on_.self(), service_.bytes_taken()));
}

void endpoint_traffic::disown(std::byte* data) { plan_.held.erase(data); }

void endpoint_traffic::expect_contents(const held_buffer& one, const char* when) {
  if (!has_pattern(std::span(one.data, one.bytes), head_of(*one.what), key_of(*one.what)))
    complain_of(*one.what, when);
}

void endpoint_traffic::release(const held_buffer& one) {
  expect_contents(one, "was written to while its program held it");
  blocked_ = false;  // it may have waited for memory
  disown(one.data);
  if (service_.release(one.data) != endpoints::outcome::ok)
    complain_of(*one.what, "is not released");
}

void endpoint_traffic::hoard(bool takes) {
  for (std::size_t bytes = hoarded_bytes_max; takes && bytes > 0; bytes /= 2)
    for (void* data = nullptr; service_.request(bytes, &data) == endpoints::outcome::ok;) {
      hoard_.push_back(static_cast<std::byte*>(data));
      own(hoard_.back());
    }
  for (; !takes && !hoard_.empty(); hoard_.pop_back()) {
    disown(hoard_.back());
    if (service_.release(hoard_.back()) != endpoints::outcome::ok)
      complain("a buffer is not released");
  }
}

// ---- sending ------------------------------------------------------------------------------------

bool endpoint_traffic::send_next() {
  const auto& what = plan_.sends[on_.self()][next_];
  if (!knows(what)) return false;
  if (!waiting_) {
    void* data = nullptr;
    if (service_.request(what.bytes, &data) != endpoints::outcome::ok) return false;
    waiting_ = static_cast<std::byte*>(data);
    own(waiting_);
    write_pattern(std::span(waiting_, what.bytes), head_of(what), key_of(what));
  }
  disown(waiting_);  // a receiver may have it before the call returns
  const auto how = service_.send({.to = {what.to, plan_.ids[what.to][what.to_point]},
                                  .tag = what.tag,
                                  .from = plan_.ids[on_.self()][what.from_point],
                                  .data = waiting_,
                                  .bytes = what.bytes,
                                  .keep = what.keep},
                                 no_wait);
  const held_buffer one{waiting_, what.bytes, &what};
  if (how != endpoints::outcome::ok || what.keep) own(waiting_);
  if (how == endpoints::outcome::again || how == endpoints::outcome::no_memory) return false;
  ++next_;
  waiting_ = nullptr;
  if (how == endpoints::outcome::ok) {
    auto& ahead = plan_.ahead[{what.from, what.to, what.to_point}];
    if (++ahead > static_cast<int>(on_.window()) && what.from != what.to)
      complain_of(what,
                  fmt::format("{} messages are under way, the window is {}", ahead, on_.window()));
    if (what.keep) kept_.push_back(one);
    return true;
  }
  release(one);
  ++failed_;
  if (how != endpoints::outcome::gone || !plan_.dead[what.to])
    complain_of(what, fmt::format("its send ended as {}", static_cast<int>(how)));
  return true;
}

void endpoint_traffic::look_at_kept() {
  std::erase_if(kept_, [&](const held_buffer& one) {
    bool idle = false;
    if (service_.probe(one.data, idle) != endpoints::outcome::ok)
      complain_of(*one.what, "is not probed");
    if (idle) release(one);
    return idle;
  });
}

// ---- receiving ----------------------------------------------------------------------------------

void endpoint_traffic::arrived(std::uint32_t point, const endpoints::message& got) {
  auto* data = static_cast<std::byte*>(got.data);
  own(data);
  letter_head head{};
  if (got.bytes < sizeof head) return complain("a message is too short for its head");
  std::memcpy(&head, data, sizeof head);
  const planned_letter claimed{.from = head.from,
                               .to = head.to,
                               .from_point = head.from_point,
                               .to_point = head.to_point,
                               .tag = head.tag,
                               .number = head.number,
                               .bytes = got.bytes};
  const auto found = plan_.lines.find(endpoint_plan::line_of(claimed));
  if (found == plan_.lines.end()) return complain_of(claimed, "was never sent");
  auto& came = came_[found->first];
  // Of a process that has died, large messages may be missing that were announced.
  if (plan_.dead[head.from]) came = std::max(came, head.number);
  if (came >= found->second.size()) return complain_of(claimed, "comes once too often");
  const auto& what = *found->second[came++];
  if (!plan_.dead[head.from]) --missing_;
  if (head.to != on_.self() || head.to_point != point) complain_of(claimed, "is not for this one");
  if (head.number != what.number)
    return complain_of(what, fmt::format("number {} came in its place", head.number));
  if (got.bytes != what.bytes || got.tag != what.tag || got.from.process != what.from ||
      got.from.id != plan_.ids[what.from][what.from_point])
    complain_of(
        what, fmt::format("{} bytes with tag {} of {} came", got.bytes, got.tag, got.from.process));
  --plan_.ahead[{what.from, what.to, what.to_point}];
  read_.push_back({data, got.bytes, &what});
  expect_contents(read_.back(), "is damaged");
  ++checked_;
  while (read_.size() > held_max || (!read_.empty() && dice_.one_in(3))) {
    release(read_.front());
    read_.pop_front();
  }
}

bool endpoint_traffic::receive(std::uint32_t point, std::int32_t tag) {
  endpoints::message got;
  const auto how =
      service_.receive(plan_.ids[on_.self()][point], {.from = {}, .tag = tag}, no_wait, got);
  if (how == endpoints::outcome::ok) arrived(point, got);
  else if (how != endpoints::outcome::again)
    complain(fmt::format("a receive ends as {}", static_cast<int>(how)));
  return how == endpoints::outcome::ok;
}

bool endpoint_traffic::receive_one() {
  const auto first_tag = static_cast<std::int32_t>(dice_.below(letter_tags));
  return receive(0, endpoints::any_tag) || receive(1, first_tag) || receive(1, 1 - first_tag);
}

void endpoint_traffic::check(bool advanced) {
  constexpr std::uint64_t without_reason = 8;  // once in so many calls, although nothing advanced
  check_names();
  look_at_kept();
  const bool tries = advanced || dice_.one_in(without_reason);
  if (tries) blocked_ = false;
  unread_ |= tries;
  while (unread_ && !dice_.one_in(8)) unread_ = receive_one();
}

void endpoint_traffic::start_some() {
  while (receive_one()) {
  }
  unread_ = false;
  blocked_ = false;
  while (has_to_send() && !blocked_ && !dice_.one_in(6)) blocked_ = !send_next();
  // A send, of this or another process, may wait for the release of these buffers.
  for (; !read_.empty() && !dice_.one_in(3); read_.pop_front()) release(read_.front());
}

bool endpoint_traffic::may_start() const {
  return (has_to_send() && !blocked_) || unread_ || !read_.empty();
}

bool endpoint_traffic::done() const {
  if (has_to_send() || !kept_.empty() || !read_.empty() || !hoard_.empty()) return false;
  if (!std::ranges::all_of(claims_, [](const auto& one) { return one.test(); })) return false;
  return missing_ == 0;
}

void endpoint_traffic::close() {}

std::string endpoint_traffic::state() const {
  const auto came = std::accumulate(came_.begin(), came_.end(), std::uint64_t{0},
                                    [](auto all, const auto& one) { return all + one.second; });
  std::string text = fmt::format(" {} of {} messages to end-points sent, {} came;", next_,
                                 plan_.sends[on_.self()].size(), came);
  for (std::uint32_t point = 0; point < points_each; ++point)
    if (!claims_[point].test()) text += fmt::format(" name {} is not registered;", point);
  for (const auto& [whose, one] : lookups_)
    if (!one->over) text += fmt::format(" looks for {}.{};", whose.first, whose.second);
  if (!kept_.empty())
    text += fmt::format(" {} kept, the first of {} bytes to {};", kept_.size(), kept_[0].bytes,
                        kept_[0].what->to);
  for (const auto& [line, letters] : plan_.lines) {
    if (line.to != on_.self()) continue;
    const auto found = came_.find(line);
    const auto so_far = found == came_.end() ? 0 : found->second;
    if (so_far < letters.size())
      text += fmt::format(" {} of {} from {} to point {} tag {};", so_far, letters.size(),
                          line.from, line.to_point, line.tag);
  }
  return text;
}

}  // namespace headway::simulation
