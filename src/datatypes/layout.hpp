#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "datatypes/number.hpp"

namespace headway::datatypes {

struct plan;       // where the bytes are: datatypes/plan.hpp
struct signature;  // which basic elements they are: datatypes/signature.hpp
class layout_ptr;
struct layout_facts;

/// Is given a block of memory: its offset from the address of the buffer, and its bytes.
using block_visitor = void (*)(void* state, std::int64_t offset, std::int64_t bytes);

/// Bytes in memory, as offsets from an address.
struct byte_range {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t bytes() const noexcept { return end - begin; }
};

/// The data of an MPI datatype: a sequence of basic elements, each at an offset from the address of
/// a buffer. Repeated parts are folded into loops when it is built.
///
/// Shape:    all sizes and offsets are bytes in 64 bits; a buffer of `count` elements repeats the
///           sequence every `extent()` bytes. "Packed" means the elements' bytes without gaps.
/// Threads:  immutable; shared through `layout_ptr`.
/// Progress: no function waits or allocates.
/// Errors:   none here; the builders (datatypes/build.hpp) refuse what does not fit into 64 bits.
/// Source:   MPI-5.0 chapter 5; loops after Träff et al., "Flattening on the fly", EuroPVM/MPI
///           1999.
class layout {
 public:
  layout(const layout&) = delete;
  layout& operator=(const layout&) = delete;

  /// The predefined type; lives as long as the program. Not for `number::none`.
  [[nodiscard]] static const layout& of(number kind) noexcept;
  /// Which predefined type this is; `none` if it is derived. A duplicate keeps it.
  [[nodiscard]] number kind() const noexcept { return kind_; }
  /// The kind of all elements, whatever their offsets; `none` if kinds differ or there are none.
  [[nodiscard]] number element_kind() const noexcept { return element_kind_; }

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t lb() const noexcept { return lb_; }
  [[nodiscard]] std::int64_t ub() const noexcept { return ub_; }
  [[nodiscard]] std::int64_t extent() const noexcept { return ub_ - lb_; }
  [[nodiscard]] std::int64_t true_lb() const noexcept { return true_lb_; }
  [[nodiscard]] std::int64_t true_ub() const noexcept { return true_ub_; }
  [[nodiscard]] std::int64_t true_extent() const noexcept { return true_ub_ - true_lb_; }
  [[nodiscard]] std::int64_t alignment() const noexcept { return alignment_; }

  /// Whether any number of elements is one block of memory: `count * size()` bytes from
  /// `true_lb()`.
  [[nodiscard]] bool is_contiguous() const noexcept { return contiguous_; }
  /// Whether `count` elements are one block: any number if `is_contiguous`, else at most one.
  [[nodiscard]] bool is_one_block(std::int64_t count) const noexcept {
    return contiguous_ || (one_block_ && count == 1) || count == 0 || size_ == 0;
  }
  /// Where the data of `count` elements lies, from the buffer's address on. Nothing: 64 bits do not
  /// hold it, so no memory does.
  [[nodiscard]] std::optional<byte_range> reach(std::int64_t count) const noexcept {
    HEADWAY_DEBUG_ASSERT(count >= 0);
    if (count == 0 || size_ == 0) return byte_range{};
    std::int64_t last = 0;  // where the last element is
    byte_range all;
    if (__builtin_mul_overflow(count - 1, extent(), &last) ||
        __builtin_add_overflow(true_lb_, std::min<std::int64_t>(last, 0), &all.begin) ||
        __builtin_add_overflow(true_ub_, std::max<std::int64_t>(last, 0), &all.end))
      return std::nullopt;
    return all;
  }

  /// Copies bytes [begin, end) of the packed form of `count` elements at `from` to `to`.
  void pack(const void* from, std::int64_t count, std::int64_t begin, std::int64_t end,
            std::byte* to) const noexcept;
  /// Copies `from`, which is bytes [begin, end) of the packed form, to their places in `to`.
  void unpack(const std::byte* from, std::int64_t begin, std::int64_t end, void* to,
              std::int64_t count) const noexcept;
  void pack(const void* from, std::int64_t count, std::byte* to) const noexcept {
    pack(from, count, 0, count * size_, to);
  }
  void unpack(const std::byte* from, void* to, std::int64_t count) const noexcept {
    unpack(from, 0, count * size_, to, count);
  }

