#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "messages/context.hpp"
#include "messages/exchange.hpp"
#include "windows/access_ends.hpp"
#include "windows/control_line.hpp"
#include "windows/exposed_memory.hpp"
#include "windows/slot_service.hpp"
#include "windows/statistics.hpp"
#include "windows/wire.hpp"

namespace headway::windows {

/// Serves the requests of a window's origins in this process: in whatever thread receives them,
/// without a call of the program.
/// Shape:    one receive for requests of all ranks; an object for each answer until it is sent.
/// Threads:  requests are served one after the other, so those of one origin in their order.
/// Progress: never waits but for `control_line::changing`. `stop` waits until answers have been
///           sent; those to origins that still queue for the lock are not.
/// Errors:   requests outside of the memory change nothing; the next flush, or the answer itself,
///           says so. When a process of the window is lost no request is served any more, and all
///           receives of the window's collective context end.
class target {
 public:
  /// What this rank shares with its origins, and this process, where it holds `line.changing`.
  struct own_line {
    control_line& line;
    lock_holder me;
  };
  /// All five outlive it, except the exchange of a target on which `stop` is not called (after the
  /// death of a process): that exchange ends before the target.
  target(messages::exchange& exchange, messages::context& context, exposed_memory& memory,
         const own_line& own, statistics::row& served);
  target(const target&) = delete;
  target& operator=(const target&) = delete;
  ~target();

  /// Before `start`: what is told that an origin wakes this process for its slots.
  void expects_for(slot_service& slots) noexcept {
    HEADWAY_ASSERT(slots_ == nullptr);
    slots_ = &slots;
  }
  void start() noexcept;
  /// When no request comes any more.
  void stop() noexcept;
  /// Of accesses of origins, told by requests.
  [[nodiscard]] access_ends& ends() noexcept { return ends_; }
  /// A process of the window is gone. Before `stop`.
  [[nodiscard]] bool has_lost() const noexcept {
    return stopped_.load(std::memory_order_acquire);  // (S)
  }

 private:
  /// A message that this target sends or receives; deletes itself when the message has ended.
  struct unfinished;
  struct answer;
  struct large_put;  ///< its bytes, which come as a message of their own
  /// What is known of an origin.
  struct origin {
    std::uint32_t large_puts = 0;  // whose bytes have not arrived
    std::uint32_t ends = 0;        // of accesses, which wait for those
    status worst = status::ok;     // since its last flush
  };
  /// How many locks an origin was granted by requests and has not released by requests. An origin
  /// that shares the control line releases its locks there, so that its numbers only grow.
  struct grants {
    std::uint32_t exclusive = 0;
    std::uint32_t shared = 0;
    [[nodiscard]] std::uint32_t& of(lock_type how) noexcept {
      return how == lock_type::exclusive ? exclusive : shared;
    }
  };

  /// Where a message with requests arrives. One that comes whole is served where it lies.
  /// Threads:  the one that receives the message, then the one that serves it: see (T).
  class arrival_place final : public messages::scattered_memory {
   public:
    [[nodiscard]] std::uint64_t bytes() const noexcept override { return request_bytes_max; }
    [[nodiscard]] std::span<const std::byte> pack(std::uint64_t begin,
                                                  std::size_t count) noexcept override;
    void unpack(std::uint64_t begin, std::span<const std::byte> from) noexcept override;
    void unpack_whole(std::span<const std::byte> message) noexcept override;
    /// What has arrived, of so many bytes.
    [[nodiscard]] std::span<const std::byte> message(std::size_t length) const noexcept {
      return whole_.empty() ? std::span<const std::byte>(copy_.get(), length) : whole_;
    }
    /// It will be served when it does not lie there any more.
    void keep() noexcept;
    /// For the next one.
    void clear() noexcept { whole_ = {}; }

   private:
    std::unique_ptr<std::byte[]> copy_ = std::make_unique<std::byte[]>(request_bytes_max);
    std::span<const std::byte> whole_;  // empty: it is in `copy_`
  };

  [[nodiscard]] static bool on_request(messages::request& r) noexcept;
  /// True: this thread serves what has arrived. False: another one will, from a copy.
  [[nodiscard]] bool take_turn() noexcept;
  void receive_next() noexcept;
  void serve(int source, std::span<const std::byte> message) noexcept;
  void serve(int source, const request_view& request, std::int64_t elements) noexcept;

  void count(const request_view& request, std::int64_t elements) noexcept;
  [[nodiscard]] bool inside(const request_view& request) noexcept;
  void put(const request_view& request) noexcept;
  void put_large(int source, const request_view& request) noexcept;
  void get(int source, const request_view& request, std::int64_t elements) noexcept;
  void accumulate(int source, const request_view& request, std::int64_t elements) noexcept;
  void compare_and_swap(int source, const request_view& request) noexcept;
  void flush(int source, const request_view& request) noexcept;
  void lock(int source, const request_view& request) noexcept;
  /// False: the lock is not free, and `rest` of the message is served later.
  [[nodiscard]] bool lock_now(int source, lock_type how, std::span<const std::byte> rest) noexcept;
  void queue_for_lock(answer& made, lock_type how) noexcept;
  void unlock(int source, const request_view& request) noexcept;
  void grant_locks() noexcept;
  void grant_to_first() noexcept;
  void end_accesses(int source) noexcept;

  /// The origin waits for bytes: it gets too few, which says that there are none.
  void refuse(int source, const request_view& request) noexcept;
  void note(int source, status how) noexcept;
  [[nodiscard]] status take_status(int source) noexcept;
  void end_large_put(int source, status how) noexcept;
  [[nodiscard]] bool has_unfinished() noexcept;
  static void end(unfinished& over) noexcept;
  /// Sends `ready`, with the origin's status in it if it is the answer to a flush.
  void send(answer& ready) noexcept;
  void send(answer& ready, std::span<const std::byte> bytes) noexcept;
  /// Answers with values that no other memory holds.
  void send_bytes(int source, const request_view& request, std::unique_ptr<std::byte[]> values,
                  std::size_t bytes) noexcept;

  messages::exchange& exchange_;
  messages::context& context_;
  exposed_memory& memory_;
  control_line& line_;
  const lock_holder me_;
  statistics::row& served_;

  slot_service* slots_ = nullptr;  // null: there are none
  messages::request incoming_;
  arrival_place place_;
  // Requests that arrived and were not served: 2 at most, because one receive is posted at a time.
  // (T) acquire and release by the threads that come and leave: the one that serves sees what was
  // served before, and the message that another thread has left to it.
  std::atomic<int> turns_{0};
  std::atomic<bool> stopped_{false};  // release by the end of the receive, acquire in `stop` (S)
  base::intrusive_list<answer> lock_queue_;  // served requests only
  std::vector<grants> granted_;              // likewise
  bool granting_ = false;                    // likewise
  access_ends ends_;

  base::spinlock lock_;
  std::vector<origin> origins_ HEADWAY_GUARDED_BY(lock_);
  base::intrusive_list<answer> waiting_flushes_ HEADWAY_GUARDED_BY(lock_);
  base::intrusive_list<unfinished, unfinished> unfinished_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::windows
