#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rails/driver.hpp"
#include "rails/tcp/memory_tables.hpp"
#include "rails/tcp/record_reader.hpp"
#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {

/// A buffer that holds received bytes until the module above has released them.
struct block {
  static constexpr std::size_t bytes = 256 * 1024;
  std::uint32_t unreleased = 0;  ///< events that refer to its bytes
  bool filling = false;          ///< some connection reads into it
  alignas(64) std::array<std::byte, bytes> data;
};

/// The blocks of one driver. The one that was released last is reused first, so that all
/// connections of a quiet program share the same warm memory.
/// Shape:    grows one by one up to a limit, and keeps what it has.
/// Threads:  the reaper.
class block_pool {
 public:
  explicit block_pool(std::size_t blocks_max) noexcept : blocks_max_(blocks_max) {}
  void limit_to(std::size_t blocks_max) noexcept { blocks_max_ = blocks_max; }
  /// Null: the maximum is in use.
  [[nodiscard]] block* take() noexcept;
  /// Frees the block when no connection reads into it and no event refers to it.
  void settle(block& b) noexcept;

 private:
  std::size_t blocks_max_;
  std::vector<std::unique_ptr<block>> all_;
  std::vector<block*> free_;
};

/// The events that the caller of `reap` has room for.
class event_sink {
 public:
  explicit event_sink(std::span<event> room) noexcept : room_(room) {}
  [[nodiscard]] bool full() const noexcept { return count_ == room_.size(); }
  [[nodiscard]] std::size_t space() const noexcept { return room_.size() - count_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  void put(const event& e) noexcept { room_[count_++] = e; }

 private:
  std::span<event> room_;
  std::size_t count_ = 0;
};

/// Parses the bytes from one peer into events.
///
/// Small frames are read many at a time into a block and handed out in place. The payload of a
/// piece is read by the kernel straight into its exposure, with the block behind it in the same
/// call; or, of an encrypted connection, decrypted there.
///
/// Threads:  the reaper.
/// Progress: never waits; one call reads at most `budget` bytes.
/// Errors:   `broken` when the peer violates the format; pieces for withdrawn exposures are
///           dropped.
class input {
 public:
  enum class state : std::uint8_t {
    waiting,     ///< the kernel has no more for now
    more,        ///< stopped early: events or budget ran out, call again
    ended,       ///< the peer has closed, or the connection failed: nothing more comes
    broken,      ///< the peer violates the format
    unverified,  ///< what has come over an encrypted connection is not what the peer has sent
  };

  /// `records` of a connection that is encrypted.
  input(block_pool& blocks, memory_tables& memory, peer_id peer,
        std::unique_ptr<record_reader> records = nullptr) noexcept
      : blocks_(&blocks), memory_(&memory), peer_(peer), records_(std::move(records)) {}
  input(const input&) = delete;
  input& operator=(const input&) = delete;
  ~input() { stop(); }

  state read(int fd, event_sink& out, std::size_t budget) noexcept;
  /// The next bytes come over another connection, with these `records` if that is encrypted.
  void go_on(std::unique_ptr<record_reader> records) noexcept { records_ = std::move(records); }
  /// The bytes of the stream that have come, over all its connections.
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  /// The peer is to be told so: its kernel does not know what could be decrypted here.
  [[nodiscard]] bool owes_receipt() const noexcept {
    return records_ && received_ - receipt_ >= receipt_each;
  }
  void receipt_sent() noexcept { receipt_ = received_; }
  /// The bytes of our stream that the peer has received, as it said last.
  [[nodiscard]] std::uint64_t peer_received() const noexcept { return peer_received_; }

  [[nodiscard]] bool said_goodbye() const noexcept { return goodbye_; }
  /// Bytes of a large payload that are known to follow on the connection: a wake-up before they
  /// come is useless.
  [[nodiscard]] std::size_t awaited_bytes() const noexcept {
    if (piece_left_ == 0) return 0;
    const auto all = piece_left_ + trailer_bytes();
    return records_ ? all - std::min(all, records_->held_bytes()) : all;
  }
  /// The peer's requests for this process's memory, in order: to be answered and removed.
  [[nodiscard]] std::deque<asked_request>& asked() noexcept { return asked_; }
  /// Why the kernel gave no bytes to the last `read` (errno); 0: the other end has closed.
  [[nodiscard]] int error() const noexcept { return error_; }
  void stop() noexcept;

