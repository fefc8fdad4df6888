#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"
#include "endpoints/block.hpp"
#include "endpoints/trial.hpp"
#include "progress/completion.hpp"

namespace headway::endpoints {

inline constexpr std::int32_t any_tag = std::numeric_limits<std::int32_t>::min();

/// Which messages a receiver takes.
struct filter {
  address from;  ///< id 0: anyone
  std::int32_t tag = any_tag;

  [[nodiscard]] bool admits(const parcel& p) const noexcept {
    return (tag == any_tag || tag == p.tag) && (from.id == 0 || from == p.from);
  }
};

/// A thread that waits; in one list at a time. Who takes it out of the list, under the list's lock,
/// completes it behind the lock; who finds itself taken out waits for that.
struct waiting_thread : progress::completion, base::list_hook<> {
  filter wanted;               ///< a receiver's
  bool listed = false;         ///< in a list of the inbox; under its lock
  parcel* received = nullptr;  ///< what it was given; nullptr: look again, or the end-point is gone
};

/// A thread that waits for messages at several end-points. The first that has one claims it.
struct watching_thread : progress::completion {
  base::atomic<bool> claimed{false};  // one exchange wins; relaxed, it carries nothing
};
struct watch : base::list_hook<> {
  watching_thread* by = nullptr;
};

struct woken;

/// Where messages to one end-point wait, and who waits for them.
///
/// What senders touch for each message lies in one line, under `lock`. A receiver that finds
/// several moves them all aside, into a line of its own under `taking`, and takes the next ones
/// from there: while it has some, receiver and senders do not meet.
///
/// Threads:  every function under `lock`, unless it says otherwise; who holds both took `taking`
///           first. What must happen behind the locks (wake-ups) is collected in a `woken`.
/// Progress: never waits.
class inbox {
  // What lies aside is older than what waits, and ready, and no waiting receiver admits it: one
  // joins the receivers after a look at both lists, under both locks or while nothing can lie
  // aside, and what is moved aside later was not for him, or he would have been given it.
 public:
  alignas(64) base::spinlock lock;
  std::uint32_t id = 0;         ///< 0: closed. Written under both locks, read under `lock`
  std::uint32_t from_here = 0;  ///< units that wait, of this process's own threads

 private:
  int descriptor_ = -1;    // written under both locks
  bool readable_ = false;  // the descriptor
  std::uint32_t unready_ = 0;
  base::intrusive_list<parcel> waiting_;
  base::intrusive_list<waiting_thread> receivers_;
  // The next line: seldom written.
  base::intrusive_list<waiting_thread> senders_;
  base::intrusive_list<watch> watches_;
  base::atomic<bool> maybe_aside_{false};

 public:
  std::string name;
  /// Processes that have sent here: units of credit that they have not got back yet.
  struct debt {
    std::uint32_t process;
    std::uint32_t units;
  };
  std::vector<debt> owed;
  [[nodiscard]] std::uint32_t& owed_to(std::uint32_t process) {
    for (debt& d : owed)
      if (d.process == process) return d.units;
    return first_debt(process);
  }
  /// False under `lock`: nothing lies aside and nothing is `unreturned`, and so it stays while that
  /// is held. Without it a hint.
  [[nodiscard]] bool maybe_aside() const noexcept {
    return maybe_aside_.load(std::memory_order_relaxed);  // the lock carries what it says
  }
  /// Under both, with nothing `unreturned`.
  void note_aside() noexcept {
    if (maybe_aside() != !aside_.empty())
      maybe_aside_.store(!aside_.empty(), std::memory_order_relaxed);  // likewise
  }
  /// More than one message waits.
  [[nodiscard]] bool several() noexcept {
    parcel* first = waiting_.front();
    return first && waiting_.after(*first);
  }

