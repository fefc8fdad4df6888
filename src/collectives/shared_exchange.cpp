#include "collectives/shared_exchange.hpp"

#include <utility>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "collectives/looking.hpp"
#include "collectives/schedule_run.hpp"

namespace headway::collectives {

using messages::outcome;

shared_exchange::shared_exchange(schedule& s, const team& t, int phase)
    : phase_(phase),
      run_(t, *s.banks_of(t)),
      stream_(s, run_),
      parts_(s, run_, read_),
      sum_(s, run_, read_),
      read_(s, run_, parts_, sum_) {
  HEADWAY_ASSERT(phase == 0 || phase == 1);
}

void shared_exchange::combine(const combined_streams::operands& what) {
  sum_.combine(what);
  if (!sum_.replace_input()) return;
  HEADWAY_ASSERT(!stream_.exists() || what.bytes <= run_.memory.bank_bytes());
  stream_.keep_in_bank();
}

void shared_exchange::bind(std::uint64_t operation, std::uint64_t history) noexcept {
  run_.begin(exchange_numbers(operation, history, phase_));
  run_.long_streams = stream_.bytes() > run_.memory.bank_bytes();
  run_.past_caches =
      (stream_.bytes() + run_.wanted_bytes) * run_.ranks.size >= exchange_run::cached_bytes_max;
  at_ = stage::working;
  stream_.begin();
  parts_.begin();
  sum_.begin();
  read_.begin();
  run_.banks.bind(*this);
}

bool shared_exchange::advance(bool failed) noexcept {
  run_.failed_before = failed;
  return go_on();
}

bool shared_exchange::advance_at_start(bool failed) noexcept {
  constexpr int looks_max = 4;
  if (advance(failed)) return true;
  const bool worth_it = !run_.ranks.oversubscribed && stream_.bytes() <= run_.memory.piece_bytes();
  for (int looks = worth_it ? looks_max : 0; looks > 0; --looks) {
    base::relax();
    if (go_on()) return true;
  }
  return false;
}

bool shared_exchange::advance_spinning(bool failed) noexcept {
  run_.failed_before = failed;
  bool ended = false;
  do {
    run_.moved = false;
    ended = look_for_a_while(run_.ranks.oversubscribed, run_.ranks.via,
                             [this] { return go_on() || run_.moved; });
  } while (ended && at_ != stage::ended);
  return ended;
}

void shared_exchange::wait() noexcept {
  notified_ = nullptr;
  ended_.reset();
  run_.banks.pend(*this);
  run_.ranks.via.wait(ended_);
}

void shared_exchange::end_later(schedule_run& owner) noexcept {
  notified_ = &owner;
  // A rank that computes is woken for what was read only while it relies on background threads.
  relies_ = stream_.exists() && (!stream_.has_place() || stream_.depends_on_readers());
  if (relies_) run_.ranks.via.rely();
  run_.banks.pend(*this);
}

void shared_exchange::tell_end() noexcept {
  if (!notified_) return ended_.complete();
  if (relies_) run_.ranks.via.rely_no_more();
  notified_->exchange_ended(*this);
}

bool shared_exchange::poll(bool& moved) noexcept {
  run_.moved = false;
  const bool ended = go_on();
  moved |= run_.moved;
  return ended;
}

bool shared_exchange::go_on() noexcept {
  // Nothing is shown after the team's log is broken: each rank is told of that by itself, with the
  // reason.
  if (run_.failed_before && at_ == stage::working && run_.ranks.log.is_broken()) [[unlikely]] {
    give_up(outcome::failed, run_.ranks.rank);
    return true;
  }
  run_.budget = exchange_run::advanced_at_once;
  if (at_ == stage::working) {
    if (!work()) return false;
    run_.moved = true;
    at_ = stage::waiting_for_readers;
    run_.banks.finish(*this);
    run_.memory.wake_all(run_.sources, true);  // they may wait for that
  }
  if (at_ == stage::waiting_for_readers) {
    if (stream_.waits_for_readers() && !is_read()) return false;
    at_ = stage::ended;
  }
  return true;
}

/// True: all was shown and taken.
bool shared_exchange::work() noexcept {
  bool all = show();
  if (!all && sum_.replace_input()) return false;  // what is read takes the place of what is shown
  if (!run_.failed_before) {
    all = parts_.advance() && all;
    all = sum_.advance() && all;
  }
  if (!all && run_.long_streams) read_.publish();
  return all;
}

/// True: all of it was shown.
bool shared_exchange::show() noexcept {
  if (!stream_.exists()) return true;
  if (!stream_.has_place() && !run_.banks.try_place(*this)) {
    // Readers of earlier streams may compute, and were not woken for these.
    if (!std::exchange(run_.asked, true)) run_.memory.wake_all(run_.memory.others(), false);
    return false;
  }
  return stream_.advance();
}

bool shared_exchange::could_go_on() const noexcept {
  if (at_ == stage::waiting_for_readers) return is_read();
  if (stream_.could_advance()) return true;
  return !run_.failed_before && (parts_.could_advance() || sum_.could_advance());
}

void shared_exchange::keep_passed_area() noexcept {
  auto* const areas = run_.memory.passed();
  if (!areas || run_.failed_before || run_.how != outcome::ok) return;
  const peer_streams streams(run_);
  run_.sources.each([&](int rank) {
    const auto which = streams.passed_place_of(rank);
    if (which != rails::passed_place::none) areas->read(which);
  });
}

void shared_exchange::give_up(outcome why, int rank) noexcept {
  run_.fail(why, rank);
  if (at_ == stage::working) run_.banks.finish(*this);
  at_ = stage::ended;
}

}  // namespace headway::collectives