 private:
  static constexpr std::uint64_t receipt_each = 256 * 1024;

  enum class parsing : std::uint8_t { needs_bytes, needs_events, broken };

  [[nodiscard]] std::size_t available() const noexcept { return end_ - begin_; }
  [[nodiscard]] const std::byte* front() const noexcept { return block_->data.data() + begin_; }
  /// What follows the piece's payload: padding, and, if another piece follows, its frame.
  [[nodiscard]] std::size_t trailer_bytes() const noexcept {
    return padding_ + (more_pieces_ ? frame_bytes : 0);
  }

  /// The next position in the block at which the padding ends aligned: frames are aligned.
  [[nodiscard]] std::size_t place_behind_padding() const noexcept {
    return ((end_ + 15) & ~std::size_t{7}) - padding_;
  }

  parsing parse(event_sink& out) noexcept;
  parsing parse_frame(event_sink& out) noexcept;
  parsing parse_plain(const frame& f, event_sink& out) noexcept;
  parsing parse_request(const frame& f) noexcept;
  parsing parse_refusal(const frame& f, event_sink& out) noexcept;
  bool land_buffered(event_sink& out) noexcept;
  void landed(std::uint64_t token, std::size_t bytes, event_sink& out) noexcept;
  void pass_over(std::size_t bytes) noexcept;
  [[nodiscard]] bool is_answer() const noexcept { return (id_ & memory_calls::answer_bit) != 0; }
  [[nodiscard]] exposures& table() const noexcept {
    return is_answer() ? memory_->calls.answers() : memory_->exposed;
  }
  [[nodiscard]] exposures::request part(std::size_t bytes) const noexcept {
    return {
        .peer = peer_, .id = id_ & ~memory_calls::answer_bit, .offset = offset_, .bytes = bytes};
  }
  void skip_padding() noexcept;

  /// As `recvmsg`.
  [[nodiscard]] std::ptrdiff_t receive(int fd, std::span<const iovec> into) noexcept;
  /// The same, not counted.
  [[nodiscard]] std::ptrdiff_t take_in(int fd, std::span<const iovec> into) noexcept;
  /// The end of a `read` for which the kernel has no more.
  [[nodiscard]] state drained() const noexcept {
    return records_ && records_->holds_more() ? state::more : state::waiting;
  }
  bool make_room(std::size_t bytes) noexcept;
  void tidy() noexcept;
  std::ptrdiff_t read_ahead(int fd, std::size_t bytes_max, bool& short_read) noexcept;
  std::ptrdiff_t read_piece(int fd, event_sink& out, std::size_t bytes_max,
                            bool& short_read) noexcept;
  std::ptrdiff_t drop_piece(int fd, std::size_t bytes_max, bool& short_read) noexcept;

  block_pool* blocks_;
  memory_tables* memory_;
  peer_id peer_;
  std::unique_ptr<record_reader> records_;  // null: the connection is not encrypted
  block* block_ = nullptr;                  // null while it holds nothing
  std::size_t begin_ = 0;                   // [begin_, end_) of the block is not parsed yet
  std::size_t end_ = 0;
  std::size_t needed_ = 0;  // size of the frame at the front; 0: not known
  bool goodbye_ = false;
  bool out_of_bounds_ = false;
  int error_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t receipt_ = 0;  // of so many bytes was sent last
  std::uint64_t peer_received_ = 0;
  std::deque<asked_request> asked_;

  // The piece whose payload is coming in.
  std::uint64_t id_ = 0;
  std::uint64_t offset_ = 0;
  std::size_t piece_left_ = 0;
  std::size_t padding_ = 0;  // to skip after the payload
  bool more_pieces_ = false;
};

}  // namespace headway::rails::tcp
