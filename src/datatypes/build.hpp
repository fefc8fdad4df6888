#pragma once

#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "datatypes/layout.hpp"

namespace headway::datatypes {

/// The datatype constructors of MPI-5.0 section 5.1, with 64-bit counts. Strides and displacements
/// whose names end in `bytes` are in bytes, the others in multiples of the old type's extent.
/// Threads:  any; the old layouts are shared, not copied.
/// Errors:   `bad_input` when a size or place does not fit into 64 bits, or spans differ in length;
///           negative counts are the caller's bug. std::bad_alloc when memory runs out.
using built = base::result<layout_ptr>;

[[nodiscard]] built build_contiguous(std::int64_t count, const layout& old);
[[nodiscard]] built build_vector(std::int64_t count, std::int64_t block, std::int64_t stride,
                                 const layout& old);
[[nodiscard]] built build_hvector(std::int64_t count, std::int64_t block, std::int64_t stride_bytes,
                                  const layout& old);
[[nodiscard]] built build_indexed(std::span<const std::int64_t> blocks,
                                  std::span<const std::int64_t> displacements, const layout& old);
[[nodiscard]] built build_hindexed(std::span<const std::int64_t> blocks,
                                   std::span<const std::int64_t> displacement_bytes,
                                   const layout& old);
[[nodiscard]] built build_indexed_block(std::int64_t block,
                                        std::span<const std::int64_t> displacements,
                                        const layout& old);
[[nodiscard]] built build_hindexed_block(std::int64_t block,
                                         std::span<const std::int64_t> displacement_bytes,
                                         const layout& old);
[[nodiscard]] built build_struct(std::span<const std::int64_t> blocks,
                                 std::span<const std::int64_t> displacement_bytes,
                                 std::span<const layout* const> olds);
[[nodiscard]] built build_resized(std::int64_t lb, std::int64_t extent, const layout& old);
[[nodiscard]] built build_dup(const layout& old);

enum class storage_order : std::uint8_t { c, fortran };

[[nodiscard]] built build_subarray(std::span<const std::int64_t> sizes,
                                   std::span<const std::int64_t> subsizes,
                                   std::span<const std::int64_t> starts, storage_order order,
                                   const layout& old);

enum class distribution : std::uint8_t { none, block, cyclic };

/// One dimension of a distributed array. `argument` < 0 means the default.
struct darray_dimension {
  std::int64_t size = 1;
  distribution how = distribution::none;
  std::int64_t argument = -1;
  std::int64_t processes = 1;
};

/// The part of the array that belongs to process `rank`. Ranks are row-major in the process grid,
/// whatever `order` is.
[[nodiscard]] built build_darray(std::int64_t rank, std::span<const darray_dimension> dimensions,
                                 storage_order order, const layout& old);

}  // namespace headway::datatypes
