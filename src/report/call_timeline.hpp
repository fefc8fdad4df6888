#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "report/collective_log.hpp"

namespace headway::report {

/// One end of a message or signal, for the timeline. Kept until the end; the operation fills in the
/// rest.
struct traced_message {
  enum class sort : std::uint8_t {
    message,    ///< of point-to-point communication
    operation,  ///< a partitioned one as a whole: has no arrow
    partition,  ///< of a partitioned operation
    post,       ///< MPI_Win_post to MPI_Win_start
    complete    ///< MPI_Win_complete to MPI_Win_wait
  };
  sort what = sort::message;
  std::uint32_t context = 0;  ///< the same number on both sides
  std::uint32_t partner = 0;  ///< rank in the job
  int peer = 0, tag = 0;      ///< as the program says them
  int part = 0;               ///< which partition, by the same number on both sides
  bool receives = false;
  std::uint64_t bytes = 0;
  std::uint64_t posted_ns = 0;
  std::uint64_t completed_ns = 0;  ///< 0: not known to be complete
  /// Within the call that sends it, or has received it; 0: it was not asked for yet.
  std::uint64_t noted_ns = 0;
  int noted_by = 0;  ///< the thread that made that call
};

/// A collective operation, for the timeline.
struct traced_collective {
  std::uint32_t context = 0;
  std::uint32_t first = 0;   ///< the communicator's first rank in the job
  std::uint64_t number = 0;  ///< of the operation on its communicator: the same on all its members
  std::uint64_t round = 0;   ///< of a persistent one
  std::vector<std::uint32_t> from = {}, to = {};  ///< ranks at the other ends of its arrows
  std::uint64_t bytes = 0;  ///< of this process's data; 0: not said by one count and datatype
  bool blocking = true;
  std::uint64_t entered_ns = 0;
  std::uint64_t left_ns = 0;  ///< 0: not known to have ended
  int entered_by = 0, left_by = 0;

  /// Sets `from` and `to`. Where all wait for all, each rank has an arrow to the next one.
  void set_arrows(dependence waits, std::span<const std::uint32_t> members, std::uint32_t root,
                  std::uint32_t own);
};

/// What a call does to a window.
struct traced_access {
  std::uint32_t window = 0;  ///< its context
  int peer = -1;             ///< -1: none in particular
  std::uint64_t bytes = 0;   ///< 0: it moves nothing
};

/// A call of MPI with what it sent, received or did.
struct traced_call {
  const char* function = nullptr;
  std::uint64_t began_ns = 0, ended_ns = 0;
  std::uint32_t messages = 0;                     ///< that it started or found complete
  const traced_message* first = nullptr;          ///< of these
  const traced_collective* collective = nullptr;  ///< or the operation that it was
  traced_access access = {};                      ///< or a window's; context 0: none
};

/// The calls of one thread for HEADWAY_TRACE, in the order of their ends.
/// Shape:    at most `entries_max` calls, as many messages and as many collective operations; later
///           ones are counted.
/// Threads:  one; `calls_for_timeline` reads when no thread makes calls. The operation that a
///           message belongs to may be found complete by another thread, which fills in the rest of
///           it: the program orders the two.
class call_timeline {
 public:
  explicit call_timeline(std::size_t entries_max);

  void begin_call() noexcept { present_ = {}; }
  void end_call(const char* function, std::uint64_t began_ns, std::uint64_t ended_ns);
  /// A message that the present call starts, or has received. Null: there is no more room.
  traced_message* note(const traced_message& what);
  /// The same of a signal, which is no message of the call's.
  traced_message* note_signal(const traced_message& what);
  /// A message that the present call finds complete, which perhaps another thread has started.
  void show(traced_message& what) noexcept {
    if (present_.messages++ == 0) present_.first = &what;
  }
  [[nodiscard]] int thread() const noexcept { return thread_; }
  /// The same for a collective operation.
  traced_collective* note(traced_collective&& what);
  void show(traced_collective& what) noexcept { present_.collective = &what; }
  void note(const traced_access& what) noexcept { present_.access = what; }
  /// The name of a communicator or window, as it is now. The first one that is not empty counts.
  void name_context(std::uint32_t context, const std::string& name) {
    auto& known = names_[context];
    if (known.empty()) known = name;
  }

 private:
  friend class timeline_text;

  std::size_t entries_max_;
  int thread_;  // the kernel's number
  traced_call present_;
  std::deque<traced_call> calls_;
  std::deque<traced_message> messages_;        // never move
  std::deque<traced_collective> collectives_;  // never move
  std::map<std::uint32_t, std::string> names_;
  std::uint64_t dropped_ = 0;
};

/// From now on new threads have a timeline of so many entries.
void trace_calls(std::size_t entries_max) noexcept;
/// How many; 0: calls are not traced. Relaxed: set before the first call.
[[nodiscard]] std::size_t traced_entries_max() noexcept;

/// The calls of all threads as entries of a timeline in JSON (watch/timeline_file.hpp), each after
/// a comma: calls with peer, tag, bytes and communicator or window; arrows from a send to its
/// receive, and in collective operations from the rank that others wait for to these; counters of
/// pending requests and of bytes in flight. Both ends of a message count those of the same sort,
/// communicator, ranks, tag and partition, in the order in which they were posted, which is the
/// order in which they match.
[[nodiscard]] std::string calls_for_timeline(std::uint32_t rank);

}  // namespace headway::report
