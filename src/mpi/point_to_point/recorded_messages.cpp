#include "mpi/point_to_point/recorded_messages.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "mpi/environment/library.hpp"

namespace headway::mpi {
namespace {

constexpr std::uint64_t brief_ns = 2000;  // a shorter wait is not worth a second look at the clock
constexpr std::uint64_t timed_at_first = 32;  // operations of each call site
constexpr std::uint64_t timed_period = 61;    // of small ones after that
// An rts that is found so soon after the receive was posted, or after the wait for it began, may
// have been there before: the sender's times tell. Long enough for the first look of a thread
// that has to wait for a processor.
constexpr std::uint64_t found_at_once_ns = 10'000'000;

/// From `begin` to `end`; 0 if `end` is not later.
std::uint64_t span_ns(std::uint64_t begin, std::uint64_t end) noexcept {
  return end > begin ? end - begin : 0;
}

bool note_completion(messages::request& self) noexcept {
  static_cast<operation_record*>(self.owner)->completed_ns = base::machine_now_ns();
  return true;
}

/// The call that has started the operation. Null: it is blocking, or not timed.
const report::call_record* starter_of(const messages::request& wire) noexcept {
  if (wire.finish != &note_completion) return nullptr;
  return static_cast<const operation_record*>(wire.owner)->by;
}

/// The receive was posted after the announcement of its message.
void note_if_late(const recorded_message& received) noexcept {
  const auto& times = *received.wire.times;
  if (times.announced_ns == 0) return;
  report::own_record().note_late_receive(
      {.from = job_rank(received.comm, received.wire.arrived.source),
       .number = times.number,
       .announced_ns = times.announced_ns,
       .posted_ns = times.matched_ns});
}

/// The receive was posted before anything looked at the rts of its message, which may have been
/// there. `looked_ns`: when the call that asks for the message began to wait.
void note_if_found_at_once(const recorded_message& received, std::uint64_t posted_ns,
                           std::uint64_t looked_ns) noexcept {
  const auto& times = *received.wire.times;
  if (!received.arrived() || times.matched_ns == 0 || times.announced_ns != 0) return;
  const auto found_at_once = [&](std::uint64_t look_ns) {
    return times.matched_ns >= look_ns && times.matched_ns - look_ns < found_at_once_ns;
  };
  if (!found_at_once(posted_ns) && !found_at_once(looked_ns)) return;
  report::own_record().note_receive_found_at_once(
      job_rank(received.comm, received.wire.arrived.source), times.number, posted_ns);
}

/// Sets the rank at the other end, which is known now, and the time and thread of the present call.
void describe(const communicator& comm, int peer, report::traced_message& one,
              const report::call_timeline& timeline) noexcept {
  one.peer = peer;
  one.partner = job_rank(comm, peer);
  one.noted_ns = base::machine_now_ns();
  one.noted_by = timeline.thread();
}

/// A message that the present call has sent or received in the timeline, if that is kept.
void trace_blocking(const communicator& comm, int peer, int tag, std::size_t bytes, bool receives) {
  auto* const timeline = present_timeline();
  if (timeline == nullptr) return;
  report::traced_message one{.context = comm.id(),
                             .tag = tag,
                             .receives = receives,
                             .bytes = bytes,
                             .posted_ns = report::own_record().call_began_ns(),
                             .completed_ns = base::machine_now_ns()};
  describe(comm, peer, one, *timeline);
  timeline->name_context(one.context, comm.name);
  timeline->note(one);
}

/// The present call has found the operation complete.
void trace_end(const recorded_message& what, const operation_record& record) noexcept {
  auto* const timeline = report::own_record().timeline();
  if (timeline == nullptr || record.traced == nullptr || !what.arrived()) return;
  auto& one = *record.traced;
  one.completed_ns = record.completed_ns;
  if (one.receives) {
    one.tag = what.wire.arrived.tag;
    one.bytes = what.wire.arrived.bytes;
    describe(what.comm, what.wire.arrived.source, one, *timeline);
  }
  timeline->show(one);
}

/// The present call has waited since `began_ns`, or, if that is 0, since about the first look.
/// Empty: the wait was brief, and is not noted.
report::wait_span note_wait(std::uint64_t began_ns, progress::clock_looks looked,
                            bool brief) noexcept {
  auto& thread = report::own_record();
  if (began_ns == 0) began_ns = looked.first_ns;
  if (brief) {
    thread.learn_wait(looked.last_ns >= began_ns + brief_ns);
    if (began_ns == 0 || !thread.waits_long()) return {};
  }
  const report::wait_span span{.began_ns = began_ns, .ended_ns = base::machine_now_ns()};
  thread.note_wait(span);
  return span;
}

/// The message has arrived, after a wait if `waited` is not empty.
void file_receive(const recorded_message& received, const report::wait_span& waited) noexcept {
  note_receive_wait(received, waited);
  // The call has posted it a moment before it waits, or before the rts is there.
  const auto matched_ns = received.wire.times->matched_ns;
  const auto posted_ns = waited.began_ns != 0 ? std::min(waited.began_ns, matched_ns) : matched_ns;
  note_if_found_at_once(received, posted_ns, posted_ns);
  note_received(received);
  if (const auto& end = received.wire.arrived; received.arrived())
    trace_blocking(received.comm, end.source, end.tag, end.bytes, true);
}

}  // namespace

report::call_timeline* present_timeline() noexcept {
  if (!recording()) return nullptr;
  auto& thread = report::own_record();
  return thread.current() ? thread.timeline() : nullptr;
}

std::uint32_t job_rank(const communicator& comm, int rank) noexcept {
  const auto& members = comm.is_inter() ? *comm.remote().members : comm.members();
  return static_cast<std::uint32_t>(members[rank]);  // the job's processes come first
}

report::wait_span timed_wait(progress::completion& what, bool brief) noexcept {
  const auto began_ns = !brief || report::own_record().waits_long() ? base::machine_now_ns() : 0;
  return note_wait(began_ns, engine().wait(what), brief);
}

void finish_recorded_send(const recorded_message& sent, messages::request& wire) noexcept {
  if (!wire.test()) {
    const auto waited = timed_wait(wire, false);
    note_send_wait(sent, waited.began_ns, waited);
  }
  note_sent(sent.comm, sent.peer, sent.tag, wire.arrived.bytes);
}

void note_sent(const communicator& comm, int peer, int tag, std::size_t bytes) noexcept {
  auto& thread = report::own_record();
  if (!thread.current()) return;
  thread.note_sent(job_rank(comm, peer), bytes);
  trace_blocking(comm, peer, tag, bytes, false);
}

void note_start(const recorded_message& what, bool receives, std::size_t bytes,
                operation_record& record) noexcept {
  auto& thread = report::own_record();
  if (!thread.current()) return;
  if (!receives) thread.note_sent(job_rank(what.comm, what.peer), bytes);
  auto* const timeline = thread.timeline();
  if (timeline == nullptr) return;
  report::traced_message one{.context = what.comm.id(),
                             .peer = what.peer,
                             .tag = what.tag,
                             .receives = receives,
                             .bytes = bytes,
                             .posted_ns = base::machine_now_ns()};
  if (!receives) describe(what.comm, what.peer, one, *timeline);
  timeline->name_context(one.context, what.comm.name);
  record.traced = timeline->note(one);
}

void finish_recorded_receive(messages::request& wire, const communicator& comm, int peer,
                             bool brief) noexcept {
  auto& thread = report::own_record();
  const recorded_message received{.comm = comm, .peer = 0, .tag = 0, .wire = wire};
  const bool usual = brief && peer >= 0 && thread.current() && !thread.timeline();
  if (!usual) [[unlikely]]
    return file_receive(received, wire.test() ? report::wait_span{} : timed_wait(wire, brief));
  // What is done before the message comes costs nothing, if it is still under way.
  thread.expect(job_rank(comm, peer));
  if (!wire.test()) {
    const auto began_ns = thread.waits_long() ? base::machine_now_ns() : 0;
    const auto looked = engine().wait(wire);
    if (began_ns + looked.last_ns != 0) [[unlikely]] {
      thread.expect_nothing();
      return file_receive(received, note_wait(began_ns, looked, true));
    }
  }
  thread.came(wire.arrived.bytes);
  if (wire.times->announced_ns != 0) [[unlikely]] {
    thread.expect_nothing();
    file_receive(received, {});
  }
}

void note_receive_wait(const recorded_message& received, const report::wait_span& waited) noexcept {
  if (waited.ended_ns == 0 || !received.arrived()) return;
  const auto& times = *received.wire.times;
  // A message without rts is complete when its first packet comes.
  const auto came_ns = times.matched_ns == 0 ? waited.ended_ns : times.matched_ns;
  const auto late_ns = span_ns(waited.began_ns, std::min(came_ns, waited.ended_ns));
  const auto from = job_rank(received.comm, received.wire.arrived.source);
  if (late_ns != 0) report::own_record().note_late_sender(from, late_ns);
}

void note_send_wait(const recorded_message& sent, std::uint64_t sent_ns,
                    const report::wait_span& waited) noexcept {
  const auto number = sent.wire.times ? sent.wire.times->number : 0;
  if (number == 0 || waited.ended_ns == 0 || sent_ns == 0) return;
  auto& thread = report::own_record();
  const auto* by = starter_of(sent.wire);
  thread.note_send_wait({.to = job_rank(sent.comm, sent.peer),
                         .number = number,
                         .sent_ns = sent_ns,
                         .wait_began_ns = waited.began_ns,
                         .wait_ended_ns = waited.ended_ns,
                         .started_by = by ? thread.record_of(*by).index : report::send_wait::none});
}

void note_received(const recorded_message& received) noexcept {
  auto& thread = report::own_record();
  if (!thread.current() || !received.arrived()) return;
  note_if_late(received);
  thread.note_received(job_rank(received.comm, received.wire.arrived.source),
                       received.wire.arrived.bytes);
}

void begin_record(operation_record& record, messages::request& wire, std::size_t bytes) noexcept {
  auto& thread = report::own_record();
  record = {};
  wire.times = &record.times;
  wire.finish = nullptr;
  if (!thread.current()) return;
  record.by = thread.current();
  auto& started = record.by->started;
  ++started.operations;
  if (!thread.timeline() && is_brief(bytes) && started.operations > timed_at_first &&
      started.operations % timed_period != 0)
    return;
  record.started_ns = base::machine_now_ns();
  wire.owner = &record;
  wire.finish = &note_completion;
}

void file_record(operation_record& record, bool receives, const recorded_message& what) noexcept {
  auto& thread = report::own_record();
  const auto* by = std::exchange(record.by, nullptr);
  if (!by || record.started_ns == 0 || record.completed_ns == 0) return;
  const auto completed = record.completed_ns;
  trace_end(what, record);
  // The present call may have waited for others before it came to this operation.
  const auto waiting_since = thread.waiting_since_ns();
  const auto wait_began = waiting_since == 0 ? base::machine_now_ns() : waiting_since;
  const auto waited = thread.take_wait(record.started_ns, completed);
  const auto matched = record.times.matched_ns == 0 ? completed : record.times.matched_ns;
  const auto for_partner =
      receives ? span_ns(waited.began_ns, std::min(matched, waited.ended_ns)) : 0;
  const auto both_ready = receives ? span_ns(std::max(matched, record.started_ns), wait_began) : 0;
  report::overlap_sums one{.operations = 0,
                           .timed = 1,
                           .bytes = 0,
                           .under_way_ns = span_ns(record.started_ns, completed),
                           .hidden_ns = span_ns(record.started_ns, std::min(wait_began, completed)),
                           .waited_ns = waited.length_ns(),
                           .for_partner_ns = for_partner,
                           .possible_ns = std::min(waited.length_ns() - for_partner, both_ready),
                           .spare_ns = span_ns(completed, wait_began)};
  if (receives) note_if_found_at_once(what, record.started_ns, wait_began);
  thread.record_of(*by).started += one;
}

}  // namespace headway::mpi
