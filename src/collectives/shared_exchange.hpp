#pragma once

#include <cstdint>

#include "base/intrusive_list.hpp"
#include "collectives/combined_streams.hpp"
#include "collectives/exchange_run.hpp"
#include "collectives/read_progress.hpp"
#include "collectives/shown_stream.hpp"
#include "collectives/wanted_parts.hpp"
#include "progress/completion/completion.hpp"

namespace headway::collectives {

class schedule;
class schedule_run;

/// A step of a schedule: this rank shows a stream of bytes, and copies or combines parts of the
/// streams of others, through the banks of its team. The other ranks' schedules have the same step
/// with their streams and parts; streams have the sizes that the readers expect.
///
/// Parts:    `shown_stream` is what this rank shows, `wanted_parts` and `combined_streams` are what
///           it takes, `read_progress` tells the others how far it is.
/// Shape:    in its schedule's scratch memory. If readers copy its stream out of this process, the
///           step ends when they have.
/// Threads:  built and bound by one thread, then advanced by one at a time.
/// Progress: `advance` does what is possible. After `end_later`, or in `wait`, every polling point
///           of the process goes on with it.
/// Errors:   a stream of another size than expected ends it with `truncated` or `failed`, on the
///           ranks that expect it. See also shared_banks.
class shared_exchange final : public base::list_hook<open_tag>,
                              public base::list_hook<pending_tag> {
 public:
  /// `phase`: 0, or 1 for the second exchange of an operation.
  shared_exchange(schedule& s, const team& t, int phase);
  shared_exchange(const shared_exchange&) = delete;
  shared_exchange& operator=(const shared_exchange&) = delete;

  // Building.
  [[nodiscard]] shown_stream& stream() noexcept { return stream_; }
  [[nodiscard]] const shown_stream& stream() const noexcept { return stream_; }
  [[nodiscard]] wanted_parts& parts() noexcept { return parts_; }
  /// See `combined_streams`.
  void combine(const combined_streams::operands& what);
  /// Of this rank's stream, as far as it is not lent.
  [[nodiscard]] std::int64_t stream_bytes() const noexcept {
    return stream_.is_lent() ? 0 : stream_.bytes();
  }

  // Running.
  /// To be called for an operation's exchanges in order, and for operations in order. `history`: of
  /// the team's operations, up to this one; 0: these banks are not for the team's operations.
  void bind(std::uint64_t operation, std::uint64_t history) noexcept;
  /// Goes on as far as possible, for some time. True: it has ended. `failed`: the operation has
  /// failed on this rank before; the others then find that in place of its stream.
  [[nodiscard]] bool advance(bool failed) noexcept;
  /// The same where the others are probably about to begin too: a few looks cost no more than
  /// `end_later` and a polling round.
  [[nodiscard]] bool advance_at_start(bool failed) noexcept;
  /// The same for a thread that can wait: looks for a while before it gives up.
  [[nodiscard]] bool advance_spinning(bool failed) noexcept;
  /// Waits for its end, after `advance` was false.
  void wait() noexcept;
  /// After `advance` was false: its end continues `owner` (`exchange_ended`). From then on
  /// another thread may own the schedule.
  void end_later(schedule_run& owner) noexcept;
  /// Once it has ended.
  [[nodiscard]] messages::outcome how() const noexcept { return run_.how; }
  /// The rank whose stream failed first, or -1.
  [[nodiscard]] int failed_rank() const noexcept { return run_.ranks.bound_rank(run_.failed_rank); }

  // By shared_banks, which drives it after `wait` or `end_later`.
  [[nodiscard]] std::uint64_t counted() const noexcept { return run_.counted; }
  /// Goes on. `moved`: something was done.
  [[nodiscard]] bool poll(bool& moved) noexcept;
  /// `poll` would find something to do.
  [[nodiscard]] bool could_go_on() const noexcept;
  [[nodiscard]] bool waits_for_place() const noexcept {
    return at_ == stage::working && stream_.exists() && !stream_.has_place();
  }
  /// It reads nothing any more: the area in which the other rank has shown its stream is this
  /// rank's, unless some of that was not read, because then the other one may still write there.
  void keep_passed_area() noexcept;
  /// Others wait to learn how far it has read.
  [[nodiscard]] bool has_to_publish() const noexcept {
    return at_ == stage::working && read_.is_due();
  }
  /// Something of what it waits for will not come.
  void give_up(messages::outcome why, int rank) noexcept;
  /// By the thread that has advanced it to its end.
  void tell_end() noexcept;

 private:
  enum class stage : std::uint8_t { working, waiting_for_readers, ended };

  [[nodiscard]] bool go_on() noexcept;
  [[nodiscard]] bool work() noexcept;
  [[nodiscard]] bool show() noexcept;
  [[nodiscard]] bool is_read() const noexcept {
    return run_.banks.readers().is_read({.exchange = run_.counted, .readers = stream_.readers()});
  }

  const int phase_;
  exchange_run run_;
  shown_stream stream_;
  wanted_parts parts_;
  combined_streams sum_;
  read_progress read_;
  stage at_ = stage::working;
  schedule_run* notified_ = nullptr;  // at the end; null: a thread waits
  bool relies_ = false;               // on background threads, for what readers have read
  progress::completion ended_;
};

}  // namespace headway::collectives
