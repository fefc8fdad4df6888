#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "processes/process.hpp"
#include "rails/shm/host.hpp"
#include "rails/shm/layout.hpp"

namespace headway::rails::shm {

/// An open file descriptor, closed in the end.
class owned_fd {
 public:
  owned_fd() = default;
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~owned_fd();
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A file's memory. All drivers of a process that map the same file share one mapping.
///
/// The table of mappings is the process's, although runtimes have nothing else in common: where two
/// of them in one process are connected, each maps its own segment and the other's.
/// ThreadSanitizer follows addresses, so at two addresses of one word it would see neither a race
/// nor the order that a release and an acquire make. The table keeps nothing alive.
class mapping {
 public:
  [[nodiscard]] static base::result<std::shared_ptr<mapping>> of(int fd, std::size_t bytes);
  ~mapping();
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct key {
    std::uint64_t device;
    std::uint64_t inode;
    bool operator==(const key&) const = default;
  };
  friend struct mapping_table;
  mapping(std::byte* base, std::size_t bytes, key of_file) noexcept
      : base_(base), bytes_(bytes), key_(of_file) {}

  std::byte* base_;
  std::size_t bytes_;
  key key_;
};

struct segment_options {
  std::string directory;
  std::string name;           ///< the file's begins with it; the bell is that name and .bell
  std::uint32_t sharers = 1;  ///< processes that may come to share the file system's memory
  geometry shape;             ///< fewer buffers for pieces are made where memory is scarce
};

/// My own segment: file, memory and bell. While the process lives it holds a lock on the file, so
/// that others see its death, however it dies.
///
/// The file system keeps memory for a slot when its peer first sends. Where it may not have enough
/// for all sharers, memory for the slots of all of them is kept by `create`, so that a process
/// knows at its start whether it can be reached by shared memory.
/// Errors:   `create`: `no_memory` says how much is needed and how much there is.
class segment {
 public:
  [[nodiscard]] static base::result<std::unique_ptr<segment>> create(
      const segment_options& options);
  /// Takes the names away, if they are still there.
  ~segment();
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;

  [[nodiscard]] segment_head& head() const noexcept;
  [[nodiscard]] slot_view slot(std::uint32_t index) const noexcept;
  [[nodiscard]] std::byte* board() const noexcept { return memory_->base() + board_at; }
  [[nodiscard]] std::byte* banks() const noexcept { return memory_->base() + shape_.banks_at(); }
  /// Makes the file system keep memory for the bank of a slot. False: there is too little, or
  /// little would be left for others.
  [[nodiscard]] bool reserve_bank(std::uint32_t slot) const noexcept;
  [[nodiscard]] const geometry& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] int bell() const noexcept { return bell_.get(); }
  void ring_bell() const noexcept;
  /// Takes all bytes out of the bell. True: there were some.
  bool drain_bell() const noexcept;

 private:
  segment() = default;

  owned_fd file_;
  owned_fd bell_;
  std::shared_ptr<mapping> memory_;
  geometry shape_;
  std::uint32_t sharers_ = 1;
  std::string path_;
};

/// A peer's segment, with the slot in it that is mine to write.
///
/// Shape:    three descriptors, as long as those of all attachments are no more than a quarter of
///           what the process may have; else none, and each look at the peer's life and each ring
///           opens one for a moment. A ring for which none is left is made up for when the peer
///           looks by itself, after 100 ms.
class attachment {
 public:
  /// `unsupported` when that segment cannot be reached or is not the one that was meant;
  /// `no_memory` when it has no slot, or no memory for one, or this process no descriptor.
  [[nodiscard]] static base::result<std::unique_ptr<attachment>> attach(const address& where,
                                                                        processes::process_id me);
  attachment(const attachment&) = delete;
  attachment& operator=(const attachment&) = delete;
  ~attachment();

  [[nodiscard]] segment_head& head() const noexcept;
  [[nodiscard]] const slot_view& slot() const noexcept { return slot_; }
  [[nodiscard]] std::byte* board() const noexcept { return memory_->base() + board_at; }
  [[nodiscard]] std::byte* banks() const noexcept { return memory_->base() + shape_.banks_at(); }
  [[nodiscard]] std::uint32_t slot_index() const noexcept { return index_; }
  [[nodiscard]] const geometry& shape() const noexcept { return shape_; }
  void ring_bell() const noexcept;
  /// Makes the file system keep memory for the ring (or other buffers), which would otherwise
  /// be missed in the middle of a copy, by a signal. False: there is not enough, as the log says.
  [[nodiscard]] bool reserve_ring() noexcept;
  [[nodiscard]] bool reserve_pieces() noexcept;
  [[nodiscard]] bool reserve_replies() noexcept;
  [[nodiscard]] bool owner_alive() const noexcept;
  /// Whether its process certainly runs now, and so its pid is its own: one system call. False also
  /// where that is not known.
  [[nodiscard]] bool process_runs() const noexcept;

 private:
  attachment() = default;
  [[nodiscard]] base::result<> map(const address& where);
  [[nodiscard]] base::result<> claim_slot(processes::process_id me, const std::string& path);
  void keep_or_close() noexcept;
  /// -1: it has no name any more, or no descriptor is left. `again` closes what was opened.
  [[nodiscard]] int file(owned_fd& again) const noexcept;
  [[nodiscard]] bool reserve(const std::byte* begin, std::size_t bytes) noexcept;
  [[nodiscard]] bool reserve_or_say(const std::byte* begin, std::size_t bytes) noexcept;

  owned_fd file_;
  owned_fd bell_;
  owned_fd process_;   // a pidfd, where pids mean the same to both of us
  bool kept_ = false;  // these three
  pid_t pid_ = 0;      // where pids mean the same, else 0
  std::shared_ptr<mapping> memory_;
  std::string path_;
  geometry shape_;
  slot_view slot_;
  std::uint32_t index_ = 0;
};

/// Removes segments and bells of this user in `directory` whose owners are dead, but those whose
/// names begin with `kept`: the processes of a job that start together need not look at each other.
void sweep(const std::string& directory, std::string_view kept) noexcept;

constexpr const char* file_prefix = "headway-";

}  // namespace headway::rails::shm
