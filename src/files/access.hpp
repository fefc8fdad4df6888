#pragma once

#include <cstddef>
#include <cstdint>

#include "datatypes/layout.hpp"
#include "files/open_file.hpp"
#include "files/view.hpp"

namespace headway::files {

/// The memory that an access reads into or writes from.
struct memory_data {
  std::byte* buffer = nullptr;
  datatypes::layout_ptr type;
  std::int64_t count = 0;

  [[nodiscard]] std::int64_t bytes() const noexcept { return count * type->size(); }
};

enum class direction : std::uint8_t { reading, writing };

/// One access to the data of a view (MPI-5.0 section 14.4).
struct access {
  direction way = direction::reading;
  std::int64_t position = 0;  ///< of the view, where it begins
  memory_data memory;
  bool atomic = false;  ///< excludes other atomic accesses to the same bytes, in any process
};

/// Carries it out. Data that lies in one piece, in memory or in the file, is not copied; else
/// `staging_bytes_max` at a time are. Small pieces of a file that lie close together are read with
/// what is between them; they are written one by one, because what is between them may be another
/// process's.
/// Threads:  any.
/// Progress: waits for the kernel.
/// Errors:   of the kernel, and ENOMEM. A read ends at the end of the file, without an error; so
///           fewer bytes may be moved, as many as the answer says, from the beginning on.
[[nodiscard]] moved carry_out(const access& what, const open_file& file, const view& seen) noexcept;

constexpr std::int64_t staging_bytes_max = 1024 * 1024;

}  // namespace headway::files
