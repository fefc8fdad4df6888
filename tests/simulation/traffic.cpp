#include "tests/simulation/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <utility>

#include "tests/simulation/pattern.hpp"

namespace headway::simulation {
namespace {

constexpr std::int32_t tags = 3;
constexpr std::uint32_t exact_id = 10, wild_id = 11;
constexpr std::size_t stored_bytes_max = 1024;  // of messages whose storage is summed up
constexpr std::size_t wild_bytes_max = 20'000;  // of what follows the label

/// The first bytes of each message.
struct label {
  std::uint32_t from, to;
  std::int32_t tag;
  std::uint32_t number;
};

label label_of(const planned& what) { return {what.from, what.to, what.tag, what.number}; }

std::uint64_t key_of(const planned& what) {
  return (std::uint64_t{what.from} << 40) ^ (std::uint64_t{what.number} << 8) ^
         static_cast<std::uint64_t>(what.tag);
}

std::size_t any_size(dice& d, std::size_t bytes_max) {
  // Empty and short ones often, large ones seldom; all powers of two alike.
  if (d.one_in(12)) return 0;
  std::size_t most = 1;
  while (most < bytes_max && !d.one_in(12)) most *= 2;
  return d.below(std::min(most, bytes_max) + 1);
}

}  // namespace

plan::plan(std::uint32_t processes, std::uint32_t messages, std::size_t bytes_max,
           std::uint64_t seed)
    : wild_bytes(sizeof(label) + std::min(bytes_max, wild_bytes_max)),
      sends(processes),
      receives(processes),
      wild_receives(processes) {
  dice d(seed);
  struct line {
    std::uint32_t from, to;
    std::int32_t tag;
    bool any;
    auto operator<=>(const line&) const = default;
  };
  std::map<line, std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < messages; ++i) {
    planned m;
    m.from = static_cast<std::uint32_t>(d.below(processes));
    // Most go to a few neighbours, as in programs; some to any process, none to the sender.
    const auto reach = d.one_in(4) ? processes - 1 : std::min(processes - 1, 4u);
    m.to = (m.from + 1 + static_cast<std::uint32_t>(d.below(reach))) % processes;
    m.tag = static_cast<std::int32_t>(d.below(tags));
    m.any_source = d.one_in(4);
    m.synchronous = d.one_in(10);
    // A receive of any source must see from the message which one it is.
    m.bytes = m.any_source ? sizeof(label) + any_size(d, wild_bytes - sizeof(label))
                           : any_size(d, bytes_max);
    m.number = numbers[{m.from, m.to, m.tag, m.any_source}]++;
    sends[m.from].push_back(m);
  }
  // One order of all messages, which each sender and each receiver follows: the first message of it
  // that is not over has been started at both ends. Receives of any source may take each other's
  // messages: they are all posted without regard to the others.
  std::vector<std::size_t> at(processes);
  for (std::uint32_t left = messages; left > 0;) {
    const auto from = static_cast<std::uint32_t>(d.below(processes));
    if (at[from] == sends[from].size()) continue;
    auto& m = sends[from][at[from]++];
    (m.any_source ? wild_receives : receives)[m.to].push_back(&m);
    --left;
  }
}

struct traffic::transfer {
  planned* what = nullptr;
  bool receives = false;
  std::vector<std::byte> bytes;
  messages::request request;

  /// It may take the message that was meant for another one.
  [[nodiscard]] bool wild() const noexcept { return receives && what->any_source; }
};

traffic::traffic(process& on, plan& all, std::uint64_t seed)
    : on_(on), plan_(all), dice_(seed), exact_(on.open(exact_id)), wild_(on.open(wild_id)) {}

traffic::~traffic() = default;

void traffic::close() {
  for (auto* context : {exact_, wild_}) on_.messages().close_context(context);
}

void traffic::complain_of(const planned& what, const std::string& why) {
  complain(fmt::format("process {}: message {} -> {}, tag {}, number {}, {} bytes{}: {}",
                       on_.self(), what.from, what.to, what.tag, what.number, what.bytes,
                       what.any_source ? ", any source" : "", why));
}

/// Larger messages, and those of any source, are not counted: they are more than is summed up.
void traffic::note_stored(planned& what, bool received) {
  if (what.any_source || what.synchronous || what.bytes > stored_bytes_max) return;
  auto& bytes = plan_.stored[{what.from, what.to}];
  (received ? what.came : what.left) = true;
  if (!received && !what.came) bytes += what.bytes;
  if (received && what.left) bytes -= what.bytes;
  // Those for which there was no credit are announced, and sent when they are received.
  const auto most = on_.credit_bytes() + under_way_max * stored_bytes_max;
  if (bytes > most)
    complain_of(what, fmt::format("{} bytes are stored, credit is {}", bytes, most));
}

void traffic::start_send(planned& what) {
  auto t = std::make_unique<transfer>();
  t->what = &what;
  t->bytes.resize(what.bytes);
  write_pattern(t->bytes, label_of(what), key_of(what));
  auto& started = *sends_.emplace_back(std::move(t));
  on_.messages().send(
      *(what.any_source ? wild_ : exact_), started.request, started.bytes,
      static_cast<int>(what.to), what.tag,
      what.synchronous ? messages::send_mode::synchronous : messages::send_mode::standard);
}

