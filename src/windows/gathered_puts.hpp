#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "windows/request_slot.hpp"

namespace headway::windows {

/// Small puts to one target that leave together, in the form that its slot takes
/// (slot_action::puts): for each block of the window its place and length, and the bytes.
/// Shape:    what a slot has room for. A put behind the last one continues its block.
/// Threads:  one at a time.
/// Progress: never waits.
/// Errors:   `add` finds no room.
class gathered_puts {
 public:
  static constexpr std::size_t put_bytes_max = 64;

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void clear() noexcept { size_ = 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {all_.data(), size_}; }

  /// Where the bytes of a put to this place go; null: there is no room.
  [[nodiscard]] std::byte* add(std::int64_t offset, std::uint32_t count) noexcept {
    if (size_ != 0) {
      block last;
      std::memcpy(&last, &all_[last_], sizeof last);
      if (last.offset + last.bytes == offset) return continue_last(last, count);
    }
    const auto more = sizeof(block) + padded_count(count);
    if (more > all_.size() - size_) return nullptr;
    last_ = size_;
    size_ += more;
    write_last({.offset = offset, .bytes = count});
    return &all_[last_ + sizeof(block)];
  }

  /// Calls `each(offset, bytes)` for each block. Of what a peer has written: never beyond it.
  template <class Each>
  static void for_each_block(std::span<const std::byte> all, Each each) {
    while (all.size() >= sizeof(block)) {
      block next;
      std::memcpy(&next, all.data(), sizeof next);
      all = all.subspan(sizeof next);
      if (next.bytes > all.size()) return;
      each(next.offset, all.first(next.bytes));
      all = all.subspan(std::min(padded_count(next.bytes), all.size()));
    }
  }

 private:
  struct block {
    std::int64_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint32_t unused = 0;
  };
  [[nodiscard]] static constexpr std::size_t padded_count(std::size_t count) noexcept {
    return (count + 7) / 8 * 8;
  }
  [[nodiscard]] std::byte* continue_last(block last, std::uint32_t count) noexcept {
    const auto begin = last_ + sizeof last, end = begin + padded_count(last.bytes + count);
    if (end > all_.size()) return nullptr;
    size_ = end;
    last.bytes += count;
    write_last(last);
    return &all_[begin + last.bytes - count];
  }
  void write_last(const block& last) noexcept { std::memcpy(&all_[last_], &last, sizeof last); }

  std::array<std::byte, request_slot::data_bytes> all_ = {};
  std::size_t size_ = 0;
  std::size_t last_ = 0;  // where the last block begins
};

}  // namespace headway::windows
