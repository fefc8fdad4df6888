#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "collectives/peer_streams.hpp"
#include "collectives/reducer.hpp"

namespace headway::collectives {

class read_progress;
class schedule;

/// The parts of other ranks' streams that an exchange copies, or combines with what is there.
/// Shape:    as many parts as were reserved, and a chunk where some are combined, in the schedule's
///           scratch memory.
/// Threads:  those of its exchange.
/// Progress: never waits. `advance` takes what is there of each part, as long as the call's budget
///           lasts: parts to be copied in any order, those to be combined one after the other.
/// Errors:   a stream or part of another size than is due, or that cannot be read, ends the
///           exchange with an error. The other parts are taken all the same.
class wanted_parts {
 public:
  static constexpr auto all_of_it = std::numeric_limits<std::int64_t>::max();

  wanted_parts(schedule& s, exchange_run& run, read_progress& progress) noexcept
      : schedule_(s), run_(run), streams_(run), progress_(progress) {}

  /// Of the stream of a rank, which has `total` bytes.
  struct part {
    int rank;
    std::int64_t total, offset, bytes;
  };
  /// At most so many calls of `copy`, `copy_own` and `apply` follow. What is passed to them must
  /// live until the schedule is complete.
  void reserve(int count);
  void copy(const part& what, void* to);
  /// Copies that part of the rank's stream, where it begins with a table of parts.
  void copy_own(int rank, int entry_number, std::int64_t bytes, void* to);
  /// Combines elements with those in `to`, in the order of these calls.
  void apply(const part& what, void* to, std::int64_t element_bytes, const reducer& op);

  void begin() noexcept;
  /// True: there is nothing more to do.
  [[nodiscard]] bool advance() noexcept;
  [[nodiscard]] bool could_advance() const noexcept;
  /// Of the stream of `rank` only what is behind so many bytes is still needed.
  [[nodiscard]] std::int64_t taken_of(int rank) const noexcept;

 private:
  using found = peer_streams::found;

  struct wanted : part {
    std::byte* to;
    std::int64_t element_bytes = 0;  ///< 0: it is copied
    int entry = no_entry;  ///< of the table, which has the rest of `part`; `no_entry`: no table
    std::uint64_t address = 0;  ///< where it is in the rank's memory; 0: in the stream
    std::int64_t done = 0;      ///< `over`: nothing more is to be done

    /// The table was not read yet.
    [[nodiscard]] bool is_unknown() const noexcept { return total == peer_streams::any_size; }
  };
  static constexpr int no_entry = -1;
  static constexpr std::int64_t over = -1;

  void want(const wanted& w);
  [[nodiscard]] found find(const wanted& w) const noexcept;
  [[nodiscard]] found find_entry(const wanted& w) const noexcept;
  [[nodiscard]] bool could_take(const wanted& w) const noexcept;
  [[nodiscard]] bool take(wanted& w) noexcept;
  [[nodiscard]] bool read_entry(wanted& w) noexcept;
  [[nodiscard]] bool take_bytes(wanted& w) noexcept;

  schedule& schedule_;
  exchange_run& run_;
  peer_streams streams_;
  read_progress& progress_;
  wanted* all_ = nullptr;
  int count_ = 0;
  reducer op_ = {};
  std::byte* arriving_ = nullptr;  // a chunk
};

}  // namespace headway::collectives
