#pragma once

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace headway::rails::tcp {

/// The end of the stream of bytes to one peer: what was given to the kernel, and what the peer may
/// not have. It is sent again over the next connection if this one is cut.
///
/// Bytes are numbered from the first one to the peer, over all connections. Small ones are copied;
/// those of larger payloads are read where they are until their owner wants them back, and are then
/// copied if the peer's kernel does not have them.
///
/// Shape:    at most `ranges_max` ranges of at most `block_bytes`. Older bytes are forgotten, and a
///           peer that lacks them cannot be sent the rest. Memory is taken as it is needed.
/// Threads:  under the connection's lock.
/// Progress: never waits. Asks the kernel once for each `block_bytes` that are copied, and when an
///           owner wants more than `copied_unasked` bytes back.
/// Errors:   memory that is refused: bytes are forgotten.
/// Source:   acknowledgements of TCP (RFC 9293), as Linux tells them (SIOCOUTQ); decision 39.
class sent_log {
 public:
  static constexpr std::size_t block_bytes = 64 * 1024;
  static constexpr std::size_t ranges_max = 512;
  static constexpr std::size_t lent_min = 2 * 1024;  ///< to copy less costs no more than a range
  static constexpr std::size_t copied_unasked = 16 * 1024;  ///< takes as long as a question

  /// What a kernel says of a connection: bytes that its peer's kernel has not acknowledged.
  /// Nothing: it does not say.
  using question = std::optional<std::size_t> (*)(int fd);

  /// What the peer has told. Relaxed: hints that carry nothing.
  struct receipts {
    /// Something has come, and the peer has said last that it has so many bytes. Stores only what
    /// is new, because it is called at each reception.
    void note(std::uint64_t peer_received) noexcept {
      if (!has_sent.load(std::memory_order_relaxed))
        has_sent.store(true, std::memory_order_relaxed);
      if (received.load(std::memory_order_relaxed) != peer_received)
        received.store(peer_received, std::memory_order_relaxed);
    }
    std::atomic<bool> has_sent{false};       ///< something has come over this connection
    std::atomic<std::uint64_t> received{0};  ///< bytes of the stream, as it said last
  };
  enum class source : std::uint8_t {
    kernel,  ///< what the peer's kernel has is received, once the peer has sent something
    peer,    ///< what the peer says that it has received
  };

  explicit sent_log(question ask) noexcept : ask_(ask) {}
  ~sent_log();
  sent_log(const sent_log&) = delete;
  sent_log& operator=(const sent_log&) = delete;

  /// From now on bytes are kept. Before the first one.
  void open() noexcept { open_ = true; }
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  /// Forgets everything, for good. Nothing is borrowed any more.
  void close() noexcept;

  /// What follows is written to this connection.
  void begin(int fd, const receipts& told, source by) noexcept;
  /// That connection is about to be closed, and its kernel is not asked any more.
  void end_connection() noexcept { fd_ = -1; }

  /// The kernel has taken these bytes: copies them. Closed: no effect. If the peer has received all
  /// of them, another thread may change them meanwhile (a put to the part of a window that a get
  /// has read). The copy may then be wrong, and is never sent, because the peer has the bytes.
  void add(std::span<const std::byte> bytes) noexcept;
  /// `add` without a copy: memory for so many bytes that are then given to the kernel, at most
  /// `block_bytes`. Null: closed, or no memory.
  [[nodiscard]] std::byte* place(std::size_t bytes) noexcept;
  /// The kernel has taken so many bytes from the last `place`.
  void add_placed(std::size_t bytes) noexcept;
  /// `add` for bytes that stay where they are until `give_back`. Few are copied at once.
  void borrow(std::span<const std::byte> bytes) noexcept;
  /// The same until `reclaim`. The first `copied_unasked` bytes after a `reclaim` are copied: that
  /// takes no longer than the question that `reclaim` would ask.
  void lend(std::span<const std::byte> bytes) noexcept;
  /// Borrowed bytes that the peer may not have. Asks the kernel.
  [[nodiscard]] std::size_t borrowed() noexcept;
  /// The owner of all that is borrowed wants it back: copies what may still be needed.
  void give_back() noexcept;
  /// The same for all that was lent.
  void reclaim() noexcept;

  /// The peer has received so many bytes: what follows them is sent again. False: it is forgotten,
  /// or was never sent.
  [[nodiscard]] bool rewind(std::uint64_t received) noexcept;
  /// Something has to be sent again before anything else.
  [[nodiscard]] bool rewound() const noexcept { return written_ != end_; }
  /// Lists what to send again, in order; returns how many entries of `vectors` it has filled.
  [[nodiscard]] std::size_t gather(std::span<iovec> vectors) const noexcept;
  /// The kernel has taken so many bytes of the last `gather`.
  void advance(std::size_t bytes) noexcept { written_ += bytes; }

  [[nodiscard]] std::uint64_t oldest() const noexcept { return begin_; }  ///< number of a byte
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }       ///< of the next one

 private:
  enum class kept : std::uint8_t { copied, borrowed, lent };
  struct block {
    std::size_t ranges = 0;  // that lie in it
    block* next = nullptr;   // of the free ones
    alignas(64) std::array<std::byte, block_bytes> bytes;
  };
  struct range {
    std::uint64_t first = 0;
    std::size_t bytes = 0;
    const std::byte* at = nullptr;
    block* in = nullptr;  // of copied ones
    kept how = kept::copied;
  };

  [[nodiscard]] range& at(std::size_t i) const noexcept {
    return ranges_[(oldest_ + i) % ranges_max];
  }
  [[nodiscard]] range* newest() const noexcept { return count_ == 0 ? nullptr : &at(count_ - 1); }
  [[nodiscard]] std::uint64_t acknowledged() const noexcept;
  void grow(std::size_t bytes) noexcept { written_ = end_ += bytes; }
  void pass_over(std::size_t bytes) noexcept;
  void keep(std::span<const std::byte> bytes, kept how) noexcept;
  void copy_all(kept how) noexcept;
  [[nodiscard]] bool ensure_ranges() noexcept;
  [[nodiscard]] std::span<std::byte> room(std::size_t least) noexcept;
  [[nodiscard]] block* take_block() noexcept;
  void free_block(block* b) noexcept;
  void make_room_for_range() noexcept;
  void push(const range& r) noexcept;
  void forget(std::uint64_t until) noexcept;
  void trim() noexcept;

  question ask_;
  bool open_ = false;
  int fd_ = -1;
  const receipts* told_ = nullptr;
  source by_ = source::kernel;
  std::uint64_t begin_ = 0;       // of what is kept
  std::uint64_t end_ = 0;         // of what was ever given to a kernel
  std::uint64_t written_ = 0;     // of what was given to the kernel for this connection
  std::uint64_t trimmed_at_ = 0;  // the end at the last question
  std::size_t copied_ = 0;        // bytes since then
  std::size_t lent_bytes_ = 0;    // that are read where they are
  std::size_t offered_ = 0;       // bytes to `lend` since the last `reclaim`
  std::unique_ptr<range[]> ranges_;
  std::size_t oldest_ = 0;
  std::size_t count_ = 0;
  block* filling_ = nullptr;
  std::size_t filled_ = 0;  // bytes of it
  block* free_ = nullptr;
  std::size_t free_count_ = 0;
};

}  // namespace headway::rails::tcp
