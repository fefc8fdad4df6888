#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "windows/settings.hpp"

namespace headway::windows {

/// Counters of one-sided operations on all windows of an instance.
/// Shape:    a row for each way to a target, and one for what was served.
/// Threads:  any; relaxed, they carry no data.
struct statistics {
  using count = std::atomic<std::uint64_t>;
  struct row {
    count puts{0};
    count gets{0};
    count accumulates{0};
    count fetches{0};  ///< MPI_Get_accumulate, MPI_Fetch_and_op, MPI_Compare_and_swap
    count bytes{0};    ///< at the target
  };
  std::array<row, ways> by_way;  ///< operations of this process, by windows::way
  row served;                    ///< requests that reached this process by packets

  [[nodiscard]] row& of(way which) noexcept {
    HEADWAY_DEBUG_ASSERT(static_cast<std::size_t>(which) < by_way.size());
    return by_way[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] const row& of(way which) const noexcept {
    return by_way[static_cast<std::size_t>(which)];
  }
};

/// Whether several threads may count at once.
enum class counting : bool { alone, shared };

/// Counts one operation of `bytes` bytes. An atomic addition would be a tenth of a mapped put, so
/// it is left out where one thread at a time makes calls.
inline void count_operation(statistics::row& in, statistics::count statistics::row::* kind,
                            std::int64_t bytes, counting how) noexcept {
  const auto add = [how](statistics::count& c, std::uint64_t n) {
    if (how == counting::shared) {
      c.fetch_add(n, std::memory_order_relaxed);
    } else {
      c.store(c.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
  };
  add(in.*kind, 1);
  add(in.bytes, static_cast<std::uint64_t>(bytes));
}

}  // namespace headway::windows
