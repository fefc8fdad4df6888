#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collectives/tuned_table.hpp"

namespace headway::tool {

struct tunable_fact {
  std::string name, why, unit, accepted, fallback, value, origin;
  std::string group, group_why;  ///< what it is about; the categories of MPI_T
};

struct place_fact {
  std::string name;
  int depth = 0;                ///< 0 is the machine
  std::vector<int> processors;  ///< the kernel's numbers
};

struct rail_fact {
  std::string name, address;
  int peers = 0;  ///< processes of the job that it reaches
};

/// How a window of this kind reaches another process of the node.
struct window_fact {
  std::string made_by, way;
};

struct function_fact {
  std::string name, chapter;
  bool works = false;  ///< false: returns MPI_ERR_UNSUPPORTED_OPERATION
};

/// A row of the table by which the algorithm of a collective operation is chosen.
struct rule_fact {
  std::string collective, algorithm;
  std::string when;     ///< bytes, ranks, load, and what it needs; empty: always
  std::string why;      ///< where that was measured, or why it is a guess
  bool forced = false;  ///< HEADWAY_COLLECTIVES names it for this collective
  bool chosen = true;   ///< false: only if HEADWAY_COLLECTIVES names it
  std::string source;   ///< "built in", "HEADWAY_COLLECTIVES" or "headway tune on 2026-01-31"
};

/// What `headway info` prints.
struct facts {
  std::string version;
  std::string compiler;
  std::string mpi_version, abi_version;
  std::vector<place_fact> places;
  int usable_processors = 0;
  bool weight = false;  ///< the kernel gives a waiting thread more weight than a computing one
  bool imagined_machine = false;  ///< HEADWAY_TOPOLOGY, not the real one
  std::vector<rail_fact> rails;
  std::string rails_fault;           ///< why the rails could not be opened; empty: they could
  std::vector<window_fact> windows;  ///< empty: the rails could not be opened
  std::vector<tunable_fact> tunables;
  std::vector<function_fact> functions;
  std::vector<rule_fact> rules;
};

/// Reads the machine, the tunables and the list of functions; with `open_rails` also opens the
/// rails as a program of this job would, and closes them again.
[[nodiscard]] base::result<facts> gather(bool open_rails);

/// All rules of all collectives, in the order in which they are looked at; those that
/// `headway tune` has measured on this machine stand before the built-in ones.
[[nodiscard]] std::vector<rule_fact> collective_rules(
    const std::optional<collectives::tuned_table>& tuned);

/// Leaves out the tunables and functions in which one of the words does not occur, whatever its
/// case: in the name, the meaning or the group.
void keep_matching(facts& all, const std::vector<std::string>& words);
/// Leaves out the tunables that have their default value.
void keep_changed(facts& all);

/// The facts as tables of text. Every printer returns text; `info` writes it. `columns`: where
/// lines are wrapped; 0: nowhere.
[[nodiscard]] std::string overview_text(const facts& all, std::size_t columns);
[[nodiscard]] std::string tunables_text(const facts& all, std::size_t columns);
[[nodiscard]] std::string functions_text(const facts& all, std::size_t columns);
[[nodiscard]] std::string rules_text(const std::vector<rule_fact>& all, std::size_t columns);
/// All facts as one JSON object.
[[nodiscard]] std::string json_text(const facts& all);

}  // namespace headway::tool
