#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/delivery/adaptive_retry.hpp"
#include "endpoints/delivery/waiting.hpp"

namespace headway::endpoints {

/// The messages that wait at one end-point, and the threads that wait there.
///
/// What senders access for each message is in one cache line, under `lock`. A receiver that finds
/// several messages moves them all aside, into a line of its own under `taking`, and takes the next
/// ones from there: while some are left, receiver and senders access no common line.
///
/// Threads:  as annotated; a thread that needs both locks takes `taking` first. What must be done
///           without locks (wake-ups) is collected in a `woken`.
/// Progress: never waits.
class inbox {
  // Messages aside are older than those waiting, and ready, and no waiting receiver wants them: a
  // thread starts waiting after it has searched both lists, under both locks or while nothing can
  // be aside; what is moved aside later is not for that thread, or it would have got it.
 public:
  alignas(64) base::spinlock lock;
  std::uint32_t id HEADWAY_GUARDED_BY(lock) = 0;  ///< 0: closed. Written under both locks
  /// Units that wait, of this process's own threads.
  std::uint32_t from_here HEADWAY_GUARDED_BY(lock) = 0;

 private:
  int descriptor_ HEADWAY_GUARDED_BY(lock) = -1;    // written under both locks
  bool readable_ HEADWAY_GUARDED_BY(lock) = false;  // the descriptor
  std::uint32_t unready_ HEADWAY_GUARDED_BY(lock) = 0;
  base::intrusive_list<parcel> waiting_ HEADWAY_GUARDED_BY(lock);
  base::intrusive_list<waiting_thread> receivers_ HEADWAY_GUARDED_BY(lock);
  // The next line: seldom written.
  base::intrusive_list<waiting_thread> senders_ HEADWAY_GUARDED_BY(lock);
  base::intrusive_list<watch> watches_ HEADWAY_GUARDED_BY(lock);
  base::atomic<bool> maybe_aside_{false};

 public:
  std::string name HEADWAY_GUARDED_BY(lock);
  /// A process that has sent messages here, and the units of credit that are not returned to it
  /// yet.
  struct debt {
    std::uint32_t process;
    std::uint32_t units;
  };
  std::vector<debt> owed HEADWAY_GUARDED_BY(lock);
  [[nodiscard]] std::uint32_t& owed_to(std::uint32_t process) HEADWAY_REQUIRES(lock) {
    for (debt& d : owed)
      if (d.process == process) return d.units;
    return first_debt(process);
  }
  /// False under `lock`: nothing is aside and nothing is `unreturned`, and that stays so while the
  /// lock is held. Without the lock a hint.
  [[nodiscard]] bool maybe_aside() const noexcept {
    return maybe_aside_.load(std::memory_order_relaxed);  // the lock orders it
  }
  /// While nothing is `unreturned`.
  void note_aside() noexcept HEADWAY_REQUIRES(taking, lock) {
    if (maybe_aside() != !aside_.empty())
      maybe_aside_.store(!aside_.empty(), std::memory_order_relaxed);  // the lock orders it
  }
  /// Whether more than one message waits.
  [[nodiscard]] bool several() noexcept HEADWAY_REQUIRES(lock) {
    parcel* first = waiting_.front();
    return first && waiting_.after(*first);
  }

  alignas(64) base::spinlock taking;
  std::uint32_t taking_id HEADWAY_GUARDED_BY(taking) = 0;  ///< `id` for holders of `taking`
  /// Units of `from_here`: received, not subtracted yet.
  std::uint32_t unreturned HEADWAY_GUARDED_BY(taking) = 0;
  /// The last message received came from this process. Relaxed: a hint.
  base::atomic<bool> near{false};
  /// A receive would have to access the senders' line. Relaxed: a hint.
  base::atomic<bool> drained{true};
  /// Whether a receiver that has taken all messages pauses for a moment before it looks again. In a
  /// stream between two processors it would otherwise meet its sender at every message, and each
  /// would wait for lines in the other's cache; messages that gather meanwhile are taken together.
  /// The pause pays if several gathered.
  adaptive_retry<8, 4096> gathers;
  /// Whether it spins before it waits at the engine.
  adaptive_retry<1, 64> spins;
  void note_sender(bool is_near) noexcept {
    if (near.load(std::memory_order_relaxed) != is_near)
      near.store(is_near, std::memory_order_relaxed);
  }

