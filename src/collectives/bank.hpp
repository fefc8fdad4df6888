#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::collectives {

/// What describes the stream of bytes that one rank shows to others in an exchange. Its streams lie
/// one behind the other in the rank's bank; one that is longer than that goes round in it.
/// Shape:    `Value` is plain data, which does not change while the line has that number.
/// Threads:  `publish` and `extend` the owner; the rest any thread of any process.
template <class Atomic, class Value>
struct basic_bank_line {
  // Hazards, and what removes each:
  //   read before it is written          (P) release stores of ready and number -> (A) acquire
  //       loads. A reader that has seen the number sees at least the bytes published with it.
  //   overwritten while others read it   The owner writes a line again, and bytes of the bank for
  //       another exchange, when each reader's `basic_reading` covers the exchange that they hold.
  //       It writes over the first bytes of the same stream when each reader has taken them: (F)
  //       release, behind the reader's reads -> (R) acquire, before the owner's writes.
  // The low bits of numbers grow, so that a line never seems to hold an exchange again; 0: never
  // written.
  // Checked by tests/model/bank_model.cpp (mutations there), tests/stress/shared_banks_stress.cpp.
  /// After `value`, and the stream's first `bytes`, were written.
  void publish(std::uint64_t exchange, std::uint64_t bytes) noexcept {
    ready.store(bytes, std::memory_order_release);
    number.store(exchange, std::memory_order_release);  // (P)
  }
  /// After its first `bytes` were written.
  void extend(std::uint64_t bytes) noexcept {
    ready.store(bytes, std::memory_order_release);  // (P)
  }
  [[nodiscard]] bool holds(std::uint64_t exchange) const noexcept {
    return number.load(std::memory_order_acquire) == exchange;  // (A)
  }
  /// If it holds the exchange: how much of the stream is there.
  [[nodiscard]] std::uint64_t bytes_ready() const noexcept {
    return ready.load(std::memory_order_acquire);  // (A)
  }

  Atomic number;
  Atomic ready;
  Value value;
};

/// A rank's lines, which its exchanges use in turns.
constexpr std::size_t bank_lines = 2;

/// How far a rank has come with reading the streams of others.
/// Threads:  `finish`, `begin` and `take` the rank itself, the last two for one exchange of a line
///           after the other; the rest any thread of any process.
template <class Atomic, std::size_t Ranks>
struct basic_reading {
  /// The rank reads nothing any more of this exchange, nor of those before.
  void finish(std::uint64_t exchange) noexcept {
    last.store(exchange, std::memory_order_release);  // (F)
  }
  [[nodiscard]] std::uint64_t finished() const noexcept {
    return last.load(std::memory_order_acquire);  // (R)
  }
  // Hazard: what was taken in an earlier exchange of the line is read as taken in this one.
  // Edge:   (B) release of the number, behind the zeros -> (C) acquire, before the bytes are read.
  /// Before `take` for another exchange of the line.
  void begin(std::size_t line, std::uint64_t exchange) noexcept {
    for (auto& each : taken[line]) each.store(0, std::memory_order_relaxed);  // carried by (B)
    number[line].store(exchange, std::memory_order_release);                  // (B)
  }
  /// Of the stream of `writer` it needs only what is behind the first `bytes`.
  void take(std::size_t line, std::size_t writer, std::uint64_t bytes) noexcept {
    taken[line][writer].store(bytes, std::memory_order_release);  // (F)
  }
  /// No more than what `take` has said of this exchange, while that is not finished; after that any
  /// number is right.
  [[nodiscard]] std::uint64_t taken_of(std::size_t line, std::size_t writer,
                                       std::uint64_t exchange) const noexcept {
    if (number[line].load(std::memory_order_acquire) != exchange) return 0;  // (C)
    return taken[line][writer].load(std::memory_order_acquire);              // (R)
  }

  Atomic last;
  Atomic number[bank_lines];
  Atomic taken[bank_lines][Ranks];
};

/// The last exchange that a rank has finished, with all before it, for the rank's own threads.
/// `basic_reading` says the same to other ranks.
/// Threads:  `note` one at a time, `known` any thread of the rank.
/// Progress: never waits.
template <class Atomic>
struct basic_finished {
  // Hazard: a thread of this rank publishes the number in a line. Other ranks then overwrite what
  //         they showed in that exchange, which another thread of this rank has read.
  // Edge:   (N) release, behind that thread's reads -> (G) acquire, before the line is published.
  // Checked by tests/model/bank_finished_model.cpp (mutations there).
  void note(std::uint64_t exchange) noexcept {
    last.store(exchange, std::memory_order_release);  // (N)
  }
  [[nodiscard]] std::uint64_t known() const noexcept {
    return last.load(std::memory_order_acquire);  // (G)
  }

  Atomic last;
};

}  // namespace headway::collectives