  alignas(64) base::spinlock taking;
  std::uint32_t taking_id = 0;   ///< `id` for those who hold `taking`
  std::uint32_t unreturned = 0;  ///< of `from_here`: received, not taken off yet. Under `taking`
  /// The last message received came from this process. Relaxed: a hint.
  base::atomic<bool> near{false};
  /// A receive would have to look at the senders' line. Relaxed: a hint.
  base::atomic<bool> drained{true};
  /// Whether a receiver that has taken all there was looks away for a moment before it looks again.
  /// In a stream between two processors it would meet its sender at every message otherwise, and
  /// each would wait for lines that the other has: where several gather, and are taken at once,
  /// they do not. It pays where several did.
  trial<8, 4096> gathers;
  /// Whether it spins before it waits at the engine.
  trial<1, 64> spins;
  void note_sender(bool is_near) noexcept {
    if (near.load(std::memory_order_relaxed) != is_near)
      near.store(is_near, std::memory_order_relaxed);
  }

 private:
  base::intrusive_list<parcel> aside_;  // under `taking`; filled under both
  bool plain_ = true;                   // no descriptor, for those who hold `taking`

 public:
  /// Under both.
  void open(std::uint32_t by) noexcept { id = taking_id = by; }
  /// The oldest of those aside that `wanted` admits, taken out; nullptr: look with both locks.
  /// Under `taking`.
  [[nodiscard]] parcel* take_aside(const filter& wanted) noexcept;

  /// Gives `p` to the receiver that waits for it, or keeps it: true.
  [[nodiscard, gnu::hot]] bool put(parcel& p, woken& then) noexcept;
  /// The bytes of an announced message have come.
  void now_ready(parcel& p, woken& then) noexcept;
  /// The announced message will not come.
  void withdraw(parcel& p) noexcept;
  /// The oldest that `wanted` admits, taken out; nullptr: none, or its bytes are still under way.
  /// Under both.
  [[nodiscard]] parcel* take(const filter& wanted) noexcept;
  /// The same while nothing lies aside.
  [[nodiscard]] parcel* take_waiting(const filter& wanted) noexcept;
  /// A message could be taken. Under both.
  [[nodiscard]] bool any() noexcept { return !aside_.empty() || find({}) != nullptr; }
  /// Nothing waits behind those aside.
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

  void add_receiver(waiting_thread& w) noexcept {
    w.listed = true;
    receivers_.push_back(w);
  }
  void add_sender(waiting_thread& w) noexcept {
    w.listed = true;
    senders_.push_back(w);
  }
  /// False: it was taken out before, its completion comes or has come.
  [[nodiscard]] bool remove_receiver(waiting_thread& w) noexcept;
  [[nodiscard]] bool remove_sender(waiting_thread& w) noexcept;
  void add_watch(watch& w) noexcept { watches_.push_back(w); }
  void remove_watch(watch& w) noexcept { watches_.erase(w); }
  void wake_senders(woken& then) noexcept;
  /// An eventfd that is readable while something waits, or -1.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Under both.
  void open_descriptor(int made) noexcept;
  [[nodiscard]] int take_descriptor() noexcept;
  /// Everybody who waits is woken. Under both, after `pop` until nullptr.
  void close(woken& then) noexcept;
  /// What waits, linked by nobody. Under both.
  [[nodiscard]] parcel* pop() noexcept {
    parcel* p = aside_.pop_front();
    return p ? p : waiting_.pop_front();
  }

 private:
  [[nodiscard, gnu::noinline]] std::uint32_t& first_debt(std::uint32_t process);
  void note_drained() noexcept {
    if (drained.load(std::memory_order_relaxed) != aside_.empty())
      drained.store(aside_.empty(), std::memory_order_relaxed);
  }
  [[nodiscard, gnu::hot]] parcel* find(const filter& wanted) noexcept;
  void settle(woken& then) noexcept;
  void tell_watchers(woken& then) noexcept;
  void look_at_descriptor() noexcept;
};

/// Threads to wake when no lock is held any more.
struct woken {
  base::intrusive_list<waiting_thread> threads;
  static constexpr int watchers_max = 8;
  watching_thread* watchers[watchers_max];
  int watcher_count = 0;

  void add(waiting_thread& w) noexcept {
    w.listed = false;
    threads.push_back(w);
  }

  woken() = default;
  woken(const woken&) = delete;
  woken& operator=(const woken&) = delete;
  /// Wakes them; each may be gone when its own `complete` returns.
  ~woken() {
    while (waiting_thread* w = threads.pop_front()) w->complete();
    for (int i = 0; i < watcher_count; ++i) watchers[i]->complete();
  }
};

}  // namespace headway::endpoints
