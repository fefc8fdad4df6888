#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "topology/hardware.hpp"
#include "topology/settings.hpp"

namespace headway::topology {

/// A node of the pruned machine tree, and of the tree of the engine's queues. 0 is the root.
enum class place_id : std::uint16_t { root = 0 };

/// What the processors of a place share: from the widest to the narrowest.
enum class level : std::uint8_t { machine, package, die, l3, core };

struct place {
  place_id id{};
  place_id parent{};            ///< of the root: itself
  std::string name;             ///< "machine", "package 0", "L3 1", "core 5"
  std::vector<int> processors;  ///< kernel numbers of the processors below, ascending
  int children = 0;
  /// The widest level that it represents. Levels without siblings are pruned, so it represents all
  /// levels from this one down to those of its children; a leaf down to the core.
  level widest = level::machine;
};

/// The machine as a tree from the whole down to cores; levels without siblings are pruned.
/// Shape:    places in the order of a walk from the root: a parent comes before its children.
/// Threads:  immutable after `read`; every function any thread.
/// Source:   pioman15 (mechanisms 3 and 4); hwloc.
class machine {
 public:
  /// The machine that this process runs on, or the one that the settings describe. `found`: what
  /// another process of this node has read; hwloc is used if that is empty, or if it lacks a
  /// processor to which this process is bound.
  [[nodiscard]] static base::result<std::unique_ptr<machine>> read(
      const settings& chosen = {}, const std::optional<hardware>& found = std::nullopt);
  ~machine();
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  /// For tests: the same from a description in hwloc's syntax ("package:8 core:64 pu:1"). Its
  /// processors are imagined; processor p of the real machine stands for imagined p, modulo their
  /// number.
  [[nodiscard]] static base::result<std::unique_ptr<machine>> imagine(
      const std::string& description);

  [[nodiscard]] const std::vector<place>& places() const noexcept;
  /// The leaf on which the calling thread runs; the root if its processor is below none.
  [[nodiscard, gnu::hot]] place_id here() const noexcept;
  /// The leaf that contains a processor (the kernel's number); the root if there is none.
  [[nodiscard]] place_id leaf_of(int processor) const noexcept;
  /// The places that represent a level, in order; together they contain every processor once.
  [[nodiscard]] std::vector<place_id> places_at(level which) const;
  /// The kernel's number of the package that holds every processor to which this process is bound;
  /// -1: there is no such package.
  [[nodiscard]] int package() const noexcept;
  /// A number of what it consists of: equal for all processes on it, whatever they are bound to;
  /// another one if packages, caches, cores or processors change.
  [[nodiscard]] std::uint64_t identity() const noexcept;
  /// Whether it was made from a description: no thread can be bound to its processors.
  [[nodiscard]] bool imagined() const noexcept;
  /// Processors that this process may use now: those of its affinity mask, at most the cgroup's
  /// quota, at least 1.
  [[nodiscard]] int usable_processors() const noexcept;
  /// Processors that the processes of a job on this machine may use together. Our own affinity mask
  /// does not count, because a process that is bound to a core of its own shares the machine with
  /// the others; unless the settings give a number, or the mask confines all of them
  /// (`confined_together`).
  [[nodiscard]] int node_processors() const noexcept;
  /// Whether a control group grants less processor time than there are processors: polling on an
  /// unused processor then takes time from computing threads.
  [[nodiscard]] bool limited_by_quota() const noexcept;
  /// The number of threads that want a processor on this machine now, from the kernel. Takes
  /// microseconds: not for frequent calls.
  [[nodiscard]] int runnable_threads() const noexcept;

 private:
  struct parts;
  explicit machine(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::topology
