// Parts of multi-dimensional arrays: subarray and darray.
#include <algorithm>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "datatypes/build.hpp"
#include "datatypes/facts.hpp"

namespace headway::datatypes {
namespace {

using base::failed;
using base::fault_kind;
using span64 = std::span<const std::int64_t>;

/// Builds the layout of a part of an array, dimension by dimension, that with adjacent elements
/// first.
class array_part {
 public:
  explicit array_part(const layout& old) : part_(layout_facts::of(old)), stride_(old.extent()) {}

  /// Adds a dimension of `size` indices, of which [start, start + count) belong to the part.
  void range(std::int64_t size, std::int64_t start, std::int64_t count) {
    part_ = part_.repeated(count, stride_).moved(times(start));
    close(size);
  }

  /// Adds a dimension of `size` indices, of which process `mine` of `processes` owns every
  /// `processes`-th block of `block` indices.
  void cyclic(std::int64_t size, std::int64_t block, std::int64_t mine, std::int64_t processes) {
    HEADWAY_ASSERT(0 <= mine && mine < processes && block > 0);
    const auto first = mine * block;
    const auto lap = block * processes;
    const auto left = size - first;  // indices from the first own block on
    const auto whole = left < block ? 0 : (left - block) / lap + 1;
    const auto rest = std::clamp<std::int64_t>(left - whole * lap, 0, block - 1);
    facts_list mine_of_it;
    mine_of_it.add(part_.repeated(block, stride_).repeated(whole, times(lap)).moved(times(first)));
    if (rest > 0) {
      mine_of_it.add(part_.repeated(rest, stride_).moved(times(first + whole * lap)));
    }
    part_ = mine_of_it.finish();
    close(size);
  }

  /// The layout of the part, with the bounds of the whole array.
  [[nodiscard]] built finish() {
    part_.set_bounds(0, stride_);
    if (part_.overflow || overflow_) {
      return failed(fault_kind::bad_input, "size of the array does not fit into 64 bits");
    }
    return part_.finish();
  }

 private:
  std::int64_t times(std::int64_t indices) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(indices, stride_, &bytes)) overflow_ = true;
    return bytes;
  }
  void close(std::int64_t size) { stride_ = times(size); }

  layout_facts part_;
  std::int64_t stride_;  ///< bytes between neighbours in the next dimension
  bool overflow_ = false;
};

/// The number of dimension `i`, counted from the one whose elements are adjacent in memory.
std::size_t fastest_first(std::size_t i, std::size_t count, storage_order order) noexcept {
  return order == storage_order::c ? count - 1 - i : i;
}

base::result<> add_distributed(array_part& array, const darray_dimension& d, std::int64_t mine) {
  if (d.how == distribution::none) {
    if (d.processes != 1) {
      return failed(fault_kind::bad_input, "a dimension that is not distributed has processes");
    }
    array.range(d.size, 0, d.size);
    return {};
  }
  const bool by_block = d.how == distribution::block;
  const auto fallback = by_block ? (d.size + d.processes - 1) / d.processes : 1;
  const auto block = d.argument < 0 ? fallback : d.argument;
  if (block <= 0) return failed(fault_kind::bad_input, "a block of the distribution is empty");
  if (by_block && (d.size - 1) / block >= d.processes) {
    return failed(fault_kind::bad_input, "the blocks of the distribution do not cover the array");
  }
  array.cyclic(d.size, block, mine, d.processes);
  return {};
}

}  // namespace

built build_subarray(span64 sizes, span64 subsizes, span64 starts, storage_order order,
                     const layout& old) {
  if (sizes.size() != subsizes.size() || sizes.size() != starts.size()) {
    return failed(fault_kind::bad_input, "arrays of different lengths");
  }
  array_part array(old);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto d = fastest_first(i, sizes.size(), order);
    if (subsizes[d] < 0 || starts[d] < 0 || subsizes[d] > sizes[d] - starts[d]) {
      return failed(fault_kind::bad_input,
                    "the part exceeds the array in dimension " + std::to_string(d));
    }
    array.range(sizes[d], starts[d], subsizes[d]);
  }
  return array.finish();
}

built build_darray(std::int64_t rank, std::span<const darray_dimension> dimensions,
                   storage_order order, const layout& old) {
  std::vector<std::int64_t> place(dimensions.size());  // of `rank` in the process grid
  HEADWAY_ASSERT(rank >= 0);
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    HEADWAY_ASSERT(dimensions[d].processes > 0);
    place[d] = rank % dimensions[d].processes;
    rank /= dimensions[d].processes;
  }
  HEADWAY_ASSERT(rank == 0);  // it was in the process grid
  array_part array(old);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto d = fastest_first(i, dimensions.size(), order);
    if (auto added = add_distributed(array, dimensions[d], place[d]); !added) {
      return std::unexpected(added.error());
    }
  }
  return array.finish();
}

}  // namespace headway::datatypes
