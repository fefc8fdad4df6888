#include "datatypes/build.hpp"

#include "base/assert.hpp"
#include "datatypes/facts.hpp"

namespace headway::datatypes {
namespace {

using base::failed;
using base::fault_kind;
using span64 = std::span<const std::int64_t>;

built finish(const layout_facts& facts) {
  if (facts.overflow) {
    return failed(fault_kind::bad_input, "size or bounds of the datatype do not fit into 64 bits");
  }
  return facts.finish();
}

built lengths_differ() { return failed(fault_kind::bad_input, "arrays of different lengths"); }

/// a * b, or 0 with `overflow` set.
std::int64_t product(std::int64_t a, std::int64_t b, bool& overflow) noexcept {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) overflow = true;
  return result;
}

/// Blocks of one old type: block i has `length(i)` elements and starts at byte `place(i)`.
template <class Length, class Place>
built blocks_of(std::size_t count, const layout& old, const Length& length, const Place& place) {
  const auto element = layout_facts::of(old);
  facts_list list;
  layout_facts block;
  std::int64_t block_length = 0;  // of `block`: equal blocks share one plan
  bool overflow = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (length(i) == 0) continue;
    if (length(i) != block_length) block = element.repeated(length(i), old.extent());
    block_length = length(i);
    list.add(block.moved(place(i, overflow)));
  }
  auto facts = list.finish();
  facts.overflow |= overflow;
  return finish(facts);
}

}  // namespace

built build_contiguous(std::int64_t count, const layout& old) {
  if (count == 1) return layout_ptr(old);
  return finish(layout_facts::of(old).repeated(count, old.extent()));
}

built build_hvector(std::int64_t count, std::int64_t block, std::int64_t stride_bytes,
                    const layout& old) {
  return finish(layout_facts::of(old).repeated(block, old.extent()).repeated(count, stride_bytes));
}

built build_vector(std::int64_t count, std::int64_t block, std::int64_t stride, const layout& old) {
  layout_facts facts = layout_facts::of(old);
  const auto stride_bytes = product(stride, old.extent(), facts.overflow);
  return finish(facts.repeated(block, old.extent()).repeated(count, stride_bytes));
}

built build_indexed(span64 blocks, span64 displacements, const layout& old) {
  if (blocks.size() != displacements.size()) return lengths_differ();
  return blocks_of(
      blocks.size(), old, [&](std::size_t i) { return blocks[i]; },
      [&](std::size_t i, bool& overflow) {
        return product(displacements[i], old.extent(), overflow);
      });
}

built build_hindexed(span64 blocks, span64 displacement_bytes, const layout& old) {
  if (blocks.size() != displacement_bytes.size()) return lengths_differ();
  return blocks_of(
      blocks.size(), old, [&](std::size_t i) { return blocks[i]; },
      [&](std::size_t i, bool&) { return displacement_bytes[i]; });
}

built build_indexed_block(std::int64_t block, span64 displacements, const layout& old) {
  return blocks_of(
      displacements.size(), old, [&](std::size_t) { return block; },
      [&](std::size_t i, bool& overflow) {
        return product(displacements[i], old.extent(), overflow);
      });
}

built build_hindexed_block(std::int64_t block, span64 displacement_bytes, const layout& old) {
  return blocks_of(
      displacement_bytes.size(), old, [&](std::size_t) { return block; },
      [&](std::size_t i, bool&) { return displacement_bytes[i]; });
}

built build_struct(span64 blocks, span64 displacement_bytes, std::span<const layout* const> olds) {
  if (blocks.size() != displacement_bytes.size() || blocks.size() != olds.size()) {
    return lengths_differ();
  }
  facts_list list;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    HEADWAY_ASSERT(olds[i] != nullptr);
    if (blocks[i] == 0) continue;
    list.add(layout_facts::of(*olds[i])
                 .repeated(blocks[i], olds[i]->extent())
                 .moved(displacement_bytes[i]));
  }
  return finish(list.finish());
}

built build_resized(std::int64_t lb, std::int64_t extent, const layout& old) {
  auto facts = layout_facts::of(old);
  facts.set_bounds(lb, extent);
  return finish(facts);
}

built build_dup(const layout& old) { return layout_ptr(old); }

}  // namespace headway::datatypes
