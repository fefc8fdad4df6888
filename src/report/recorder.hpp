#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "report/call_timeline.hpp"
#include "report/part.hpp"

namespace headway::report {

/// A function of MPI, as its entry point names it.
struct function {
  static constexpr std::size_t count_max = 1024;

  const char* name;
  std::uint32_t index;  ///< below `count_max`, another one for each
  /// It usually takes less than a microsecond, and waits only where a wait is noted: many of its
  /// calls are not timed.
  bool light;
};

/// The calls of one function from one place, by one thread.
struct call_record {
  const void* from = nullptr;
  const function* what = nullptr;
  // One number is changed in each call: it counts the calls, too.
  std::uint32_t until_timed = 1;  ///< calls until the next one that is timed
  std::uint32_t period = 1;       ///< what `until_timed` was when it was set
  call_sums sums;                 ///< `calls`: without those since then
  overlap_sums started;
  std::uint32_t index = 0;  ///< among the records of its thread

  [[nodiscard]] std::uint64_t calls() const noexcept { return sums.calls + period - until_timed; }
};

/// When something that a thread waited for began and ended; zeros: it was over at once.
struct wait_span {
  std::uint64_t began_ns = 0, ended_ns = 0;
  [[nodiscard]] std::uint64_t length_ns() const noexcept { return ended_ns - began_ns; }
};

/// Messages of one length, one after the other, that a call site has sent to, or received from, a
/// rank.
struct message_run {
  call_record* by = nullptr;
  std::uint32_t peer = 0;   ///< rank in the job
  std::uint64_t bytes = 0;  ///< of each
  std::uint64_t count = 0;
};

/// The messages that a thread sends, or those that it receives.
struct message_direction {
  std::uint64_t peer_row::* messages;  ///< where a peer's are counted
  std::uint64_t peer_row::* bytes;
  message_run last{};  ///< not in the sums yet
  size_counts sizes{};
};

/// What one thread records of its calls of MPI.
///
/// From the arrival of a message to the next send, for which its sender may wait, as little as
/// possible is done: a received message is counted when this thread waits for the next one or has
/// sent, equal ones in a row are filed together, and a call that is not timed changes two words
/// when it begins and none when it ends. Only light calls are not timed: what such a call calls
/// itself, an error handler, counts on its own.
/// Shape:    lists of waits have at most `waits_max` entries; later ones are counted.
/// Threads:  the thread itself; `recorded_part` reads it when the thread makes no calls any more.
/// Progress: never waits; allocates for new call sites and peers.
class thread_record {
 public:
  static constexpr std::size_t waits_max = 8192;
  static constexpr std::uint64_t notable_ns = 10'000;  ///< shorter waits of sends are not listed

  thread_record() noexcept;

  /// A call begins, not inside one that is timed. True: it is timed, and `end` must follow.
  [[nodiscard]] bool begin(const function& what, const void* from) noexcept {
    HEADWAY_DEBUG_ASSERT(what.index < function::count_max);
    if (caller_) [[unlikely]]
      from = std::exchange(caller_, nullptr);
    call_record* found = last_[what.index];
    if (found->from != from) [[unlikely]]
      found = &find(what, from);
    current_ = found;
    if (--found->until_timed != 0) [[likely]]
      return false;
    begin_timed();
    return true;
  }
  void end() noexcept;
  /// The next call counts as made from there: an entry point for another language makes it.
  void set_caller(const void* next) noexcept { caller_ = next; }
  /// The present call. Also the last one, if that was not timed; null if it was.
  [[nodiscard]] call_record* current() const noexcept { return current_; }
  /// When it began; 0: it is not timed.
  [[nodiscard]] std::uint64_t call_began_ns() const noexcept { return began_ns_; }
  /// Is not null if calls are traced. Every call is timed then.
  [[nodiscard]] call_timeline* timeline() noexcept { return timeline_.get(); }

  /// Within the present call.
  void note_wait(const wait_span& span) noexcept;
  /// When the present call began to wait; 0: it has not waited.
  [[nodiscard]] std::uint64_t waiting_since_ns() const noexcept {
    return has_waited() ? waiting_since_ns_ : 0;
  }
  /// The part of the last wait of the present call from `from_ns` until `until_ns`, without what
  /// was taken before: it counts for one operation.
  [[nodiscard]] wait_span take_wait(std::uint64_t from_ns, std::uint64_t until_ns) noexcept;
  /// Whether the last wait that was to be brief took long.
  [[nodiscard]] bool waits_long() const noexcept { return waits_long_; }
  void learn_wait(bool took_long) noexcept { waits_long_ = took_long; }
  void note_sent(std::uint32_t to, std::uint64_t bytes) noexcept {
    count(sent_, current_, to, bytes);
    count_received();
  }
  void note_received(std::uint32_t from, std::uint64_t bytes) noexcept {
    expect(from);
    came(bytes);
  }
  /// The same in two steps: before the wait for the message, and after it, unless it fails.
  void expect(std::uint32_t from) noexcept {
    count_received();
    expected_by_ = current_;
    expected_from_ = from;
  }
  void came(std::uint64_t bytes) noexcept { came_bytes_ = bytes; }
  void expect_nothing() noexcept { expected_by_ = nullptr; }
  /// Until then, the last messages are not in the sums.
  void file_messages() noexcept;
  void note_late_sender(std::uint32_t from, std::uint64_t waited_ns) noexcept;
  /// `started_by`: an index among the records of this thread.
  void note_send_wait(const send_wait& what);
  void note_late_receive(const late_receive& what);
  /// The announcement was found soon after its receive was posted, at `posted_ns`: its sender knows
  /// whether it was there by then.
  void note_receive_found_at_once(std::uint32_t from, std::uint32_t number,
                                  std::uint64_t posted_ns);
  /// This thread's record of a call site that may be another thread's.
  [[nodiscard]] call_record& record_of(const call_record& site) noexcept {
    return find(*site.what, site.from);
  }

