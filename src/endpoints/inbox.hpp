#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"
#include "endpoints/block.hpp"
#include "progress/completion.hpp"

namespace headway::endpoints {

inline constexpr std::int32_t any_tag = std::numeric_limits<std::int32_t>::min();

/// Which messages a receiver takes.
struct filter {
  std::int32_t tag = any_tag;
  address from;  ///< id 0: anyone

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
/// Threads:  every function under `lock`, unless it says otherwise. What must happen behind the
///           lock (wake-ups) is collected in a `woken`.
/// Progress: never waits.
class inbox {
 public:
  base::spinlock lock;
  std::uint32_t id = 0;  ///< 0: closed. Guarded by `lock`, like the rest
  std::string name;
  int descriptor = -1;          ///< an eventfd that is readable while something waits, or -1
  bool near = false;            ///< the last message received came from this process
  std::uint32_t from_here = 0;  ///< units that wait, of this process's own threads
  /// Processes that have sent here: units of credit that they have not got back yet.
  struct debt {
    std::uint32_t process;
    std::uint32_t units;
  };
  std::vector<debt> owed;
  [[nodiscard]] std::uint32_t& owed_to(std::uint32_t process);

  /// Gives `p` to the receiver that waits for it, or keeps it: true.
  [[nodiscard]] bool put(parcel& p, woken& then) noexcept;
  /// The bytes of an announced message have come.
  void now_ready(parcel& p, woken& then) noexcept;
  /// The announced message will not come.
  void withdraw(parcel& p) noexcept;
  /// The oldest that `wanted` admits, taken out; nullptr: none, or its bytes are still under way.
  [[nodiscard]] parcel* take(const filter& wanted) noexcept;
  [[nodiscard]] bool any(const filter& wanted) noexcept { return find(wanted) != nullptr; }
  [[nodiscard]] bool empty() noexcept { return waiting_.empty(); }

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
  void open_descriptor(int made) noexcept {
    descriptor = made;
    if (made >= 0) look_at_descriptor();
  }
  /// Everybody who waits is woken; what waits is returned, linked by nobody: pop until nullptr.
  void close(woken& then) noexcept;
  [[nodiscard]] parcel* pop() noexcept { return waiting_.pop_front(); }

 private:
  [[nodiscard]] parcel* find(const filter& wanted) noexcept;
  void settle(woken& then) noexcept;
  void tell_watchers(woken& then) noexcept;
  void look_at_descriptor() noexcept;

  base::intrusive_list<parcel> waiting_;
  std::uint32_t unready_ = 0;
  bool readable_ = false;  // the descriptor
  base::intrusive_list<waiting_thread> receivers_;
  base::intrusive_list<waiting_thread> senders_;
  base::intrusive_list<watch> watches_;
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
