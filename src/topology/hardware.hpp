#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace headway::topology {

/// The machine's packages, dies, L3 caches and cores, as far as this process's control group may
/// use them: what this library needs of hwloc's information. Reading it takes half of a process's
/// start, so one process of a node reads it for all of them.
/// Shape:    a walk from the root: an object comes before those inside it.
/// Errors:   `bad_input`: a description that hwloc does not understand, or bytes that `pack` has
///           not written.
struct hardware {
  enum class kind : std::uint32_t { machine, package, die, l3, core, processor, group };

  struct object {
    kind what = kind::machine;
    std::uint32_t number = 0;          ///< the kernel's, or its index among objects of its kind
    std::uint32_t depth = 0;           ///< of the root: 0
    std::vector<int> processors = {};  ///< kernel numbers, ascending

    bool operator==(const object&) const = default;
  };

  /// From hwloc. `description` empty: this machine.
  /// Progress: 1.5 to 2.5 ms here, and 2 ms to load hwloc's plug-ins.
  [[nodiscard]] static base::result<hardware> read(const std::string& description = {});

  /// A copy restricted to these processors; objects without any are left out. Unchanged if none
  /// would be left.
  [[nodiscard]] hardware only(std::span<const int> processors) const;

  [[nodiscard]] std::vector<std::byte> pack() const;
  [[nodiscard]] static base::result<hardware> unpack(std::span<const std::byte> bytes);

  bool operator==(const hardware&) const = default;

  std::vector<object> objects;
};

}  // namespace headway::topology