 private:
  base::intrusive_list<parcel> aside_ HEADWAY_GUARDED_BY(taking);  // filled under both
  bool plain_ HEADWAY_GUARDED_BY(taking) = true;                   // there is no descriptor

 public:
  void open(std::uint32_t by) noexcept HEADWAY_REQUIRES(taking, lock) { id = taking_id = by; }
  /// Takes the oldest of those aside that `wanted` admits; nullptr: look with both locks.
  [[nodiscard]] parcel* take_aside(const filter& wanted) noexcept HEADWAY_REQUIRES(taking);

  /// True: `p` is kept. False: a receiver that waited for it has it.
  [[nodiscard, gnu::hot]] bool put(parcel& p, woken& then) noexcept HEADWAY_REQUIRES(lock);
  /// The bytes of an announced message have come.
  void now_ready(parcel& p, woken& then) noexcept HEADWAY_REQUIRES(lock);
  /// The announced message will not come.
  void withdraw(parcel& p) noexcept HEADWAY_REQUIRES(lock);
  /// Takes the oldest that `wanted` admits; nullptr: none, or its bytes are still under way.
  [[nodiscard]] parcel* take(const filter& wanted) noexcept HEADWAY_REQUIRES(taking, lock);
  /// The same while nothing is aside.
  [[nodiscard]] parcel* take_waiting(const filter& wanted) noexcept HEADWAY_REQUIRES(lock);
  /// Whether a message could be taken.
  [[nodiscard]] bool any() noexcept HEADWAY_REQUIRES(taking, lock) {
    return !aside_.empty() || find({}) != nullptr;
  }
  /// No message waits, except for those aside.
  [[nodiscard]] bool empty() const noexcept HEADWAY_REQUIRES(lock) { return waiting_.empty(); }

  void add_receiver(waiting_thread& w) noexcept HEADWAY_REQUIRES(lock) {
    w.listed = true;
    receivers_.push_back(w);
  }
  void add_sender(waiting_thread& w) noexcept HEADWAY_REQUIRES(lock) {
    w.listed = true;
    senders_.push_back(w);
  }
  /// False: another thread took it out before; its completion comes or has come.
  [[nodiscard]] bool remove_receiver(waiting_thread& w) noexcept HEADWAY_REQUIRES(lock);
  [[nodiscard]] bool remove_sender(waiting_thread& w) noexcept HEADWAY_REQUIRES(lock);
  void add_watch(watch& w) noexcept HEADWAY_REQUIRES(lock) { watches_.push_back(w); }
  void remove_watch(watch& w) noexcept HEADWAY_REQUIRES(lock) { watches_.erase(w); }
  void wake_senders(woken& then) noexcept HEADWAY_REQUIRES(lock) { then.add_all(senders_); }
  /// An eventfd that is readable while a message waits, or -1.
  [[nodiscard]] int descriptor() const noexcept HEADWAY_REQUIRES(lock) { return descriptor_; }
  void open_descriptor(int made) noexcept HEADWAY_REQUIRES(taking, lock);
  [[nodiscard]] int take_descriptor() noexcept HEADWAY_REQUIRES(taking, lock);
  /// Wakes every waiting thread. After `pop` until nullptr.
  void close(woken& then) noexcept HEADWAY_REQUIRES(taking, lock);
  /// What waits, removed from its list.
  [[nodiscard]] parcel* pop() noexcept HEADWAY_REQUIRES(taking, lock) {
    parcel* p = aside_.pop_front();
    return p ? p : waiting_.pop_front();
  }

 private:
  [[nodiscard, gnu::noinline]] std::uint32_t& first_debt(std::uint32_t process)
      HEADWAY_REQUIRES(lock);
  void note_drained() noexcept HEADWAY_REQUIRES(taking) {
    if (drained.load(std::memory_order_relaxed) != aside_.empty())
      drained.store(aside_.empty(), std::memory_order_relaxed);
  }
  [[nodiscard, gnu::hot]] parcel* find(const filter& wanted) noexcept HEADWAY_REQUIRES(lock);
  void settle(woken& then) noexcept HEADWAY_REQUIRES(lock);
  void tell_watchers(woken& then) noexcept HEADWAY_REQUIRES(lock);
  void update_descriptor() noexcept HEADWAY_REQUIRES(lock);
};

}  // namespace headway::endpoints
