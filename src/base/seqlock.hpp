#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::base {

/// A seqlock: a block of words with a sequence number, whose readers never delay its writer.
/// Shape:    `words[0]` is the sequence number, 0 before the first write; the block is `words[1]` …
///           `words[count]`. `Word` is std::atomic<std::uint64_t>, in memory that processes may
///           share.
/// Threads:  one writes, any read.
/// Progress: never waits. `seqlock_read` returns false if a write was under way.
/// Source:   H. Boehm, "Can seqlocks get along with programming language memory models?" (2012).
///
/// Hazard: a reader takes words of two writes for one.
///   words of a later write    (W) release -> (V) acquire: the reader then sees that write's odd
///                             number at (A), as it was stored before
///   words of an earlier one   (E) release -> (B) acquire: a reader of that number sees all words
///                             of its write
/// Checked by: tests/model/seqlock_model.cpp; tests/unit/watch/page_test.cpp.
template <class Word>
void seqlock_write(Word* words, const std::uint64_t* from, std::size_t count) noexcept {
  const auto number = words[0].load(std::memory_order_relaxed);  // the writer's own
  words[0].store(number + 1, std::memory_order_relaxed);         // odd: before each (W)
  for (std::size_t i = 0; i < count; ++i)
    words[i + 1].store(from[i], std::memory_order_release);  // (W)
  words[0].store(number + 2, std::memory_order_release);     // (E)
}

/// False: a write was under way or none has happened yet, and `into` is unspecified.
template <class Word>
[[nodiscard]] bool seqlock_read(const Word* words, std::uint64_t* into,
                                std::size_t count) noexcept {
  const auto before = words[0].load(std::memory_order_acquire);  // (B)
  if (before == 0 || before % 2 != 0) return false;
  for (std::size_t i = 0; i < count; ++i)
    into[i] = words[i + 1].load(std::memory_order_acquire);   // (V)
  return words[0].load(std::memory_order_relaxed) == before;  // (A)
}

}  // namespace headway::base
