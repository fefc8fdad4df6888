#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "base/atomic.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/buffers/pool.hpp"
#include "endpoints/delivery/delivery.hpp"
#include "progress/core/ltask.hpp"

namespace headway::endpoints {

/// A message of another process that waits for a buffer. Its parcel is in the inbox, not ready, and
/// keeps its place there.
struct buffer_request {
  std::uint32_t from = 0;  ///< process
  std::uint32_t to = 0;    ///< end-point
  std::size_t bytes = 0;
  /// Called once, without a lock; `one` may be gone when it returns. `got`: the buffer; nullptr:
  /// the end-point is closed.
  void (*granted)(buffer_request& one, block* got) noexcept = nullptr;
};

/// Messages of other processes that arrived while the pool had no memory for them. Every polling
/// round tries again. Buffers for the messages of an end-point are granted in the order of arrival:
/// later messages, which no thread can receive before the first, must not use up the memory that
/// the first one needs.
///
/// Shape:    each sender's window limits how many wait at an end-point; a process that sends more
///           violates the protocol, and `add` refuses. The lists are on the heap; speed does not
///           matter while memory is used up.
/// Threads:  any; requests are granted by one at a time.
/// Progress: never waits, except `stop`. While a message waits, no background thread sleeps for
///           long.
class buffer_queue final : public progress::ltask {
  // Hazard: the queue ends while another thread runs its last round. Edge: (S) release -> acquire.
 public:
  buffer_queue(pool& buffers, delivery& here, progress::engine& engine,
               std::uint32_t window_units) noexcept;

  /// Whether a message for `to` has to wait behind others, even if there is memory. Relaxed:
  /// messages of one process arrive one after the other, those of several are not ordered.
  [[nodiscard]] bool must_wait(std::uint32_t to) noexcept {
    return any_.load(std::memory_order_relaxed) && waits_at(to);
  }
  /// False: its process has sent more than it may, and `one` still belongs to the caller. True: it
  /// may be granted before this returns.
  [[nodiscard]] bool add(buffer_request& one);
  /// After all end-points are closed: nothing waits any more, now and later. Polls.
  void stop() noexcept;

 private:
  struct line {
    std::deque<buffer_request*> waiting;
    std::map<std::uint32_t, std::uint32_t> count;  // by process
  };

  static progress::ltask_result run(progress::ltask& self) noexcept;
  [[nodiscard]] bool waits_at(std::uint32_t to) noexcept;
  /// The first in the line of end-point `to`, or of the next one that has a line.
  [[nodiscard]] buffer_request* first_from(std::uint32_t to) noexcept;
  void pop(std::uint32_t to, std::uint32_t from) noexcept;
  [[nodiscard]] bool grant(buffer_request& one) noexcept;
  /// True: some were granted.
  bool grant_some() noexcept;
  /// True: nothing waits.
  bool end_if_empty() noexcept;

  pool& buffers_;
  delivery& here_;
  progress::engine& engine_;
  const std::uint32_t each_max_;   // messages of a process at an end-point
  base::atomic<bool> any_{false};  // changed under the lock: the engine has the ltask
  base::mutex lock_;               // cold; the lists allocate under it
  std::map<std::uint32_t, line> lines_ HEADWAY_GUARDED_BY(lock_);  // by end-point
  bool stopped_ HEADWAY_GUARDED_BY(lock_) = false;
};

}  // namespace headway::endpoints
