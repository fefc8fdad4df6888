#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/exchange_run.hpp"

namespace headway::collectives {

/// Finds bytes in the streams that the other ranks show in an exchange.
/// Shape:    keeps nothing: it looks into the lines and banks of the other ranks.
/// Threads:  those of its exchange.
/// Progress: never waits; `read` takes as long as the copy.
/// Errors:   what `size_fits` and `read` find wrong is noted in the exchange's `exchange_run`.
class peer_streams {
 public:
  explicit peer_streams(exchange_run& run) noexcept : run_(run) {}

  /// Bytes of a stream that can be read now.
  struct found {
    const std::byte* here = nullptr;  ///< null: in the rank's memory
    std::uint64_t there = 0;
    std::int64_t bytes = 0;
  };
  static constexpr std::int64_t any_size = -1;

  [[nodiscard]] bool is_there(int rank) const noexcept {
    return run_.memory.line_of(rank, run_.number).holds(run_.number);
  }
  // Of a stream that is there:
  /// The area that is this rank's once it has read the stream.
  [[nodiscard]] rails::passed_place passed_place_of(int rank) const noexcept {
    const auto& value = run_.memory.line_of(rank, run_.number).value;
    return value.total > sizeof value.small && value.total != bank_memory::no_stream
               ? value.longer.passed()
               : rails::passed_place::none;
  }
  [[nodiscard]] std::int64_t bytes_of(int rank) const noexcept {
    return static_cast<std::int64_t>(run_.memory.line_of(rank, run_.number).value.total);
  }
  /// The rank shows that it has failed, in place of its stream.
  [[nodiscard]] bool has_failed(int rank) const noexcept {
    return run_.memory.line_of(rank, run_.number).value.total == bank_memory::no_stream;
  }
  /// It has bytes of its own, which nothing else takes before all of it was read.
  [[nodiscard]] bool is_whole(int rank) const noexcept;
  /// False: it has another size than is due, which ends the exchange with an error.
  [[nodiscard]] bool size_fits(int rank, std::int64_t due) noexcept;
  /// At most so many bytes from `offset` on; none: they are not shown yet.
  [[nodiscard]] found find(int rank, std::int64_t offset, std::int64_t bytes) const noexcept;
  /// False: they cannot be read, which ends the exchange with an error.
  [[nodiscard]] bool read(int rank, const found& f, std::byte* to, std::int64_t bytes) noexcept;

 private:
  exchange_run& run_;
};

}  // namespace headway::collectives
