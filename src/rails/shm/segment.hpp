#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "processes/process.hpp"
#include "rails/shm/host.hpp"
#include "rails/shm/layout.hpp"

namespace headway::rails::shm {

/// An open file descriptor, closed by the destructor.
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
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// A file's memory. All drivers of a process that map the same file share one mapping.
///
/// The table of mappings is global to the process, although runtimes share nothing else: if two
/// runtimes in one process are connected, each maps its own segment and the other's.
/// ThreadSanitizer works by address: with two mappings of the same word it would miss races and the
/// order that a release and an acquire make. The table does not keep mappings alive.
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
  std::string name;           ///< the beginning of the file's name; the bell is that name and .bell
  std::uint32_t sharers = 1;  ///< processes that may share the file system's memory
  geometry shape;             ///< with fewer piece buffers if memory is scarce
};

/// The segment of this process: file, memory and bell. The process holds a lock on the file while
/// it lives, by which others detect its death.
///
/// The file system allocates the memory of a slot when its peer first sends. If it may not have
/// enough for all sharers, `create` allocates the memory of all slots, so that a process knows at
/// start whether shared memory can reach it.
/// Errors:   `create`: `no_memory`; the text says how much is needed and how much there is.
class segment {
 public:
  [[nodiscard]] static base::result<std::unique_ptr<segment>> create(
      const segment_options& options);
  /// Removes the names, if they still exist.
  ~segment();
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;

  [[nodiscard]] segment_head& head() const noexcept;
  [[nodiscard]] slot_view slot(std::uint32_t index) const noexcept;
  [[nodiscard]] std::byte* shared_lines() const noexcept {
    return memory_->base() + shared_lines_at;
  }
  [[nodiscard]] std::byte* banks() const noexcept { return memory_->base() + shape_.banks_at(); }
  /// Makes the file system keep memory for so many bytes of a slot's bank and what is around it.
  /// False: there is too little, or little would be left for others.
  [[nodiscard]] bool reserve_of_slot(std::uint32_t slot, std::size_t begin,
                                     std::size_t bytes) const noexcept;
  [[nodiscard]] const geometry& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] int bell() const noexcept { return bell_.get(); }
  void ring_bell() const noexcept;
  /// Reads all bytes from the bell. True: there were some.
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

/// The segment of a peer, and the slot in it that this process writes.
///
/// Shape:    three descriptors, and a fourth from the first call of `memory_file` on, while those
///           of all attachments are at most a quarter of this process's limit; otherwise none, and
///           each check of the peer's life and each ring opens one for a moment. If none is left
///           for a ring, the peer finds the message at its next look, within 33 ms.
class attachment {
 public:
  /// `unsupported`: the segment cannot be reached or is another one; `no_memory`: it has no slot,
  /// or no memory for one with its ring, or this process has no descriptor or memory.
  [[nodiscard]] static base::result<std::unique_ptr<attachment>> attach(const address& where,
                                                                        processes::process_id me);
  attachment(const attachment&) = delete;
  attachment& operator=(const attachment&) = delete;
  ~attachment();

  [[nodiscard]] segment_head& head() const noexcept;
  [[nodiscard]] const slot_view& slot() const noexcept { return slot_; }
  [[nodiscard]] std::byte* shared_lines() const noexcept {
    return memory_->base() + shared_lines_at;
  }
  [[nodiscard]] std::byte* banks() const noexcept { return memory_->base() + shape_.banks_at(); }
  [[nodiscard]] std::uint32_t slot_index() const noexcept { return index_; }
  [[nodiscard]] const geometry& shape() const noexcept { return shape_; }
  void ring_bell() const noexcept;
  /// Makes the file system allocate the memory of these buffers, as `attach` does for the ring.
  /// Otherwise its lack would show in the middle of a copy, as a signal. False: there is not
  /// enough, as the log says.
  [[nodiscard]] bool reserve_pieces() noexcept;
  [[nodiscard]] bool reserve_replies() noexcept;
  [[nodiscard]] bool reserve_passed() noexcept;  ///< without a line in the log
  [[nodiscard]] bool owner_alive() const noexcept;
  /// Whether a descriptor of its process is kept, which tells whether its pid is still valid.
  [[nodiscard]] bool holds_process() const noexcept { return process_.valid(); }
  /// Whether its process runs now, so that its pid is valid: one system call. Only if
  /// `holds_process`.
  [[nodiscard]] bool process_runs() const noexcept {
    return holds_process() && !process_has_ended();
  }
  /// The memory of its process as a file (proc(5)), which has nothing in it once the process has
  /// ended. -1: there is none. Any thread.
  [[nodiscard]] int memory_file() noexcept {
    // Edge (M): opened in one thread -> used in another. The kernel orders that, too.
    const int known = memory_file_.load(std::memory_order_acquire);  // (M)
    return known != not_opened ? known : open_memory_file();
  }

 private:
  attachment() = default;
  static constexpr int no_file = -1, not_opened = -2;
  [[nodiscard]] int open_memory_file() noexcept;
  [[nodiscard]] base::result<> map(const address& where);
  [[nodiscard]] base::result<> claim_slot(processes::process_id me, const std::string& path);
  void keep_or_close() noexcept;
  [[nodiscard]] bool process_has_ended() const noexcept;
  /// -1: it has no name any more, or no descriptor is left. `again` closes what was opened.
  [[nodiscard]] int file(owned_fd& again) const noexcept;
  [[nodiscard]] bool reserve(const std::byte* begin, std::size_t bytes) noexcept;
  [[nodiscard]] bool reserve_or_say(const std::byte* begin, std::size_t bytes) noexcept;

  owned_fd file_;
  owned_fd bell_;
  owned_fd process_;   // a pidfd, if both processes see the same pids
  bool kept_ = false;  // whether these three are kept open
  std::atomic<int> memory_file_{not_opened};
  pid_t pid_ = 0;  // if both processes see the same pids, else 0
  std::shared_ptr<mapping> memory_;
  std::string path_;
  geometry shape_;
  slot_view slot_;
  std::uint32_t index_ = 0;
};

/// The size of the file system that holds `directory`: the same for all processes that can use each
/// other's segments. Nothing: it has no limit, or reports none.
[[nodiscard]] std::optional<std::size_t> capacity_of(const std::string& directory) noexcept;

/// Makes the kernel map these whole pages of a segment now, in one call, not each one where it is
/// first used. A hint: kernels before 5.14 do not.
void map_now(std::byte* begin, std::size_t bytes) noexcept;

/// Removes segments and bells of this user in `directory` whose owners are dead, except those whose
/// names begin with `kept`: processes of a job that start together need not check each other.
void sweep(const std::string& directory, std::string_view kept) noexcept;

constexpr const char* file_prefix = "headway-";

}  // namespace headway::rails::shm
