#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace headway::topology {

/// A node of the pruned machine tree, and with it a queue of the progression engine. 0 is the root.
enum class place_id : std::uint16_t { root = 0 };

struct place {
  place_id id{};
  place_id parent{};            ///< of the root: itself
  std::string name;             ///< "machine", "package 0", "L3 1", "core 5"
  std::vector<int> processors;  ///< kernel numbers of the processors below, ascending
  int children = 0;
};

/// The machine as a tree from the whole down to cores; levels without siblings are pruned.
/// Threads:  immutable after `read`; `here` any thread.
/// Source:   pioman15 (mechanisms 3 and 4); hwloc.
class machine {
 public:
  /// What this process sits on, or the synthetic description in HEADWAY_TOPOLOGY (hwloc's syntax).
  [[nodiscard]] static base::result<std::unique_ptr<machine>> read();
  ~machine();
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  [[nodiscard]] const std::vector<place>& places() const noexcept;
  /// The leaf that the calling thread ran on lately: cached per thread, refreshed every 200 ms.
  [[nodiscard]] place_id here() const noexcept;
  /// Processors this process may use now: its affinity mask, cut by a cgroup's quota (at least 1).
  [[nodiscard]] int usable_processors() const noexcept;
  /// Threads that want a processor on this machine now (from the kernel's own count); a look-up
  /// of microseconds, so callers ask rarely.
  [[nodiscard]] int runnable_threads() const noexcept;

 private:
  struct parts;
  explicit machine(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::topology
