#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/copy_for_reader.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/memory.hpp"
#include "rails/shm/atomic_calls.hpp"
#include "rails/shm/doorbell.hpp"
#include "rails/shm/get_calls.hpp"
#include "rails/shm/ring.hpp"
#include "rails/shm/ring_memory.hpp"
#include "rails/shm/segment.hpp"
#include "rails/shm/way_choice.hpp"

namespace headway::rails::shm {

/// The sending end of this process's slot in one peer's segment: records in the ring, and pieces of
/// large payloads.
///
/// A large payload (a transfer) is announced by a record. Then both ends take pieces of it by
/// moving `claim`. This end copies its pieces into buffers of the peer's segment, from which the
/// peer copies them at the same time; or directly to their target, once the peer has published it,
/// if the kernel permits that and it is faster. The peer reads pieces from this process's memory
/// when no buffer is being filled. So both ends copy at the same time while both are awake, and the
/// transfer goes on when only one of them has a thread to spare.
///
/// Shape:    `transfers_max` transfers under way; allocates nothing after construction.
/// Threads:  `send` one at a time; `advance` one at a time; both at the same time, and together
///           with `could_advance`, `notify`, `look_after`, `mark_lost` [any thread].
/// Progress: never waits: while another thread pushes, `advance` returns. A call copies at most
///           `budget_bytes` and a piece.
class send_channel {
 public:
  static constexpr std::size_t budget_bytes = 128 * 1024;

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
  void notify() noexcept {
    notify_of_waiting();
    if (hurry_bell_.must_ring(fence_always_)) [[unlikely]]
      way_->ring_bell();
  }
  [[nodiscard]] bool is_attached() const noexcept { return way_ != nullptr; }
  /// The peer's shared lines and banks; null: they are not seen from here.
  [[nodiscard]] std::byte* shared_lines() const noexcept {
    return way_ ? way_->shared_lines() : nullptr;
  }
  [[nodiscard]] std::byte* banks() const noexcept { return way_ ? way_->banks() : nullptr; }
  /// The peer's, if this process may read and write its memory, else 0.
  [[nodiscard]] pid_t readable_pid() const noexcept { return readable_pid_; }
  [[nodiscard]] bool peer_has_closed() const noexcept { return bell_.is_closed(); }
  /// Whether the peer's memory can be read and written, and an end of the peer be noticed.
  [[nodiscard]] bool is_direct() const noexcept {
    return readable_pid_ != 0 && way_ && way_->holds_process();
  }
  [[nodiscard]] bool process_runs() const noexcept { return way_ && way_->process_runs(); }
  [[nodiscard]] int memory_file() noexcept { return way_ ? way_->memory_file() : -1; }
  /// This process closes. The peer may read the mark long after.
  void leave() noexcept;
  /// Checks whether the peer has closed or died.
  void look_after() noexcept;
  /// It died, or violates the format. `report_lost` says when `lost` is to be reported.
  void mark_lost() noexcept;
  /// Whether `lost` is due: dead, and not yet reported. For the thread that reaps.
  [[nodiscard]] bool lost_is_due() const noexcept {
    return lost_.load(std::memory_order_acquire) && !lost_reported_;  // pairs with mark_lost
  }
  void set_lost_reported() noexcept { lost_reported_ = true; }
  [[nodiscard]] peer_id peer() const noexcept { return peer_; }
  [[nodiscard]] bool peer_alive() const noexcept { return way_ && way_->owner_alive(); }

 private:
  enum class state : std::uint8_t { fresh, up, down };

  struct piece_told {
    std::uint32_t number = 0;  // of the transfer
    std::size_t offset = 0, bytes = 0;
    bool placed = false;
  };

  /// A transfer under way, from `send` until `sent`.
  struct posting {
    std::span<const std::byte> payload;
    std::uint64_t cookie = 0;
    std::size_t pushed = 0;            // bytes; under pushing_
    std::uint32_t returned_first = 0;  // pieces that could not be read or placed
    std::uint32_t returned_count = 0;
    std::uint64_t begun_ns = 0;  // 0: not timed
    way_choice::way chosen = way_choice::way::buffers;
    bool can_place = false;  // where the peer lends a target
  };
  // Of a packet in parts, so long that publishing a part costs little beside copying it, and no
  // longer than half of the payload.
  static constexpr std::size_t part_bytes_max = 16 * 1024;
  static constexpr std::size_t parts_bytes_min = 12 * 1024;
  // for fewer bytes, system calls cost more
  static constexpr std::size_t placed_bytes_min = 128 * 1024;
  static constexpr std::size_t placed_bytes = 128 * 1024;  // at once, for the same reason
  /// Published immediately if the peer only waits for the end, because each publication wakes it.
  static constexpr std::size_t alone_bytes = 1024 * 1024;

