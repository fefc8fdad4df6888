#pragma once

#include <cstddef>
#include <cstdint>

#include "processes/process.hpp"
#include "rails/memory.hpp"
#include "windows/control_line.hpp"
#include "windows/operation.hpp"
#include "windows/slot_way.hpp"

namespace headway::windows {

/// The memory of a target that this process reaches without its help.
struct near_target {
  std::byte* mapped = nullptr;      ///< the window's base, as it is mapped here; null: not mapped
  rails::memory* copies = nullptr;  ///< else: copies what is at an address in its process
  processes::peer_id process{};
  std::uint64_t base = 0;        ///< the window's base there
  control_line* line = nullptr;  ///< never null
  lock_holder me{};              ///< this process, where it holds `line->changing`
  slot_way* slots = nullptr;     ///< null: none, the target does not serve any
};

// One-sided operations by loads and stores, or by the kernel's copies. They have ended, at the
// target too, when they return, but for the puts that `slots` gathers. The caller has checked that
// they are inside of the window.
// Not inlined: the operations of window.cpp on one row of mapped memory need none of it.
// Threads:  any.
// Errors:   `lost`: the kernel does not copy, because the process has ended; or one has ended while
//           it changed elements of this target.
[[nodiscard, gnu::noinline]] status put(const near_target& at, const local_data& from,
                                        const remote_data& to);
[[nodiscard, gnu::noinline]] status get(const near_target& at, const local_data& to,
                                        const remote_data& from);
/// What excludes the changes of others.
struct own_change {
  control_line& line;
  lock_holder me;
};
// Of one element of a predefined type, in a row, that is mapped.
[[nodiscard]] status change_element(const own_change& by, std::byte* element,
                                    const datatypes::layout& type, const change& how,
                                    const std::byte* operand, std::byte* before) noexcept;
[[nodiscard]] status swap_element(const own_change& by, std::byte* element, std::size_t bytes,
                                  const std::byte* value, const std::byte* expected,
                                  std::byte* before) noexcept;
/// `before` is null for an accumulate, `operand` may be null for MPI_NO_OP.
[[nodiscard, gnu::noinline]] status change_elements(const near_target& at,
                                                    const local_data* operand,
                                                    const local_data* before,
                                                    const remote_data& where, const change& how);
/// Of one element of a predefined type.
[[nodiscard, gnu::noinline]] status compare_and_swap(const near_target& at, const std::byte* value,
                                                     const std::byte* expected, std::byte* before,
                                                     const remote_data& where);

}  // namespace headway::windows
