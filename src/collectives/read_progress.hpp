#pragma once

#include <cstdint>

#include "collectives/peer_streams.hpp"

namespace headway::collectives {

class combined_streams;
class schedule;
class wanted_parts;

/// Publishes how far this rank has read the streams of others in an exchange, so that long ones go
/// on: their ranks write the bytes of their banks again.
/// Shape:    a number for each rank, in the schedule's scratch memory.
/// Threads:  those of its exchange.
/// Progress: never waits. `publish` wakes the ranks for which something is new; it says nothing
///           while an earlier exchange with the same line is unfinished.
class read_progress {
 public:
  read_progress(schedule& s, exchange_run& run, const wanted_parts& parts,
                const combined_streams& sum);

  void begin() noexcept;
  /// It has read more than it has published.
  [[nodiscard]] bool is_due() const noexcept;
  void publish() noexcept;

 private:
  /// Of the stream of `rank` only what is behind so many bytes is still needed.
  [[nodiscard]] std::int64_t taken_of(int rank) const noexcept;

  exchange_run& run_;
  const peer_streams streams_;
  const wanted_parts& parts_;
  const combined_streams& sum_;
  std::int64_t* const published_;  // of each rank's stream, in bytes
  bool has_begun_ = false;         // to publish
};

}  // namespace headway::collectives