  [[nodiscard]] bool reserve(std::uint64_t cells) noexcept;
  [[nodiscard, gnu::noinline]] bool reserve_late(std::uint64_t cells) noexcept;
  [[nodiscard, gnu::always_inline]] post write_record(record_kind kind,
                                                      std::span<const std::byte> first,
                                                      std::span<const std::byte> second,
                                                      bool can_wait = false) noexcept;
  void publish(record_head head, std::uint64_t cells, std::span<const std::byte> first,
               std::span<const std::byte> second, bool can_wait) noexcept;
  /// As `notify`, of a packet that can wait.
  void notify_of_waiting() noexcept {
    if (bell_.must_ring(fence_always_)) [[unlikely]]
      way_->ring_bell();
  }
  /// What is written so far cannot wait, or not any longer.
  void hurry() noexcept {
    // Before the load of the bell: the receiver looks at it after it has lain down. It carries
    // nothing.
    ring_.memory().hurried().store(ring_.written(), std::memory_order_relaxed);
    notify();
  }
  [[nodiscard, gnu::noinline]] post send_in_parts(const packet& what) noexcept;
  [[nodiscard, gnu::hot]] bool usable() noexcept;
  [[nodiscard, gnu::noinline]] bool begin() noexcept;
  [[nodiscard]] post start_transfer(const remote_place& to, std::span<const std::byte> from,
                                    std::uint64_t cookie) noexcept;
  void push() noexcept HEADWAY_REQUIRES(pushing_);
  /// The end of the transfers of which pieces may have been returned, the current one included.
  [[nodiscard]] std::uint32_t begun(std::uint32_t posted) const noexcept
      HEADWAY_REQUIRES(pushing_) {
    return next_push_ == posted ? posted : next_push_ + 1;
  }
  [[nodiscard]] bool next_piece(std::uint32_t& number, std::uint32_t& piece) noexcept
      HEADWAY_REQUIRES(pushing_);
  [[nodiscard]] bool buffer_free() const noexcept HEADWAY_REQUIRES(pushing_);
  void fill_buffer(std::uint32_t number, std::uint32_t piece) noexcept HEADWAY_REQUIRES(pushing_);
  [[nodiscard]] std::size_t place_some() noexcept HEADWAY_REQUIRES(pushing_);
  [[nodiscard]] bool is_pulled() const noexcept;
  [[nodiscard]] bool has_buffers() const noexcept;
  [[nodiscard]] bool leaves_copying() const noexcept;
  [[nodiscard]] bool copies_alone(std::uint32_t number) const noexcept;
  [[nodiscard]] bool may_place(std::uint32_t number) const noexcept;
  [[nodiscard]] std::uint64_t target_of(std::uint32_t number) const noexcept;
  [[nodiscard]] bool place(std::uint64_t target, std::span<const std::byte> bytes) noexcept;
  void announce(const piece_told& what) noexcept HEADWAY_REQUIRES(pushing_);
  [[nodiscard]] bool finished(std::uint32_t number) noexcept;
  [[nodiscard]] bool buffers_emptied(std::uint64_t& ticket) const noexcept
      HEADWAY_REQUIRES(pushing_);
  [[nodiscard]] bool take_returned(std::uint32_t number) noexcept;
  [[nodiscard]] std::size_t report(std::span<event> out) noexcept HEADWAY_REQUIRES(pushing_);

  // Every message:
  ring_writer<ring_memory> ring_;
  doorbell bell_;
  doorbell hurry_bell_;
  peer_id peer_;
  std::atomic<state> state_;
  bool fence_always_;
  bool push_;
  base::copy_for_reader copy_to_ring_;
  std::atomic<std::uint64_t> starved_at_{not_starved};  // `consumed` when `send` found no room
  std::unique_ptr<attachment> way_;
  const pid_t readable_pid_;

  // Transfers, counted from 0; transfer n lives in postings_[n % transfers_max].
  //   [done, next_push]   wait for pieces that the peer takes
  //   [next_push, posted) have pieces that no end took yet
  // Edges: (T) posted_ release -> acquire by the pusher; (D) done_ release -> acquire in `send`.
  alignas(line_bytes) std::atomic<std::uint32_t> posted_{0};
  std::atomic<std::uint32_t> done_{0};
  base::spinlock pushing_;  // only ever try-locked
  std::uint32_t next_push_ HEADWAY_GUARDED_BY(pushing_) = 0;
  std::uint64_t buffer_ticket_ HEADWAY_GUARDED_BY(pushing_) = 0;
  base::copy_for_reader copy_to_pieces_ HEADWAY_GUARDED_BY(pushing_);
  std::array<posting, transfers_max> postings_;
  way_choice choice_;
  atomic_calls calls_;
  get_calls gets_;
  // set to 0 by the pushing thread when the kernel or the peer refuses
  std::atomic<pid_t> writable_pid_;
  bool pieces_reserved_ = false;   // used by `send`
  bool replies_reserved_ = false;  // used by `send`
  std::atomic<bool> lost_{false};
  bool lost_reported_ = false;  // used by the reaper
  std::atomic<std::uint32_t>* posted_count_;
  std::atomic<bool>* news_;

  static constexpr std::uint64_t not_starved = ~std::uint64_t{0};
};

}  // namespace headway::rails::shm
