#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "rails/driver.hpp"
#include "rails/tcp/sent_log.hpp"
#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {

/// The queue of a connection: what was accepted and not yet given to the kernel.
///
/// Plain packets keep their order. Bytes for exposures leave in segments, each a frame of its own,
/// and plain packets go between two segments: a short message does not wait for megabytes. While
/// more of them waits, payloads are kept until the peer's kernel has them, because the log would
/// have to copy them.
///
/// Shape:    `entry_count` plain packets whose copied bytes fit in `copy_bytes`, and `entry_count`
///           pieces. The memory is allocated with the first packet that has to wait.
/// Threads:  under the connection's lock.
/// Errors:   a full queue accepts nothing.
class output {
 public:
  static constexpr std::size_t entry_count = 512;
  static constexpr std::size_t copy_bytes = 512 * 1024;
  static constexpr std::size_t vectors_max = 32;
  static constexpr std::size_t written_max = vectors_max / 2;

  /// Bytes in memory of the user's.
  struct payload {
    std::span<const std::byte> bytes;
    std::uint64_t cookie = 0;
    bool lent = false;  ///< see packet
  };

  explicit output(std::size_t segment_bytes) noexcept : segment_bytes_(segment_bytes) {}
  ~output() { clear(); }
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  [[nodiscard]] bool empty() const noexcept {
    return plain_.empty() && pieces_.empty() && !segment_;
  }

  /// Queues a plain packet of which `sent` bytes have left already. If `copy`, the payload is
  /// copied, otherwise it is read until `advance` or `drop` returns `cookie`. False: no room.
  [[nodiscard]] bool take_plain(const packet& p, std::size_t sent, bool copy) noexcept;
  [[nodiscard]] bool plain_waits() const noexcept { return !plain_.empty(); }
  [[nodiscard]] std::size_t piece_count() const noexcept { return pieces_.count; }
  /// The bytes of queued packets that are the caller's until they are sent.
  [[nodiscard]] std::size_t posted_bytes() const noexcept { return posted_bytes_; }
  /// Whether there is room for any plain packet.
  [[nodiscard]] bool has_room() const noexcept;
  /// Queues bytes for an exposure of the peer, which are read until `advance` or `drop` returns
  /// `cookie`. False: no room.
  [[nodiscard]] bool take_piece(std::uint64_t id, std::uint64_t offset,
                                const payload& from) noexcept;
  /// The same for bytes that are freed when they are sent or dropped; there is no cookie.
  [[nodiscard]] bool take_answer(std::uint64_t id, std::uint64_t offset,
                                 std::unique_ptr<std::byte[]> own, std::size_t bytes) noexcept;
  /// Queues a frame and what its header_bytes announce. False: no room.
  [[nodiscard]] bool take_frame(const frame& f, std::span<const std::byte> header = {}) noexcept;

  /// Lists what to write next, in order. Returns how many entries of `vectors` it has filled.
  [[nodiscard]] std::size_t gather(std::span<iovec, vectors_max> vectors) noexcept;
  /// So many bytes of the last `gather` were written: adds them to `log`. Stores the cookies of
  /// payloads that may be reused in `cookies`; returns how many.
  std::size_t advance(std::size_t bytes, std::span<std::uint64_t, vectors_max> cookies,
                      sent_log& log) noexcept;
  /// After a loss: removes one payload, and returns its cookie.
  [[nodiscard]] std::optional<std::uint64_t> drop() noexcept;
  /// After the last `drop`: clears the rest and frees the memory.
  void clear() noexcept;

 private:
  /// Copied bytes, then the user's, then padding; `done` counts over all three.
  struct run {
    const std::byte* head = nullptr;
    std::size_t head_bytes = 0;
    const std::byte* payload = nullptr;
    std::size_t payload_bytes = 0;
    std::size_t padding = 0;
    std::size_t done = 0;
    std::uint64_t cookie = 0;
    bool posted = false;
    bool lent = false;
    std::byte* own = nullptr;  // freed at the end
    [[nodiscard]] std::size_t left() const noexcept {
      return head_bytes + payload_bytes + padding - done;
    }
  };
  struct piece {
    const std::byte* payload = nullptr;
    std::uint64_t left = 0;
    std::uint64_t id = 0;
    std::uint64_t offset = 0;
    std::uint64_t cookie = 0;
    bool lent = false;
    std::byte* own = nullptr;  // the payload, if there is no cookie
  };
  /// A payload that the kernel has, and that the log may still need.
  struct written {
    std::uint64_t end = 0;  // its last byte's number in the log, and one more
    std::uint64_t cookie = 0;
    std::byte* own = nullptr;  // the payload, if there is no cookie
  };
  /// First in, first out, over the memory of `store`.
  template <class T>
  struct queue {
    T* slots = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;
    [[nodiscard]] bool empty() const noexcept { return count == 0; }
    [[nodiscard]] bool full() const noexcept { return count == entry_count; }
    [[nodiscard]] T& at(std::size_t i) const noexcept { return slots[(first + i) % entry_count]; }
    void push(const T& value) noexcept { slots[(first + count++) % entry_count] = value; }
    void pop() noexcept {
      first = (first + 1) % entry_count;
      --count;
    }
  };
  struct store {
    std::array<run, entry_count> plain;
    std::array<piece, entry_count> pieces;
    std::array<written, written_max> held;
    std::array<std::byte, copy_bytes> copies;
  };

  [[nodiscard]] bool ensure_store() noexcept;
  [[nodiscard]] std::byte* room_for(std::size_t bytes) const noexcept;
  void start_segment() noexcept;
  [[nodiscard]] std::optional<std::uint64_t> end_segment(std::size_t& bytes,
                                                         sent_log& log) noexcept;
  std::size_t give_back(std::span<std::uint64_t> cookies, sent_log& log) noexcept;
  static void list(const run& r, std::span<iovec, vectors_max> vectors,
                   std::size_t& count) noexcept;
  template <class Take>
  static void each_part(const run& r, Take take) noexcept;
  static bool finish(run& r, std::size_t& bytes, sent_log& log, bool stays) noexcept;

  std::size_t segment_bytes_;
  std::unique_ptr<store> store_;
  queue<run> plain_;
  queue<piece> pieces_;
  std::size_t held_count_ = 0;  // of `store_->held`, oldest first
  std::size_t posted_bytes_ = 0;
  std::size_t copies_end_ = 0;  // in `store_->copies`: behind the newest copied bytes

  bool segment_ = false;        // part of the first piece is framed and not all written
  bool segment_begun_ = false;  // its first byte has been handed to the kernel
  frame_image segment_frame_{};
  run segment_run_;
};

}  // namespace headway::rails::tcp
