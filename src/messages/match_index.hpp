#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"

namespace headway::messages {

/// A place in a `match_index`; derive from it, with a tag where an object is in two of them.
template <class Tag = void>
struct match_hook {
  match_hook* next = nullptr;  // of the same key: a ring; null: in no index
  match_hook* previous = nullptr;
  match_hook* next_key = nullptr;  // of the oldest of a key: the oldest of the next one in its bin
  std::uint64_t key = 0;
  bool oldest = false;  // of its key
};

/// Entries by key, those of the same key in the order in which they were pushed.
/// Shape:    a hash table of keys, each with a queue of its own, so that neither many keys nor many
///           entries of one key make a look-up longer. The bins are the caller's memory; with about
///           as many of them as keys, every operation takes constant time. Without bins until the
///           first `move_to`, which comes before anything else.
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

  /// The oldest of a key; null: there is none.
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

  /// The oldest of a key, taken out.
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

  /// Takes other bins into use, a power of two of them, each null; the old ones are no longer.
  void move_to(std::span<bin> bins) noexcept {
    const auto old = bins_;
    bins_ = bins;
    for (bin first : old)
      while (first) {
        hook* const following = first->next_key;
        enter(*first, bins_[number_of(first->key)]);
        first = following;
      }
  }

  /// Any entry for which `wanted(entry)` holds; null: there is none.
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
  /// `link` leads to it: from now on to the next of its key, or to the next key.
  void take_first(hook& h, hook*& link) noexcept {
    hook* const following = h.next;
    link = h.next_key;
    if (following == &h) --keys_;
    else enter(*following, link);
    leave_ring(h);
  }
  /// The oldest of its key.
  static void enter(hook& h, bin& where) noexcept {
    h.oldest = true;
    h.next_key = where;
    where = &h;
  }

  std::span<bin> bins_;
  std::size_t keys_ = 0;
};

}  // namespace headway::messages
