#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::base {

/// Shows a block of words to readers that never delay the writer: a sequence number, then the
///                                                                words.
///
/// Shape:    `words[0]` is the number, 0 before the first write; `words[1]` … `words[count]` are
///           the rest.
///           `Word` is std::atomic<std::uint64_t>, in memory that processes may share.
/// Threads:  one writes, any read.
/// Progress: never waits. A reader gets false if a write was under way.
/// Source:   H. Boehm, "Can seqlocks get along with programming language memory models?" (2012).
///
/// Hazard: a reader takes words of two writes for one.
///   words of a later write    (W) release -> (V) acquire: the reader then sees that write's odd
///                             number at (A), as it was stored before
///   words of an earlier one   (E) release -> (B) acquire: a reader of that number sees all words
///   of
///                             its write
/// Checked by: tests/model/seqlock_model.cpp; tests/unit/watch/page_test.cpp.
template <class Word>
void seqlock_write(Word* words, const std::uint64_t* from, std::size_t count) noexcept {
  const auto number = words[0].load(std::memory_order_relaxed);  // the writer's own
  words[0].store(number + 1, std::memory_order_relaxed);         // odd: before each (W)
  for (std::size_t i = 0; i < count; ++i)
    words[i + 1].store(from[i], std::memory_order_release);  // (W)
  words[0].store(number + 2, std::memory_order_release);     // (E)
}

/// False: try again. `into` then holds anything.
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