void traffic::start_receive(planned& what) {
  auto t = std::make_unique<transfer>();
  t->what = &what;
  t->receives = true;
  t->bytes.resize(what.any_source ? plan_.wild_bytes : what.bytes);
  auto& started = *(what.any_source ? wild_receives_ : receives_).emplace_back(std::move(t));
  on_.messages().receive(*(what.any_source ? wild_ : exact_), started.request, started.bytes,
                         what.any_source ? messages::any_source : static_cast<int>(what.from),
                         what.tag);
}

void traffic::check(transfer& t) {
  const auto& got = t.request.arrived;
  if (got.how == messages::outcome::peer_lost || got.how == messages::outcome::failed) {
    ++failed_;
    return;  // the world checks whether a process was lost
  }
  if (!t.what->any_source) note_stored(*t.what, t.receives);
  if (!t.receives) return;
  planned what = *t.what;
  if (got.how != messages::outcome::ok) return complain_of(what, "was cut or cancelled");
  if (what.any_source) {
    label head{};
    if (got.bytes < sizeof head) return complain_of(what, "is too short for its label");
    std::memcpy(&head, t.bytes.data(), sizeof head);
    what.from = head.from;
    what.tag = head.tag;
    auto& expected = wild_numbers_[{head.from, head.tag}];
    what.number = died_ ? std::max(expected, head.number) : expected;
    expected = what.number + 1;
    what.bytes = got.bytes;
    if (head.number != what.number)
      return complain_of(what, fmt::format("number {} came in its place", head.number));
    if (head.to != on_.self()) return complain_of(what, "was for another process");
  }
  if (got.source != static_cast<int>(what.from) || got.tag != what.tag)
    return complain_of(what, fmt::format("came from {} with tag {}", got.source, got.tag));
  if (got.bytes != what.bytes) return complain_of(what, fmt::format("{} bytes came", got.bytes));
  if (!has_pattern(std::span(t.bytes).first(what.bytes), label_of(what), key_of(what)))
    return complain_of(what, "is damaged");
  ++checked_;
}

void traffic::look(std::deque<std::unique_ptr<transfer>>& list) {
  // Receives of any source match in the order in which they were posted, tag by tag: a message that
  // is checked before an earlier one would be counted before it.
  std::array<bool, tags> open{};
  const auto none_follows = [&](const transfer& t) {
    return t.wild() && std::ranges::all_of(open, std::identity{});
  };
  auto at = list.begin();
  for (; at != list.end() && !none_follows(**at); ++at) {
    auto& passed_over = open[static_cast<std::size_t>((*at)->what->tag)];
    if (((*at)->wild() && passed_over) || !(*at)->request.test()) {
      passed_over = true;
      continue;
    }
    check(**at);
    at->reset();
  }
  list.erase(std::remove(list.begin(), at, nullptr), at);
}

void traffic::check(bool) {
  look(receives_);
  look(wild_receives_);
  look(sends_);
}

bool traffic::may_send() const noexcept {
  // After a death, receives that may wait for ever do not count against the limit.
  const auto counts = [&](const auto& t) { return !died_ || !t->what->any_source; };
  return next_send_ < plan_.sends[on_.self()].size() &&
         static_cast<std::size_t>(std::ranges::count_if(sends_, counts)) < under_way_max;
}

bool traffic::may_receive() const noexcept {
  return next_receive_ < plan_.receives[on_.self()].size() && receives_.size() < under_way_max;
}

bool traffic::may_take_any() const noexcept {
  return next_wild_ < plan_.wild_receives[on_.self()].size();
}

bool traffic::may_start() const { return may_send() || may_receive() || may_take_any(); }

void traffic::start_some() {
  while (may_start() && !dice_.one_in(4)) {
    if (may_send() && dice_.one_in(2)) start_send(plan_.sends[on_.self()][next_send_++]);
    if (may_receive() && dice_.one_in(2))
      start_receive(*plan_.receives[on_.self()][next_receive_++]);
    if (may_take_any() && dice_.one_in(2))
      start_receive(*plan_.wild_receives[on_.self()][next_wild_++]);
  }
}

bool traffic::done() const {
  const auto exact = [](const auto& t) { return !t->what->any_source; };
  const bool sent = next_send_ == plan_.sends[on_.self()].size() &&
                    (died_ ? std::ranges::none_of(sends_, exact) : sends_.empty());
  const bool received = next_receive_ == plan_.receives[on_.self()].size() && receives_.empty();
  const bool received_any =
      died_ || (next_wild_ == plan_.wild_receives[on_.self()].size() && wild_receives_.empty());
  return sent && received && received_any;
}

std::string traffic::state() const {
  std::string text =
      fmt::format(" {} of {} sends and {} of {} receives started;", next_send_,
                  plan_.sends[on_.self()].size(), next_receive_, plan_.receives[on_.self()].size());
  for (const auto* list : {&sends_, &receives_, &wild_receives_})
    for (const auto& t : *list)
      text +=
          fmt::format(" {} {}->{} tag {} number {} {} bytes{};", t->receives ? "receives" : "sends",
                      t->what->from, t->what->to, t->what->tag, t->what->number, t->what->bytes,
                      t->what->any_source ? " any source" : "");
  return text;
}

}  // namespace headway::simulation
