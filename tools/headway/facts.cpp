#include "tools/headway/facts.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/tunable.hpp"
#include "mpi/abi/function_list.hpp"
#include "mpi/tools/categories.hpp"
#include "progress/os/scheduling.hpp"
#include "runtime/instance.hpp"
#include "runtime/tuned.hpp"
#include "topology/machine.hpp"
#include "windows/settings.hpp"

namespace headway::tool {
namespace {

std::string compiler_text() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

void add_machine(facts& all, const topology::machine& machine) {
  all.usable_processors = machine.usable_processors();
  all.imagined_machine = machine.imagined();
  const auto& places = machine.places();
  for (const auto& place : places) {
    int depth = 0;
    for (auto at = place.id; at != topology::place_id::root;) {
      at = places[static_cast<std::size_t>(at)].parent;
      ++depth;
    }
    all.places.push_back({place.name, depth, place.processors});
  }
}

/// Whether the kernel lets another process of this user read this one's memory.
bool kernel_copies_between_processes() {
  int here = 1;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    int there = 0;
    const iovec to{&there, sizeof there}, from{&here, sizeof here};
    const auto bytes = process_vm_readv(parent, &to, 1, &from, 1, 0);
    _exit(bytes == static_cast<ssize_t>(sizeof there) ? 0 : 1);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/// As src/mpi/one_sided/creation.cpp chooses. `copies`: the kernel copies between processes.
std::vector<window_fact> window_ways(windows::way best, bool copies) {
  using windows::way;
  const auto created = copies && best >= way::nearby ? way::nearby : way::wire;
  const auto allocated = best == way::mapped ? way::mapped : created;
  return {{"MPI_Win_allocate, MPI_Win_allocate_shared", std::string(name_of(allocated))},
          {"MPI_Win_create", std::string(name_of(created))},
          {"MPI_Win_create_dynamic", std::string(name_of(way::wire))}};
}

/// Opens the rails as a program of one rank would. A fault is stored, and does not end the command.
base::result<> add_rails(facts& all, const runtime::settings& chosen) {
  auto started = runtime::instance::start(chosen);
  if (!started) return std::unexpected(std::move(started.error()));
  for (auto& rail : (*started)->rails())
    all.rails.push_back({std::move(rail.name), std::move(rail.address), rail.peers});
  const bool copies = (*started)->node_memory() != nullptr && kernel_copies_between_processes();
  all.windows = window_ways(chosen.windows.best, copies);
  return (*started)->stop();
}

void add_tunables(facts& all) {
  for (const auto* one : base::tunable::all()) {
    const auto group = mpi::tools::category_of_setting(one->name());
    all.tunables.push_back({.name = one->name(),
                            .why = one->why(),
                            .unit = one->unit(),
                            .accepted = one->range_text(),
                            .fallback = one->fallback_text(),
                            .value = one->value_text(),
                            .origin = one->origin(),
                            .group = group.name,
                            .group_why = group.why});
  }
  std::ranges::stable_sort(all.tunables, {}, &tunable_fact::group);
}

/// Whether `word` occurs in `text`, whatever the case of the letters.
bool occurs(std::string_view word, std::string_view text) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return !std::ranges::search(text, word, same).empty() || word.empty();
}

}  // namespace

void keep_matching(facts& all, const std::vector<std::string>& words) {
  const auto lacks = [&](std::initializer_list<std::string_view> texts) {
    return std::ranges::any_of(words, [&](const auto& word) {
      return std::ranges::none_of(texts, [&](auto text) { return occurs(word, text); });
    });
  };
  std::erase_if(all.tunables, [&](const auto& one) {
    return lacks({one.name, one.why, one.group, one.group_why});
  });
  std::erase_if(all.functions, [&](const auto& one) { return lacks({one.name, one.chapter}); });
}

void keep_changed(facts& all) {
  std::erase_if(all.tunables, [](const auto& one) { return one.origin == "default"; });
}

base::result<facts> gather(bool open_rails) {
  facts all;
  all.version = HEADWAY_VERSION;
  all.compiler = compiler_text();
  all.mpi_version = fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION);
  all.abi_version = fmt::format("{}.{}", MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
  const auto chosen = runtime::settings::from_environment();
  const auto machine = topology::machine::read(chosen.topology);
  if (!machine) return std::unexpected(machine.error());
  add_machine(all, **machine);
  all.weight = progress::may_take_greatest_weight();
  if (open_rails) {
    if (auto opened = add_rails(all, chosen); !opened)
      all.rails_fault = std::move(opened.error().text);
  }
  add_tunables(all);
  for (const auto& one : mpi::function_list())
    all.functions.push_back({one.name, one.chapter, one.implemented});
  all.rules = collective_rules(runtime::find_tuned(chosen, **machine));
  return all;
}

}  // namespace headway::tool
