#include "report/recorder.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <list>
#include <utility>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::report {
namespace {

constexpr std::uint64_t worth_timing_ns = 2000;  // longer calls are all timed

/// How many calls of a site come until the next one that is timed, if so many were timed before. Of
/// n calls about the cube root of 768 n are timed: enough of few, and of many so few that they cost
/// nothing; of more than half a million, one in `period_max`. The period changes, so that it is no
/// multiple of a program's own.
std::uint32_t period_after(std::uint64_t timed) noexcept {
  constexpr std::uint64_t period_max = 1021;
  const auto step = timed / 16;
  return static_cast<std::uint32_t>(std::min(step * step | 1, period_max));
}

/// All that is recorded in this process. Records are not freed: their threads may come back.
struct recording {
  base::mutex lock;
  std::list<thread_record> threads HEADWAY_GUARDED_BY(lock);
  std::list<collective_log> collectives HEADWAY_GUARDED_BY(lock);
  std::uint64_t began_ns = 0;
  std::uint64_t clock_ns = 0;  // what it takes to read the clock
};

recording& all() {
  static auto* const made = new recording;
  return *made;
}

constinit call_record no_call;

std::uint64_t key_of(const function& what, const void* from) noexcept {
  return reinterpret_cast<std::uintptr_t>(from) ^ std::uint64_t{what.index} << 52;
}

/// The call instruction lies before the address that it returns to.
call_site site_of(const void* return_address) {
  const auto* call = static_cast<const char*>(return_address) - 1;
  Dl_info found{};
  link_map* object = nullptr;
  const auto at = reinterpret_cast<std::uintptr_t>(call);
  if (dladdr1(call, &found, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0)
    return {.object = {}, .offset = at, .symbol = {}};
  return {.object = found.dli_fname ? found.dli_fname : "",
          .offset = at - (object ? object->l_addr : 0),
          .symbol = found.dli_sname ? found.dli_sname : ""};
}

/// The row of a call site and function, which is added if it is not there.
std::uint32_t row_of(const call_record& one, part& to) {
  auto site = site_of(one.from);
  auto known = std::ranges::find_if(to.calls, [&](const auto& row) {
    return row.function == one.what->name && row.from == site;
  });
  if (known == to.calls.end())
    known = to.calls.insert(
        known,
        {.function = one.what->name, .counts_waits = one.what->light, .from = std::move(site)});
  return static_cast<std::uint32_t>(known - to.calls.begin());
}

}  // namespace

thread_record::thread_record() noexcept {
  last_.fill(&no_call);
  if (const auto entries = traced_entries_max(); entries != 0)
    timeline_ = std::make_unique<call_timeline>(entries);
}

thread_record& make_own_record() {
  auto& whole = all();
  const base::lock_guard held(whole.lock);
  detail::own_record = detail::open_record = &whole.threads.emplace_back();
  return *detail::own_record;
}

call_record& thread_record::find(const function& what, const void* from) noexcept {
  auto& known = by_key_[key_of(what, from)];
  if (!known) {
    known = &records_.emplace_back();
    known->from = from;
    known->what = &what;
    known->index = static_cast<std::uint32_t>(records_.size() - 1);
  }
  last_[what.index] = known;
  return *known;
}

void thread_record::begin_timed() noexcept {
  HEADWAY_DEBUG_ASSERT(began_ns_ == 0);
  current_->sums.calls += std::exchange(current_->period, 0);
  if (timeline_) [[unlikely]]
    timeline_->begin_call();
  detail::open_record = nullptr;
  began_ns_ = base::machine_now_ns();
}

void thread_record::end() noexcept {
  HEADWAY_DEBUG_ASSERT(current_ != nullptr && began_ns_ != 0);
  auto& call = *current_;
  auto& sums = call.sums;
  const auto now_ns = base::machine_now_ns();
  if (timeline_) [[unlikely]]
    timeline_->end_call(call.what->name, began_ns_, now_ns);
  const bool waited = has_waited();
  const auto passed_ns = now_ns - std::exchange(began_ns_, 0);
  const auto took_ns = passed_ns - std::min(passed_ns, all().clock_ns);
  sums.longest_ns = std::max(sums.longest_ns, took_ns);
  if (waited) {
    ++sums.waited;
    sums.waited_ns += took_ns;
  } else {
    ++sums.timed;
    sums.timed_ns += took_ns;
    sums.timed_longest_ns = std::max(sums.timed_longest_ns, took_ns);
  }
  const bool each = !call.what->light || timeline_ || (!waited && took_ns >= worth_timing_ns);
  call.until_timed = call.period = each ? 1 : period_after(sums.timed + sums.waited);
  current_ = nullptr;
  detail::open_record = this;
}

void thread_record::note_wait(const wait_span& span) noexcept {
  HEADWAY_DEBUG_ASSERT(span.began_ns <= span.ended_ns);
  if (!current_) return;
  const bool first = !has_waited();
  if (first) {
    waited_by_ = current_;
    waited_call_ = current_->calls();
    waiting_since_ns_ = span.began_ns;
    waited_ns_ = 0;
  }
  waited_ns_ += span.length_ns();
  last_wait_ = span;
  if (began_ns_ != 0) return;  // the whole call is timed
  auto& sums = current_->sums;
  if (first) ++sums.waited;
  sums.waited_ns += span.length_ns();
  sums.longest_ns = std::max(sums.longest_ns, waited_ns_);
}

wait_span thread_record::take_wait(std::uint64_t from_ns, std::uint64_t until_ns) noexcept {
  if (!has_waited()) return {};
  const auto began_ns = std::max(last_wait_.began_ns, from_ns);
  const auto ended_ns = std::min(last_wait_.ended_ns, until_ns);
  if (ended_ns <= began_ns) return {};
  last_wait_.began_ns = ended_ns;
  return {.began_ns = began_ns, .ended_ns = ended_ns};
}

peer_row& thread_record::peer(std::uint32_t rank) noexcept {
  if (rank >= peers_.size()) peers_.resize(rank + 1);
  return peers_[rank];
}

void thread_record::file(message_direction& way) noexcept {
  const auto run = std::exchange(way.last, {});
  if (!run.by) return;
  const auto bytes = run.count * run.bytes;
  run.by->sums.messages += run.count;
  run.by->sums.bytes += bytes;
  way.sizes.add(run.bytes, run.count);
  auto& row = peer(run.peer);
  row.*way.messages += run.count;
  row.*way.bytes += bytes;
}

void thread_record::file_messages() noexcept {
  count_received();
  file(sent_);
  file(received_);
}

void thread_record::note_late_sender(std::uint32_t from, std::uint64_t waited_ns) noexcept {
  auto& row = peer(from);
  ++row.late_sender;
  row.late_sender_ns += waited_ns;
}

void thread_record::note_send_wait(const send_wait& what) {
  HEADWAY_DEBUG_ASSERT(what.wait_began_ns <= what.wait_ended_ns);
  HEADWAY_ASSERT(what.started_by == send_wait::none || what.started_by < records_.size());
  if (what.wait_ended_ns - what.wait_began_ns < notable_ns) return;
  if (send_waits_.size() == waits_max) ++waits_dropped_;
  else send_waits_.push_back(what);
}

void thread_record::note_late_receive(const late_receive& what) {
  HEADWAY_DEBUG_ASSERT(what.announced_ns <= what.posted_ns);
  if (what.posted_ns - what.announced_ns < notable_ns) return;
  if (late_receives_.size() == waits_max) ++waits_dropped_;
  else late_receives_.push_back(what);
}

void thread_record::note_receive_found_at_once(std::uint32_t from, std::uint32_t number,
                                               std::uint64_t posted_ns) {
  // Most of these are not late: they leave half of the list to those that are.
  if (late_receives_.size() < waits_max / 2)
    late_receives_.push_back({.from = from, .number = number, .posted_ns = posted_ns});
}

collective_log& log_of(std::uint32_t context, std::vector<std::uint32_t> members) {
  HEADWAY_ASSERT(!members.empty());
  auto& whole = all();
  const base::lock_guard held(whole.lock);
  for (auto& known : whole.collectives)
    if (known.same_as(context, members)) return known;
  return whole.collectives.emplace_back(context, std::move(members));
}

void begin_recording() noexcept {
  auto& whole = all();
  constexpr int tries = 100;
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < tries; ++i) {
    const auto first = base::machine_now_ns();
    shortest = std::min(shortest, base::machine_now_ns() - first);
  }
  whole.clock_ns = shortest;
  whole.began_ns = base::machine_now_ns();
}

