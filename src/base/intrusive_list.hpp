#pragma once

#include <cstddef>

#include "base/assert.hpp"

namespace headway::base {

/// The links of a member of an `intrusive_list`. A member's class derives from it; a tag tells the
/// hooks of an object in two lists apart.
template <class Tag = void>
struct list_hook {
  list_hook* previous = nullptr;
  list_hook* next = nullptr;
  [[nodiscard]] bool linked() const noexcept { return next != nullptr; }
};

/// A doubly linked list through hooks inside its members: constant-time push, pop, erase.
/// Shape:    no memory of its own; the members must outlive their membership.
/// Threads:  one at a time; the list's owner provides the lock.
template <class T, class Tag = void>
class intrusive_list {
  using hook = list_hook<Tag>;

 public:
  constexpr intrusive_list() noexcept { head_.previous = head_.next = &head_; }
  intrusive_list(const intrusive_list&) = delete;
  intrusive_list& operator=(const intrusive_list&) = delete;

  [[nodiscard]] bool empty() const noexcept { return head_.next == &head_; }
  [[nodiscard]] T* front() noexcept {
    // `erase` has unlinked what was freed:
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc, clang-analyzer-cplusplus.NewDelete)
    return empty() ? nullptr : of(head_.next);
  }
  /// The member after `member`, or nullptr after the last.
  [[nodiscard]] T* after(T& member) noexcept {
    hook* next = static_cast<hook&>(member).next;
    return next == &head_ ? nullptr : of(next);
  }

  void push_back(T& member) noexcept { insert(head_.previous, static_cast<hook&>(member)); }
  void push_front(T& member) noexcept { insert(&head_, static_cast<hook&>(member)); }

  void erase(T& member) noexcept {
    hook& h = member;
    HEADWAY_DEBUG_ASSERT(h.linked());
    h.previous->next = h.next;
    h.next->previous = h.previous;
    h.previous = h.next = nullptr;
  }

  /// Moves all members of `other` to the end of this list, in their order. Constant time.
  void append(intrusive_list& other) noexcept {
    if (other.empty()) return;
    hook &first = *other.head_.next, &last = *other.head_.previous;
    first.previous = head_.previous;
    head_.previous->next = &first;
    last.next = &head_;
    head_.previous = &last;
    other.head_.previous = other.head_.next = &other.head_;
  }

  [[nodiscard]] T* pop_front() noexcept {
    T* member = front();
    if (member) erase(*member);
    return member;
  }

 private:
  static T* of(hook* h) noexcept { return static_cast<T*>(h); }
  static void insert(hook* where, hook& h) noexcept {
    HEADWAY_DEBUG_ASSERT(!h.linked());
    h.previous = where;
    h.next = where->next;
    where->next->previous = &h;
    where->next = &h;
  }

  hook head_;
};

}  // namespace headway::base
