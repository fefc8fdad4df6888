#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/atomic.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "processes/process.hpp"

namespace headway::processes {

/// The processes that this process has met, numbered in the order in which they were added.
/// Shape:    grows, to at most 2^31 entries; an entry never moves or changes. 16 bytes a process
///           and 8 to 16 for `find`.
/// Threads:  any.
/// Progress: `at` and `size` take no lock. `add` and `find` take a mutex; `add` allocates.
class table {
  // Hazard: `at` reads an entry or a chunk before it is written. Edge: (A) release -> (R) acquire:
  // `size_` is increased after the entry and its chunk's address are written, and `at` reads
  // `size_` first.
 public:
  static constexpr std::uint32_t size_max = std::uint32_t{1} << 31;

  table() = default;
  ~table();
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  /// The process's index: the existing one, if it was added before.
  peer_id add(process_id process);
  [[nodiscard]] std::optional<peer_id> find(process_id process) const;
  /// `peer` was returned by `add` of this table.
  [[nodiscard]] process_id at(peer_id peer) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept {
    return size_.load(std::memory_order_acquire);  // (R)
  }

 private:
  // Chunk 0 has `first_chunk` entries, each further one as many as all before it.
  static constexpr std::uint32_t first_chunk = 16;
  static constexpr std::uint32_t unused = ~std::uint32_t{0};

  static std::size_t chunk_of(std::uint32_t index) noexcept;
  static std::uint32_t chunk_begin(std::size_t chunk) noexcept;
  process_id& entry(std::uint32_t index) const noexcept;
  /// The position of `process` in `slots_`, or the free slot for it.
  std::size_t slot_of(process_id process) const noexcept HEADWAY_REQUIRES(lock_);
  void enlarge_slots() HEADWAY_REQUIRES(lock_);

  mutable base::mutex lock_;
  std::vector<std::uint32_t> slots_ HEADWAY_GUARDED_BY(lock_);  // open addressing, half full
  std::array<process_id*, 28> chunks_{};
  base::atomic<std::uint32_t> size_{0};
};

}  // namespace headway::processes
