#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/memory.hpp"
#include "rails/shm/atomic_calls.hpp"
#include "rails/shm/copy_figures.hpp"
#include "rails/shm/get_calls.hpp"
#include "rails/shm/piece_pusher.hpp"
#include "rails/shm/record_sender.hpp"
#include "rails/shm/segment.hpp"
#include "rails/shm/transfer_table.hpp"

namespace headway::rails::shm {

/// The sending end of this process's slot in one peer's segment, and what is known of the peer's
/// life. Its parts: records in the ring (record_sender.hpp), large payloads (transfer_table.hpp,
/// piece_pusher.hpp), requests that the peer answers (atomic_calls.hpp, get_calls.hpp).
///
/// A large payload (a transfer) is announced by a record. Then both ends take pieces of it by
/// moving `claim`. This end copies its pieces into buffers of the peer's segment, from which the
/// peer copies them at the same time; or directly to their target, once the peer has published it,
/// if the kernel permits that and it is faster. The peer reads pieces from this process's memory
/// when no buffer is being filled. So both ends copy at the same time while both are awake, and the
/// transfer goes on when only one of them has a thread to spare.
///
/// Shape:    `transfers_max` transfers under way; allocates nothing after construction.
/// Threads:  `send`, `put`, `get`, `atomic` one at a time; `advance` one at a time; both at the
///           same time, and together with the rest [any thread].
/// Progress: never waits: while another thread pushes, `advance` returns. A call copies at most
///           `copy_budget_bytes` and a piece.
class send_channel {
 public:
  struct context {
    peer_id peer{};
    std::unique_ptr<attachment> way;  ///< null: there is none (any more), all sends answer `down`
    bool fence_always = false;        ///< this process is not enlisted
    bool push = true;                 ///< false: no buffers if the peer reads the memory
    pid_t readable_pid = 0;           ///< 0: its memory cannot be read and written
    std::atomic<std::uint32_t>* posted_count = nullptr;  ///< sum over all peers, for `reap`
    std::atomic<bool>* news = nullptr;                   ///< set when a peer is lost or has closed
  };
  explicit send_channel(context made) noexcept;

  [[nodiscard, gnu::hot]] post send(const packet& what) noexcept;
  /// Writes into an exposure of the peer.
  [[nodiscard]] post put(const remote_place& to, std::span<const std::byte> from,
                         std::uint64_t cookie) noexcept;
  /// `before` null: a flush.
  [[nodiscard]] post atomic(const remote_place& at, const atomic_request& what,
                            std::uint64_t* before, std::uint64_t cookie) noexcept;
  /// Reads from an exposure of the peer, which passes the bytes through the reply buffers.
  [[nodiscard]] post get(const remote_place& from, std::span<std::byte> to,
                         std::uint64_t cookie) noexcept;
  /// Pushes pieces and reports what has ended: sent, failed.
  [[nodiscard]] std::size_t advance(std::span<event> out) noexcept;
  /// Whether `advance` would find something, or a `send` that answered `retry` would now succeed.
  [[nodiscard]] bool could_advance() noexcept;
  [[nodiscard]] bool unfinished() const noexcept;

  /// After a store into the peer's memory that it must see, whether it runs or sleeps.
  void notify() noexcept { records_.notify(); }
  /// The same of what can wait.
  void notify_of_waiting() noexcept { records_.notify_of_waiting(); }
  /// Null: the peer's segment is not seen from here.
  [[nodiscard]] attachment* attached() const noexcept { return way_.get(); }
  /// The peer's, if this process may read and write its memory, else 0.
  [[nodiscard]] pid_t readable_pid() const noexcept { return readable_pid_; }
  [[nodiscard]] bool peer_has_closed() const noexcept { return records_.peer_has_closed(); }
  [[nodiscard]] passed_buffers<>& passed() noexcept { return records_.passed(); }
  [[nodiscard]] passed_pieces<>& pieces() noexcept { return pieces_; }
  [[nodiscard]] bool has_buffer() noexcept { return records_.has_buffer(); }
  void reply_was_received() noexcept { records_.reply_was_received(); }
  /// Whether the peer's memory can be read and written, and an end of the peer be noticed.
  [[nodiscard]] bool is_direct() const noexcept {
    return readable_pid_ != 0 && way_ && way_->holds_process();
  }
  /// Whether large payloads are under way to the peer.
  [[nodiscard]] bool sends_payloads() const noexcept { return transfers_.unfinished(); }
  /// Whether large payloads of the peer are coming.
  void note_incoming(bool any) noexcept { receives_.store(any, std::memory_order_relaxed); }
  [[nodiscard]] copy_figures& figures() noexcept { return figures_; }
  /// This process closes. The peer may read the mark long after.
  void leave() noexcept;
  /// Checks whether the peer has closed or died.
  void look_after() noexcept;
  /// It died, or violates the format. `lost_is_due` says when `lost` is to be reported.
  void mark_lost() noexcept;
  /// Whether `lost` is due: dead, and not yet reported. For the thread that reaps.
  [[nodiscard]] bool lost_is_due() const noexcept {
    return lost_.load(std::memory_order_acquire) && !lost_reported_;  // pairs with mark_lost
  }
  void set_lost_reported() noexcept { lost_reported_ = true; }
  [[nodiscard]] peer_id peer() const noexcept { return peer_; }
  [[nodiscard]] bool peer_alive() const noexcept { return way_ && way_->owner_alive(); }

 private:
  [[nodiscard]] post start_transfer(const remote_place& to, std::span<const std::byte> from,
                                    std::uint64_t cookie) noexcept;
  [[nodiscard]] std::size_t report(std::span<event> out) noexcept HEADWAY_REQUIRES(pushing_);

  // Every message:
  record_sender records_;
  const peer_id peer_;
  const pid_t readable_pid_;
  const std::unique_ptr<attachment> way_;

  alignas(line_bytes) transfer_table transfers_;
  passed_pieces<> pieces_;
  copy_figures figures_;
  std::atomic<bool> receives_{false};  // the reaper writes it, the sender reads it; a hint: relaxed
  base::spinlock pushing_;             // only ever try-locked
  piece_pusher pusher_ HEADWAY_GUARDED_BY(pushing_);
  atomic_calls calls_;
  get_calls gets_;
  bool pieces_reserved_ = false;   // used by the sender
  bool replies_reserved_ = false;  // used by the sender
  std::atomic<bool> lost_{false};
  bool lost_reported_ = false;  // used by the reaper
  std::atomic<std::uint32_t>* const posted_count_;
  std::atomic<bool>* const news_;
};

}  // namespace headway::rails::shm
