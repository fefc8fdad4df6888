#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway::mpiexec {

/// A level of the machine, from small to large.
enum class place_level : std::uint8_t { hwthread, core, l3cache, numa, socket, node };

class machine_places;

/// What --bind-to, --map-by and their relatives say.
struct placement_wish {
  std::optional<place_level> bind;  ///< places that a rank is bound to; `node`: it is not bound
  int bind_count = 1;               ///< so many of them
  std::optional<place_level> map;   ///< over whose places the ranks are dealt out
  bool chosen_by_default = false;   ///< `bind` is what `choose_default` has chosen
  int ranks_per_place = 0;          ///< so many consecutive ranks on each; 0: one, in turns
  std::string bind_text, map_text;  ///< as they were written, for other launchers

  /// `text` as behind --bind-to: "core", "core:2", "none".
  /// Errors:   `bad_input` with the accepted words.
  [[nodiscard]] base::result<> take_bind(std::string_view text);
  /// `text` as behind --map-by: "socket", "core:pe=2", "ppr:2:socket".
  /// Errors:   as above.
  [[nodiscard]] base::result<> take_map(std::string_view text);
  [[nodiscard]] bool binds() const noexcept;
  /// No option says where ranks run.
  [[nodiscard]] bool is_unspecified() const noexcept { return !bind && !map; }
  /// If no option says where ranks run: ranks that fill the cores evenly, one or several on each,
  /// are bound to cores, as many as hardware threads to a hardware thread each; otherwise none is
  /// bound (docs/decisions/0037, 0045).
  void choose_default(int ranks, const machine_places& machine) noexcept;
};

/// The processors of a machine that a job may use, level by level.
/// Shape:    places of a level in the order of the sockets, and in them of the processors.
class machine_places {
 public:
  using place = std::vector<int>;  ///< the kernel's numbers of its processors, rising

  /// `folder` is that of the kernel's processors, /sys/devices/system/cpu. Reads a file for each
  /// processor and level: mpiexec runs for milliseconds, and hwloc alone would take longer.
  /// A level that the kernel does not describe has the machine as its only place.
  [[nodiscard]] static machine_places read(const std::string& folder,
                                           const std::vector<int>& allowed);
  /// The processors on which this process may run.
  [[nodiscard]] static std::vector<int> allowed_here();

  [[nodiscard]] const std::vector<place>& of(place_level level) const noexcept {
    return places_[static_cast<std::size_t>(level)];
  }
  /// The processors of a rank; empty: it is not bound.
  /// With n places to map over, rank r goes to place r modulo n. In it, ranks take the places to
  /// bind to one after the other, and begin again with the first when there are no more.
  [[nodiscard]] place of_rank(int rank, const placement_wish& wish) const;
  /// How many ranks `ppr:N:LEVEL` means.
  [[nodiscard]] int ranks_wanted(const placement_wish& wish) const noexcept;

 private:
  static constexpr std::size_t level_count = static_cast<std::size_t>(place_level::node) + 1;
  std::vector<place> places_[level_count];
};

/// The same as the kernel wants it.
[[nodiscard]] cpu_set_t mask_of(const machine_places::place& processors) noexcept;

/// "0-2,5"
[[nodiscard]] std::string processor_text(const machine_places::place& processors);

}  // namespace headway::mpiexec
