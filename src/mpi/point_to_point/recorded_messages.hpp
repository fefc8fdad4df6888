#pragma once

#include <cstdint>

#include "messages/request.hpp"
#include "mpi/communicators/communicator.hpp"
#include "progress/completion/completion.hpp"
#include "report/recorder.hpp"

/// What is recorded of messages for HEADWAY_REPORT, inside a recorded call.
namespace headway::mpi {

/// A non-blocking operation whose start was recorded. Its times are 0 if it is not timed.
struct operation_record {
  report::call_record* by = nullptr;  ///< the call that has started it; null: it is filed
  std::uint64_t started_ns = 0, completed_ns = 0;
  report::traced_message* traced = nullptr;  ///< null: it is not traced
  messages::request_times times{};
};

/// One end of a message, for the functions below.
struct recorded_message {
  const communicator& comm;
  int peer;  ///< the rank that it is sent to, or asked for from
  int tag;
  const messages::request& wire;
  [[nodiscard]] bool arrived() const noexcept { return wire.arrived.how == messages::outcome::ok; }
};

/// Waits as a recorded call does. A wait that is `brief` is noted only if it takes more than two
/// microseconds. After one that did not, the next is timed from the engine's first look at the
/// clock, about a microsecond after its beginning: a look for every wait would take a sixth of the
/// time of a short message.
report::wait_span timed_wait(progress::completion& what, bool brief) noexcept;
/// Whether a wait for so many bytes is brief, as far as this process knows.
[[nodiscard]] constexpr bool is_brief(std::size_t bytes) noexcept { return bytes <= 4096; }

/// The rest of a recorded blocking call, after the start: waits and files the message.
void finish_recorded_send(const recorded_message& sent, messages::request& wire) noexcept;
/// The present call has sent a message.
void note_sent(const communicator& comm, int peer, int tag, std::size_t bytes) noexcept;
/// `peer`: the rank that the message is asked for from, or MPI_ANY_SOURCE. If the receive has
/// failed, the caller calls `expect_nothing`.
void finish_recorded_receive(messages::request& wire, const communicator& comm, int peer,
                             bool brief) noexcept;

/// A call has waited so long for this message, in a receive or a send.
void note_receive_wait(const recorded_message& received, const report::wait_span& waited) noexcept;
void note_send_wait(const recorded_message& sent, std::uint64_t sent_ns,
                    const report::wait_span& waited) noexcept;
/// A message was received, and is complete.
void note_received(const recorded_message& received) noexcept;

/// The start of a non-blocking operation on a message of so many bytes, whose record has begun.
void note_start(const recorded_message& what, bool receives, std::size_t bytes,
                operation_record& record) noexcept;
/// Begins the record of an operation that is about to start, and whose message has so many bytes.
void begin_record(operation_record& record, messages::request& wire, std::size_t bytes) noexcept;
/// Files an operation that is complete and is being waited for or tested. Once.
void file_record(operation_record& record, bool receives, const recorded_message& what) noexcept;

/// The timeline of this thread, which is in a recorded call. Null: its calls are not traced.
[[nodiscard]] report::call_timeline* present_timeline() noexcept;

/// The rank in the job.
[[nodiscard]] std::uint32_t job_rank(const communicator& comm, int rank) noexcept;

}  // namespace headway::mpi