  /// Calls `visit(offset, bytes)`, which must not throw, for each block of memory in which bytes
  /// [begin, end) of the packed form of `count` elements lie, in packed order. Neighbouring blocks
  /// may be reported as one or as several.
  template <class Visit>
  void for_each_block(std::int64_t count, std::int64_t begin, std::int64_t end,
                      Visit&& visit) const noexcept {
    visit_blocks(
        count, begin, end,
        [](void* state, std::int64_t offset, std::int64_t bytes) {
          (*static_cast<std::remove_reference_t<Visit>*>(state))(offset, bytes);
        },
        &visit);
  }

  /// Basic elements in one element of this type (a value-and-index pair counts as two).
  [[nodiscard]] std::int64_t elements() const noexcept;
  /// Basic elements in the first `bytes` of the packed form; -1 if they end inside one.
  [[nodiscard]] std::int64_t elements_in(std::int64_t bytes) const noexcept;
  /// The basic elements, for functions that visit them, such as external32.
  [[nodiscard]] const signature& elements_tree() const noexcept { return *signature_; }

 private:
  friend class layout_ptr;
  friend struct layout_facts;
  layout();
  ~layout();
  void visit_blocks(std::int64_t count, std::int64_t begin, std::int64_t end, block_visitor visit,
                    void* state) const noexcept;

  std::int64_t size_ = 0;
  std::int64_t lb_ = 0, ub_ = 0;
  std::int64_t true_lb_ = 0, true_ub_ = 0;
  std::int64_t origin_ = 0;  ///< offset of the plan from the buffer
  std::int64_t alignment_ = 1;
  number kind_ = number::none;
  number element_kind_ = number::none;
  bool contiguous_ = false;
  bool one_block_ = false;
  bool bounds_set_ = false;  ///< bounds were set by MPI_Type_create_resized, also in a part of it
  bool immortal_ = false;    ///< predefined: its users are not counted
  mutable std::atomic<std::uint32_t> users_{0};
  std::shared_ptr<const plan> plan_;
  std::shared_ptr<const signature> signature_;
};

/// A reference-counting pointer to a layout: the last one deletes it, unless it is predefined.
class layout_ptr {
  // Hazard: a user reads after another has deleted. Edge: (G) release -> (D) acquire.
 public:
  layout_ptr() noexcept = default;
  layout_ptr(const layout* shared) noexcept : at_(shared) { take(); }
  layout_ptr(const layout& shared) noexcept : layout_ptr(&shared) {}
  layout_ptr(const layout_ptr& other) noexcept : layout_ptr(other.at_) {}
  layout_ptr(layout_ptr&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  layout_ptr& operator=(layout_ptr other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~layout_ptr() { give(); }

  [[nodiscard]] const layout* get() const noexcept { return at_; }
  const layout& operator*() const noexcept {
    HEADWAY_DEBUG_ASSERT(at_ != nullptr);
    return *at_;
  }
  const layout* operator->() const noexcept {
    HEADWAY_DEBUG_ASSERT(at_ != nullptr);
    return at_;
  }
  explicit operator bool() const noexcept { return at_ != nullptr; }

 private:
  void take() const noexcept {
    // Relaxed: the pointer that is copied holds a count already; the new one carries no data.
    if (at_ && !at_->immortal_) at_->users_.fetch_add(1, std::memory_order_relaxed);
  }
  void give() noexcept {
    if (!at_ || at_->immortal_) return;
    const auto before = at_->users_.fetch_sub(1, std::memory_order_acq_rel);  // (G) and (D)
    HEADWAY_DEBUG_ASSERT(before > 0);
    if (before == 1) delete at_;
  }

  const layout* at_ = nullptr;
};

}  // namespace headway::datatypes
