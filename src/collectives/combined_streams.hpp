#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/peer_streams.hpp"
#include "collectives/reducer.hpp"

namespace headway::collectives {

class read_progress;
class schedule;

/// The streams of consecutive ranks that an exchange combines, element by element, in the order of
/// the ranks.
/// Shape:    a chunk of the schedule's scratch memory, or two where the result takes the place of
///           the input.
/// Threads:  those of its exchange.
/// Progress: never waits. `advance` combines what all streams have, chunk by chunk, as long as the
///           call's budget lasts.
/// Errors:   a stream of another size than is due, or that cannot be read, ends the exchange with
///           an error; then the result holds some of the elements.
class combined_streams {
 public:
  combined_streams(schedule& s, exchange_run& run, read_progress& progress) noexcept
      : schedule_(s), run_(run), streams_(run), progress_(progress) {}

  /// The same part of the streams of ranks `first`, `first` + 1 … `last`.
  struct operands {
    int first, last;
    std::int64_t bytes;  ///< of each stream
    const void* own;     ///< this rank's, if it is among them
    void* to;            ///< may be `own`, of at most a bank's bytes
    std::int64_t element_bytes;
    reducer op;
  };
  /// Once. What is passed must live until the schedule is complete.
  void combine(const operands& what);
  /// The result is due in the place of the input.
  [[nodiscard]] bool replace_input() const noexcept { return sum_ != nullptr; }

  void begin() noexcept { done_ = 0; }
  /// True: there is nothing more to do.
  [[nodiscard]] bool advance() noexcept;
  [[nodiscard]] bool could_advance() const noexcept {
    return exist_ && done_ != over && (ready_bytes() > 0 || is_any_unequal());
  }
  /// Of the stream of `rank` only what is behind so many bytes is still needed. Nothing: it is not
  /// among them.
  [[nodiscard]] std::optional<std::int64_t> taken_of(int rank) const noexcept;

 private:
  static constexpr std::int64_t over = -1;

  [[nodiscard]] std::int64_t ready_bytes() const noexcept;
  [[nodiscard]] bool are_all_there() const noexcept;
  [[nodiscard]] bool is_any_unequal() const noexcept;
  void combine_chunk(std::int64_t bytes) noexcept;

  schedule& schedule_;
  exchange_run& run_;
  peer_streams streams_;
  read_progress& progress_;
  bool exist_ = false;
  operands what_ = {};
  rank_set sources_;               // the ranks whose streams are read: all but this one
  std::byte* sum_ = nullptr;       // a chunk, if the result is due in the place of the input
  std::byte* arriving_ = nullptr;  // a chunk
  std::int64_t done_ = 0;          // bytes; `over`: nothing more is to be done
};

}  // namespace headway::collectives
