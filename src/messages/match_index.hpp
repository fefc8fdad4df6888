#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"

namespace headway::messages {

/// The links of an entry of a `match_index`. An entry's class derives from it; a tag tells the
/// hooks of an object in two indexes apart.
template <class Tag = void>
struct match_hook {
  match_hook* next = nullptr;  // ring of the entries with the same key; null: in no index
  match_hook* previous = nullptr;
  match_hook* next_key = nullptr;  // if `oldest`: the oldest entry of the bin's next key
  std::uint64_t key = 0;
  bool oldest = false;  // the oldest entry with its key
};

/// Finds entries by key; entries with the same key stay in the order in which they were pushed.
/// Shape:    a hash table of keys, each with a queue of its own. The bins are the caller's memory,
///           given by `move_to` before any other call. With about as many bins as keys, every
///           operation takes constant time, however many entries a key has.
/// Threads:  one at a time.
template <class Entry, class Tag = void>
class match_index {
  using hook = match_hook<Tag>;

 public:
  using bin = hook*;

  match_index() = default;
  match_index(const match_index&) = delete;
  match_index& operator=(const match_index&) = delete;

  [[nodiscard]] std::size_t keys() const noexcept { return keys_; }
  [[nodiscard]] std::size_t bins() const noexcept { return bins_.size(); }

  /// The oldest entry with this key, or nullptr.
  [[nodiscard]] Entry* oldest(std::uint64_t key) const noexcept {
    return static_cast<Entry*>(oldest_in(bins_[number_of(key)], key));
  }

  void push(Entry& entry, std::uint64_t key) noexcept {
    hook& h = entry;
    HEADWAY_DEBUG_ASSERT(!h.next);
    h.key = key;
    bin& where = bins_[number_of(key)];
    if (hook* first = oldest_in(where, key)) {
      h.oldest = false;
      h.next = first;
      h.previous = first->previous;
      first->previous->next = &h;
      first->previous = &h;
    } else {
      h.next = h.previous = &h;
      enter(h, where);
      ++keys_;
    }
  }

  /// Removes and returns the oldest entry with this key, or returns nullptr.
  [[nodiscard]] Entry* take_oldest(std::uint64_t key) noexcept {
    hook** link = &bins_[number_of(key)];
    while (*link && (*link)->key != key) link = &(*link)->next_key;
    hook* const h = *link;
    if (h) take_first(*h, *link);
    return static_cast<Entry*>(h);
  }

  void erase(Entry& entry) noexcept {
    hook& h = entry;
    HEADWAY_DEBUG_ASSERT(h.next);
    if (!h.oldest) return leave_ring(h);
    hook** link = &bins_[number_of(h.key)];
    while (*link != &h) link = &(*link)->next_key;
    take_first(h, *link);
  }

  /// Moves all entries to other bins: a power of two of them, all null. The old ones are unused
  /// then.
  void move_to(std::span<bin> bins) noexcept {
    HEADWAY_ASSERT(std::has_single_bit(bins.size()) && bins.size() >= bins_.size());
    HEADWAY_DEBUG_ASSERT(std::ranges::all_of(bins, [](bin each) { return each == nullptr; }));
    const auto old = bins_;
    bins_ = bins;
    for (bin first : old)
      while (first) {
        hook* const following = first->next_key;
        enter(*first, bins_[number_of(first->key)]);
        first = following;
      }
  }

  /// Any entry for which `wanted(entry)` holds, or nullptr. Visits all entries.
  template <class Wanted>
  [[nodiscard]] Entry* find_if(Wanted wanted) const noexcept {
    for (hook* first : bins_)
      for (; first; first = first->next_key) {
        hook* h = first;
        do {
          if (wanted(*static_cast<Entry*>(h))) return static_cast<Entry*>(h);
          h = h->next;
        } while (h != first);
      }
    return nullptr;
  }

 private:
  [[nodiscard]] std::size_t number_of(std::uint64_t key) const noexcept {
    return (key * 0x9e3779b97f4a7c15u >> 32) & (bins_.size() - 1);
  }
  static hook* oldest_in(bin where, std::uint64_t key) noexcept {
    while (where && where->key != key) where = where->next_key;
    return where;
  }
  static void leave_ring(hook& h) noexcept {
    h.next->previous = h.previous;
    h.previous->next = h.next;
    h.next = nullptr;
  }
  /// Removes the oldest entry of a key. `link`, which pointed to it, then points to the next entry
  /// with that key, or to the next key.
  void take_first(hook& h, hook*& link) noexcept {
    HEADWAY_DEBUG_ASSERT(h.oldest && keys_ > 0);
    hook* const following = h.next;
    link = h.next_key;
    if (following == &h) --keys_;
    else enter(*following, link);
    leave_ring(h);
  }
  /// Makes `h` the oldest entry of its key in that bin.
  static void enter(hook& h, bin& where) noexcept {
    h.oldest = true;
    h.next_key = where;
    where = &h;
  }

  std::span<bin> bins_;
  std::size_t keys_ = 0;
};

}  // namespace headway::messages
