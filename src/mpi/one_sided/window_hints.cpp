#include "mpi/one_sided/window_hints.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <string_view>

#include "mpi/objects/memory_alignment.hpp"
#include "mpi/sessions/memory_kinds.hpp"
#include "windows/window.hpp"

namespace headway::mpi {
namespace {

using windows::way;

/// So that the ranks of all ways fit into a value.
constexpr std::size_t ranks_text_max = (MPI_MAX_INFO_VAL - 64) / windows::ways;

/// The ranks that are reached in this way: "0-3,7"; a text that is too long ends with "...".
[[nodiscard]] std::string ranks_text(const windows::window& memory, way by) {
  std::string text;
  for (int first = 0; first < memory.size(); ++first) {
    if (memory.at(first).by != by) continue;
    int last = first;
    while (last + 1 < memory.size() && memory.at(last + 1).by == by) ++last;
    const auto run = first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    if (text.size() + run.size() > ranks_text_max) return text + ",...";
    text += (text.empty() ? "" : ",") + run;
    first = last;
  }
  return text;
}

/// "mapped:0-3 wire:4-15"
[[nodiscard]] std::string ways_text(const windows::window& memory) {
  std::string text;
  for (const way each : {way::mapped, way::nearby, way::wire})
    if (const auto ranks = ranks_text(memory, each); !ranks.empty())
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", windows::name_of(each), ranks);
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> hints_in_force(window& of) {
  std::vector<std::pair<std::string, std::string>> all{{"no_locks", "false"},
                                                       {"accumulate_ordering", "rar,raw,war,waw"},
                                                       {"accumulate_ops", "same_op_no_op"},
                                                       {"mpi_accumulate_granularity", "0"},
                                                       {"same_size", "false"},
                                                       {"same_disp_unit", "false"}};
  if (of.known().flavor == MPI_WIN_FLAVOR_SHARED)
    all.emplace_back("alloc_shared_noncontig", "false");
  for (auto& [key, value] : all)
    if (auto given = of.hints.get(key)) value = *std::move(given);
  for (const char* const key : {minimum_alignment_hint, "mpi_assert_memory_alloc_kinds"})
    if (auto given = of.hints.get(key)) all.emplace_back(key, *std::move(given));
  all.emplace_back(memory_kinds_hint, memory_kinds_of(of.comm().origin));
  all.emplace_back("headway_ways", ways_text(of.memory()));
  return all;
}

}  // namespace headway::mpi
