#include "collectives/schedule.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/assert.hpp"
#include "collectives/shared_exchange.hpp"

namespace headway::collectives {
namespace {

using messages::outcome;

/// A blocking round of so many messages waits for each; a larger one once for all of them.
constexpr int messages_waited_singly_max = 2;

[[maybe_unused]] bool apart(const void* a, const void* b, std::int64_t bytes) noexcept {
  const auto* one = static_cast<const std::byte*>(a);
  const auto* other = static_cast<const std::byte*>(b);
  return std::less_equal<>()(one + bytes, other) || std::less_equal<>()(other + bytes, one);
}

}  // namespace

schedule::turn::turn(schedule& whose) noexcept
    : ltask("collective schedule", on_turn, progress::ltask_kind::one_shot), owner(whose) {}

schedule::schedule() : turn_(*this) {}
schedule::~schedule() = default;

void schedule::open_round() {
  if (open_ != none) return;
  open_ = steps_.size();
  add({.what = kind::open,
       .number = 0,
       .amount = 0,
       .from = nullptr,
       .to = nullptr,
       .type = nullptr});
}

void schedule::send(int peer, const void* from, std::int64_t bytes) {
  HEADWAY_DEBUG_ASSERT(peer >= 0 && bytes >= 0);
  open_round();
  ++steps_[open_].number;
  add({kind::send, bound_rank(peer), bytes, from, nullptr, nullptr});
}

void schedule::receive(int peer, void* to, std::int64_t bytes) {
  HEADWAY_DEBUG_ASSERT(peer >= 0 && bytes >= 0);
  open_round();
  ++steps_[open_].number;
  add({kind::receive, bound_rank(peer), bytes, nullptr, to, nullptr});
}

void schedule::close_round() {
  if (open_ == none) return;
  const int messages = steps_[open_].number;
  open_ = none;
  add({kind::close, messages, 0, nullptr, nullptr, nullptr});
  if (messages > requests_held_) {
    requests_held_ = std::max(messages, 4);
    requests_ = std::make_unique<messages::request[]>(static_cast<std::size_t>(requests_held_));
  }
}

void schedule::copy(const void* from, void* to, std::int64_t bytes) {
  HEADWAY_DEBUG_ASSERT(bytes >= 0 && (from == to || apart(from, to, bytes)));
  if (bytes > 0 && from != to) add({kind::copy, 0, bytes, from, to, nullptr});
}

void schedule::pack(const datatypes::layout& type, const void* from, std::int64_t count,
                    std::byte* to) {
  HEADWAY_DEBUG_ASSERT(count >= 0);
  if (count > 0) add({kind::pack, 0, count, from, to, &type});
}

void schedule::unpack(const datatypes::layout& type, const std::byte* from, void* to,
                      std::int64_t count) {
  HEADWAY_DEBUG_ASSERT(count >= 0);
  if (count > 0) add({kind::unpack, 0, count, from, to, &type});
}

void schedule::combine(const void* left, void* right, std::int64_t count) {
  HEADWAY_DEBUG_ASSERT(count >= 0);
  if (count > 0) add({kind::combine, 0, count, left, right, nullptr});
}

void schedule::add_exchange(shared_exchange& what) {
  auto* const free = std::ranges::find(exchanges_, nullptr);
  HEADWAY_ASSERT(free != std::end(exchanges_));
  *free = &what;
  add({kind::exchange, 0, 0, nullptr, &what, nullptr});
}

void schedule::bind(team& ranks, const call& what) noexcept {
  via_ = &ranks.via;
  ranks.log.note(what.word());
  const auto operation = ranks.next_operation();
  label_ = {messages::operation_tags.of(static_cast<unsigned>(operation)), ranks.log.history()};
  if (!persistent_) bind_exchanges(operation, ranks.log.history());
}

void schedule::bind_exchanges(std::uint64_t operation, std::uint64_t history) noexcept {
  for (auto* each : exchanges_)
    if (each) each->bind(operation, history);
}

std::optional<std::int64_t> schedule::stream_bytes_max() const noexcept {
  std::optional<std::int64_t> most;
  for (const auto* each : exchanges_)
    if (each) most = std::max(most.value_or(0), each->stream_bytes());
  return most;
}

void schedule::clear() noexcept {
  steps_.clear();
  kept_.clear();
  for (const held& h : held_) h.let_go(h.what);
  held_.clear();
  scratch_.clear();
  ranks_ = {};
  open_ = none;
  via_ = nullptr;
  std::ranges::fill(exchanges_, nullptr);
  persistent_ = false;
  own_banks_ = nullptr;
  refused_ = false;
  reset();
}

void schedule::rewind() noexcept {
  HEADWAY_DEBUG_ASSERT(via_ != nullptr && open_ == none);
  next_ = 0;
  how_ = refused_ ? outcome::failed : outcome::ok;
  failed_rank_ = -1;
}

void schedule::begin_round(const step& open, messages::request::finisher finish) noexcept {
  round_ = next_;
  posted_ = 0;
  finish_ = finish;
  // Relaxed: posting the requests publishes it to the threads that complete them.
  if (finish) outstanding_.store(open.number + 1, std::memory_order_relaxed);
}

void schedule::post(const step& s) noexcept {
  HEADWAY_DEBUG_ASSERT(posted_ < steps_[round_ - 1].number);  // as the round's `open` says
  auto& r = requests_[static_cast<std::size_t>(posted_++)];
  r.reset();
  r.finish = finish_;
  r.owner = this;
  r.background = false;  // the schedule is counted as a whole, or a thread waits for it
  if (s.what == kind::receive) {
    via_->receive(r, {static_cast<std::byte*>(s.to), static_cast<std::size_t>(s.amount)}, s.number,
                  label_);
    return;
  }
  const auto bytes = static_cast<std::size_t>(s.amount);
  if (how_ != outcome::ok) return via_->send_failure(r, how_, bytes, s.number, label_);
  via_->send(r, {static_cast<const std::byte*>(s.from), bytes}, s.number, label_);
}

void schedule::local(const step& s) noexcept {
  if (how_ != outcome::ok) return;
  switch (s.what) {
    case kind::copy:
      std::memcpy(s.to, s.from, static_cast<std::size_t>(s.amount));
      break;
    case kind::pack:
      s.type->pack(s.from, s.amount, static_cast<std::byte*>(s.to));
      break;
    case kind::unpack:
      s.type->unpack(static_cast<const std::byte*>(s.from), s.to, s.amount);
      break;
    case kind::combine:
      HEADWAY_DEBUG_ASSERT(reducer_.apply != nullptr);
      reducer_.apply(reducer_, s.from, s.to, s.amount);
      break;
    default:
      break;
  }
}

outcome schedule::run() noexcept {
  rewind();
  while (next_ < steps_.size()) {
    const step& s = steps_[next_++];
    switch (s.what) {
      case kind::open: {
        const bool singly = s.number <= messages_waited_singly_max;
        begin_round(s, singly ? nullptr : on_counted);
        break;
      }
      case kind::send:
      case kind::receive:
        post(s);
        break;
      case kind::close:
        wait_round();
        check_round();
        break;
      case kind::exchange: {
        auto& x = *static_cast<shared_exchange*>(s.to);
        if (!x.advance_spinning(how_ != outcome::ok)) x.wait();
        check(x);
        break;
      }
      default:
        local(s);
    }
  }
  return how_;
}

void schedule::wait_round() noexcept {
  if (!finish_) {
    for (int i = 0; i < posted_; ++i) {
      auto& r = requests_[static_cast<std::size_t>(i)];
      if (!r.test()) via_->wait(r);
    }
    return;
  }
  if (last_of_round()) return;
  via_->wait(round_over_);
  round_over_.reset();
}

bool schedule::on_counted(messages::request& r) noexcept {
  auto& self = *static_cast<schedule*>(r.owner);
  if (self.last_of_round()) self.round_over_.complete();
  return false;
}

void schedule::start() noexcept {
  rewind();
  if (own_banks_) bind_exchanges(++own_operations_, 0);
  // The steps before the first message: no other thread knows of them yet.
  shared_exchange* waits = nullptr;
  while (!waits && next_ < steps_.size() && steps_[next_].what != kind::open) {
    const step& s = steps_[next_++];
    if (s.what != kind::exchange) {
      local(s);
      continue;
    }
    auto& x = *static_cast<shared_exchange*>(s.to);
    if (x.advance_at_start(how_ != outcome::ok)) check(x);
    else waits = &x;
  }
  if (!waits && next_ == steps_.size()) return begin_done();
  reset();
  via_->pending_started();
  if (waits) return waits->end_later();
  advance();
}

bool schedule::last_of_round() noexcept {
  return outstanding_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // (M) and (N)
}

bool schedule::on_message(messages::request& r) noexcept {
  auto& self = *static_cast<schedule*>(r.owner);
  if (self.last_of_round()) self.via_->submit(self);
  return false;
}

progress::ltask_result schedule::on_turn(progress::ltask& task) noexcept {
  static_cast<turn&>(task).owner.take_turn();
  return progress::ltask_result::done;
}

void schedule::take_turn() noexcept {
  check_round();
  advance();
}

void schedule::exchange_ended(const shared_exchange& what) noexcept {
  check(what);
  advance();
}

/// Runs steps until messages or an exchange are outstanding, or to the end. After that another
/// thread may own the schedule, so that no member of it may be accessed any more.
void schedule::advance() noexcept {
  while (next_ < steps_.size()) {
    const step& s = steps_[next_++];
    switch (s.what) {
      case kind::open:
        begin_round(s, on_message);
        break;
      case kind::send:
      case kind::receive:
        post(s);
        break;
      case kind::close:
        if (!last_of_round()) return;
        check_round();
        break;
      case kind::exchange: {
        auto& x = *static_cast<shared_exchange*>(s.to);
        if (!x.advance(how_ != outcome::ok)) return x.end_later();
        check(x);
        break;
      }
      default:
        local(s);
    }
  }
  end();
}

void schedule::end() noexcept {
  via_->pending_ended();
  complete();
}

void schedule::check(const shared_exchange& what) noexcept {
  if (what.how() != outcome::ok) fail(what.how(), what.failed_rank());
}

bool schedule::receives_from(int rank) const noexcept {
  return std::ranges::any_of(
      steps_, [&](const step& s) { return s.what == kind::receive && s.number == rank; });
}

void schedule::check_round() noexcept {
  const messages::request* r = requests_.get();
  for (auto i = round_; i < next_; ++i) {
    const step& s = steps_[i];
    if (s.what == kind::send || s.what == kind::receive) check(*r++, s);
  }
}

void schedule::check(const messages::request& r, const step& s) noexcept {
  const auto& a = r.arrived;
  if (a.how == outcome::truncated && s.amount == 0) {
    fail(outcome::failed, s.number);
  } else if (a.how != outcome::ok) {
    fail(a.how, s.number);
  } else if (s.what == kind::receive && a.bytes != static_cast<std::size_t>(s.amount)) {
    fail(outcome::failed, s.number);
  }
}

void schedule::fail(outcome how, int rank) noexcept {
  if (how_ != outcome::ok) return;
  how_ = how;
  failed_rank_ = rank;
}

}  // namespace headway::collectives