std::vector<const call_timeline*> recorded_timelines() {
  auto& whole = all();
  const base::lock_guard held(whole.lock);
  std::vector<const call_timeline*> found;
  for (const auto& each : whole.threads)
    if (each.timeline_) found.push_back(each.timeline_.get());
  return found;
}

/// Adds a thread's calls to those of the others from the same places.
void add_thread(const thread_record& from, part& to) {
  if (from.records_.empty()) return;
  ++to.threads_calling;
  std::vector<std::uint32_t> rows;  // of its records
  for (const auto& one : from.records_) {
    auto sums = one.sums;
    sums.calls = one.calls();
    if (&one == from.current_ && from.began_ns_ != 0) --sums.calls;  // this one has not ended
    // Operations that another thread has started may have been waited for by this one.
    const bool empty = sums.calls == 0 && one.started.timed == 0;
    rows.push_back(empty ? send_wait::none : row_of(one, to));
    if (empty) continue;
    to.calls[rows.back()].sums += sums;
    to.calls[rows.back()].started += one.started;
  }
  for (std::size_t rank = 0; rank < from.peers_.size(); ++rank) {
    const auto& one = from.peers_[rank];
    if (one.sent + one.received + one.late_sender == 0) continue;
    auto known = std::ranges::find(to.peers, rank, &peer_row::rank);
    if (known == to.peers.end())
      known = to.peers.insert(known, {.rank = static_cast<std::uint32_t>(rank)});
    known->sent += one.sent;
    known->bytes_sent += one.bytes_sent;
    known->received += one.received;
    known->bytes_received += one.bytes_received;
    known->late_sender += one.late_sender;
    known->late_sender_ns += one.late_sender_ns;
  }
  for (std::size_t i = 0; i < size_counts::classes; ++i) {
    to.sizes_sent.messages[i] += from.sent_.sizes.messages[i];
    to.sizes_sent.bytes[i] += from.sent_.sizes.bytes[i];
    to.sizes_received.messages[i] += from.received_.sizes.messages[i];
    to.sizes_received.bytes[i] += from.received_.sizes.bytes[i];
  }
  for (auto wait : from.send_waits_) {
    if (wait.started_by != send_wait::none) wait.started_by = rows[wait.started_by];
    to.send_waits.push_back(wait);
  }
  to.late_receives.insert(to.late_receives.end(), from.late_receives_.begin(),
                          from.late_receives_.end());
  to.waits_dropped += from.waits_dropped_;
}

part recorded_part() {
  auto& whole = all();
  part made{.began_ns = whole.began_ns, .ended_ns = base::machine_now_ns()};
  const base::lock_guard held(whole.lock);
  for (auto& each : whole.threads) {
    each.file_messages();
    add_thread(each, made);
  }
  made.collectives.assign(whole.collectives.begin(), whole.collectives.end());
  return made;
}

part recorded_part_of_this_thread() {
  part made{.began_ns = all().began_ns, .ended_ns = base::machine_now_ns()};
  if (!detail::own_record) return made;
  detail::own_record->file_messages();
  add_thread(*detail::own_record, made);
  return made;
}

}  // namespace headway::report
