#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "datatypes/layout.hpp"

namespace headway::datatypes {

struct plan;
using plan_ptr = std::shared_ptr<const plan>;

/// A plan with its offset in the buffer. A null plan has no bytes.
struct placed_plan {
  std::int64_t offset = 0;
  plan_ptr plan;
};

/// The offsets of a layout's bytes, in packed order, as a tree of loops and lists.
/// Shape:    offsets are relative to the start of the enclosing node; the first byte of `block`,
///           and the first round of `loop`, are at 0. Built once by `repeat` and `plan_list`.
/// Threads:  immutable; shared between layouts.
struct plan {
  enum class form : std::uint8_t {
    block,  ///< `size` bytes in a row
    loop,   ///< `count` times `child`, `stride` bytes apart
    runs,   ///< blocks at irregular offsets
    list,   ///< other plans at irregular offsets
  };
  struct run {
    std::int64_t offset;  ///< in the buffer
    std::int64_t start;   ///< in the packed form
    std::int64_t length;
  };
  struct piece {
    std::int64_t offset;
    std::int64_t start;
    plan_ptr child;
  };

  form shape = form::block;
  std::int64_t size = 0;  ///< bytes of data below this node; never 0
  std::int64_t count = 0;
  std::int64_t stride = 0;
  plan_ptr child = {};
  std::vector<run> runs = {};
  std::vector<piece> pieces = {};
};

[[nodiscard]] placed_plan block_plan(std::int64_t bytes);
/// `count` rounds of `what`, `stride` bytes apart, folded to one block or loop where possible.
[[nodiscard]] placed_plan repeat(const placed_plan& what, std::int64_t count, std::int64_t stride);

/// Joins plans at given offsets to one, and folds the result.
class plan_list {
 public:
  void add(std::int64_t offset, const placed_plan& what);
  [[nodiscard]] placed_plan finish();

 private:
  struct item {
    std::int64_t offset;
    std::int64_t length;  ///< if a block: it grows until the next item
    plan_ptr child;       ///< null: a block
  };
  void add_block(std::int64_t offset, std::int64_t length);
  /// Whether all items, at least two, are equal and equally far apart.
  [[nodiscard]] static bool regular(const std::vector<item>& items) noexcept;
  [[nodiscard]] static plan_ptr child_of(const item& i);

  std::vector<item> items_;
};

/// Copies bytes [begin, end) of the packed form of `count` rounds of `what`, `stride` bytes apart,
/// from the buffer to `packed`, or back. `buffer` includes the plan's offset.
/// Threads:  any. Never waits or allocates.
void copy_out(const plan& what, std::int64_t count, std::int64_t stride, const std::byte* buffer,
              std::int64_t begin, std::int64_t end, std::byte* packed) noexcept;
void copy_in(const plan& what, std::int64_t count, std::int64_t stride, std::byte* buffer,
             std::int64_t begin, std::int64_t end, const std::byte* packed) noexcept;
/// Calls `visit` for the blocks in which those bytes lie, in packed order. `offset` is the plan's.
void list_blocks(const plan& what, std::int64_t count, std::int64_t stride, std::int64_t offset,
                 std::int64_t begin, std::int64_t end, block_visitor visit, void* state) noexcept;

}  // namespace headway::datatypes