 private:
  friend void add_thread(const thread_record& from, part& to);
  friend std::vector<const call_timeline*> recorded_timelines();

  [[nodiscard]] call_record& find(const function& what, const void* from) noexcept;
  [[gnu::cold]] void begin_timed() noexcept;
  [[nodiscard]] bool has_waited() const noexcept {
    return current_ && waited_by_ == current_ && waited_call_ == current_->calls();
  }
  void count_received() noexcept {
    if (auto* const by = std::exchange(expected_by_, nullptr))
      count(received_, by, expected_from_, came_bytes_);
  }
  void count(message_direction& way, call_record* by, std::uint32_t with,
             std::uint64_t bytes) noexcept {
    const auto& last = way.last;
    if (last.by != by || last.peer != with || last.bytes != bytes) [[unlikely]] {
      file(way);
      way.last = {.by = by, .peer = with, .bytes = bytes};
    }
    ++way.last.count;
  }
  void file(message_direction& way) noexcept;
  [[nodiscard]] peer_row& peer(std::uint32_t rank) noexcept;

  call_record* current_ = nullptr;
  const void* caller_ = nullptr;  // null: the function that makes the call
  std::uint64_t began_ns_ = 0;    // of the present call; 0: it is not timed, or there is none
  // Of the last call that has waited: its record and its number there, since when, and how long.
  const call_record* waited_by_ = nullptr;
  std::uint64_t waited_call_ = 0, waiting_since_ns_ = 0, waited_ns_ = 0;
  bool waits_long_ = false;
  call_record* expected_by_ = nullptr;  // the call that has received a message, not counted yet
  std::uint32_t expected_from_ = 0;
  std::uint64_t came_bytes_ = 0;
  message_direction sent_{.messages = &peer_row::sent, .bytes = &peer_row::bytes_sent};
  message_direction received_{.messages = &peer_row::received, .bytes = &peer_row::bytes_received};
  std::array<call_record*, function::count_max> last_;  // of each function
  std::deque<call_record> records_;                     // never move
  std::unordered_map<std::uint64_t, call_record*> by_key_;
  std::vector<peer_row> peers_;  // by rank
  std::vector<send_wait> send_waits_;
  std::vector<late_receive> late_receives_;
  std::uint64_t waits_dropped_ = 0;
  wait_span last_wait_{};  // of the last call that has waited: the part that was not taken
  std::unique_ptr<call_timeline> timeline_;
};

namespace detail {
inline thread_local constinit thread_record* own_record = nullptr;
/// The same, but null in a call that is timed: what that calls itself is not recorded.
inline thread_local constinit thread_record* open_record = nullptr;
}  // namespace detail

/// Makes the record of the calling thread.
[[gnu::cold]] thread_record& make_own_record();
/// The record of the calling thread, which is made on first use and kept for ever.
[[nodiscard]] inline thread_record& own_record() {
  if (!detail::own_record) [[unlikely]]
    return make_own_record();
  return *detail::own_record;
}

/// Sets the recorder of this thread's calls and returns the one before. `next` is what an earlier
/// call returned, or null: calls are not recorded.
[[nodiscard]] inline void* exchange_recorder(void* next) {
  static_cast<void>(own_record());
  return std::exchange(detail::open_record, static_cast<thread_record*>(next));
}

/// The log of a communicator, the same object for the same context and members.
/// Threads:  any; it lives for ever.
[[nodiscard]] collective_log& log_of(std::uint32_t context, std::vector<std::uint32_t> members);

/// Begins the recording: before the first call that is recorded.
void begin_recording() noexcept;
/// The timelines of all threads, while no thread is in a call.
[[nodiscard]] std::vector<const call_timeline*> recorded_timelines();
/// What all threads have recorded so far, of calls, messages and waits; with the time of recording.
/// While no thread is in a call that is recorded.
[[nodiscard]] part recorded_part();
/// The same of the calling thread alone, while others may be in calls.
[[nodiscard]] part recorded_part_of_this_thread();

}  // namespace headway::report
