#include "collectives/schedule_run.hpp"

#include <cstring>

#include "base/assert.hpp"
#include "base/copy_between_cores.hpp"
#include "collectives/shared_exchange.hpp"

namespace headway::collectives {
namespace {

using messages::outcome;

/// A blocking round of so many messages waits for each; a larger one once for all of them.
constexpr int messages_waited_singly_max = 2;

shared_exchange& exchange_of(const schedule::step& s) noexcept {
  return *static_cast<shared_exchange*>(s.to);
}

}  // namespace

schedule_run::turn::turn(schedule_run& whose) noexcept
    : ltask("collective schedule", on_turn, progress::ltask_kind::one_shot), owner(whose) {}

void schedule_run::bind(team& ranks, const call& what) noexcept {
  via_ = &ranks.via;
  ranks.log.note(what.word());
  const auto operation = ranks.next_operation();
  label_ = {messages::operation_tags.of(static_cast<unsigned>(operation)), ranks.log.history()};
  bind_exchanges(operation, ranks.log.history());
}

void schedule_run::recycle() noexcept {
  clear();
  via_ = nullptr;
  reset();
}

void schedule_run::rewind() noexcept {
  HEADWAY_DEBUG_ASSERT(via_ != nullptr && is_built());
  next_ = 0;
  how_ = is_refused() ? outcome::failed : outcome::ok;
  failed_rank_ = -1;
}

void schedule_run::begin_round(const step& open, messages::request::finisher finish) noexcept {
  round_ = next_;
  posted_ = 0;
  finish_ = finish;
  // Relaxed: posting the requests publishes it to the threads that complete them.
  if (finish) outstanding_.store(open.number + 1, std::memory_order_relaxed);
}

void schedule_run::post(const step& s) noexcept {
  HEADWAY_DEBUG_ASSERT(posted_ < steps()[round_ - 1].number);  // as the round's `open` says
  auto& r = requests()[static_cast<std::size_t>(posted_++)];
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

void schedule_run::local(const step& s) noexcept {
  if (how_ != outcome::ok) return;
  switch (s.what) {
    case kind::copy:
      std::memcpy(s.to, s.from, static_cast<std::size_t>(s.amount));
      break;
    case kind::copy_past_caches:
      base::copy_past_caches(static_cast<std::byte*>(s.to), static_cast<const std::byte*>(s.from),
                             static_cast<std::size_t>(s.amount));
      break;
    case kind::pack:
      s.type->pack(s.from, s.amount, static_cast<std::byte*>(s.to));
      break;
    case kind::unpack:
      s.type->unpack(static_cast<const std::byte*>(s.from), s.to, s.amount);
      break;
    case kind::combine:
      HEADWAY_DEBUG_ASSERT(op().apply != nullptr);
      op().apply(op(), s.from, s.to, s.amount);
      break;
    default:
      break;
  }
}

outcome schedule_run::run() noexcept {
  rewind();
  while (next_ < steps().size()) {
    const step& s = steps()[next_++];
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
        auto& x = exchange_of(s);
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

void schedule_run::wait_round() noexcept {
  if (!finish_) {
    for (int i = 0; i < posted_; ++i) {
      auto& r = requests()[static_cast<std::size_t>(i)];
      if (!r.test()) via_->wait(r);
    }
    return;
  }
  if (last_of_round()) return;
  via_->wait(round_over_);
  round_over_.reset();
}

bool schedule_run::on_counted(messages::request& r) noexcept {
  auto& self = *static_cast<schedule_run*>(r.owner);
  if (self.last_of_round()) self.round_over_.complete();
  return false;
}

void schedule_run::start() noexcept {
  rewind();
  bind_own_exchanges();
  // The steps before the first message: no other thread knows of them yet.
  shared_exchange* waits = nullptr;
  while (!waits && next_ < steps().size() && steps()[next_].what != kind::open) {
    const step& s = steps()[next_++];
    if (s.what != kind::exchange) {
      local(s);
      continue;
    }
    auto& x = exchange_of(s);
    if (x.advance_at_start(how_ != outcome::ok)) check(x);
    else waits = &x;
  }
  if (!waits && next_ == steps().size()) return begin_done();
  reset();
  via_->pending_started();
  if (waits) return waits->end_later(*this);
  advance();
}

bool schedule_run::last_of_round() noexcept {
  return outstanding_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // (M) and (N)
}

bool schedule_run::on_message(messages::request& r) noexcept {
  auto& self = *static_cast<schedule_run*>(r.owner);
  if (self.last_of_round()) self.via_->submit(self);
  return false;
}

progress::ltask_result schedule_run::on_turn(progress::ltask& task) noexcept {
  static_cast<turn&>(task).owner.take_turn();
  return progress::ltask_result::done;
}

void schedule_run::take_turn() noexcept {
  check_round();
  advance();
}

void schedule_run::exchange_ended(const shared_exchange& what) noexcept {
  check(what);
  advance();
}

/// Runs steps until messages or an exchange are outstanding, or to the end. After that another
/// thread may own the schedule, so that no member of it may be accessed any more.
void schedule_run::advance() noexcept {
  while (next_ < steps().size()) {
    const step& s = steps()[next_++];
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
        auto& x = exchange_of(s);
        if (!x.advance(how_ != outcome::ok)) return x.end_later(*this);
        check(x);
        break;
      }
      default:
        local(s);
    }
  }
  end();
}

void schedule_run::end() noexcept {
  via_->pending_ended();
  complete();
}

void schedule_run::check(const shared_exchange& what) noexcept {
  if (what.how() != outcome::ok) fail(what.how(), what.failed_rank());
}

void schedule_run::check_round() noexcept {
  const messages::request* r = requests();
  for (auto i = round_; i < next_; ++i) {
    const step& s = steps()[i];
    if (s.what == kind::send || s.what == kind::receive) check(*r++, s);
  }
}

void schedule_run::check(const messages::request& r, const step& s) noexcept {
  const auto& a = r.arrived;
  if (a.how == outcome::truncated && s.amount == 0) {
    fail(outcome::failed, s.number);
  } else if (a.how != outcome::ok) {
    fail(a.how, s.number);
  } else if (s.what == kind::receive && a.bytes != static_cast<std::size_t>(s.amount)) {
    fail(outcome::failed, s.number);
  }
}

void schedule_run::fail(outcome how, int rank) noexcept {
  if (how_ != outcome::ok) return;
  how_ = how;
  failed_rank_ = rank;
}

}  // namespace headway::collectives
