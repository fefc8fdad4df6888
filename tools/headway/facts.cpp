#include "tools/headway/facts.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include "base/tunable.hpp"
#include "mpi/abi/function_list.hpp"
#include "runtime/instance.hpp"
#include "topology/machine.hpp"

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

/// Opens the rails as a program of one rank would. A fault is stored, and does not end the command.
base::result<> add_rails(facts& all, const runtime::settings& chosen) {
  auto started = runtime::instance::start(chosen);
  if (!started) return std::unexpected(std::move(started.error()));
  for (auto& rail : (*started)->rails())
    all.rails.push_back({std::move(rail.name), std::move(rail.address), rail.peers});
  return (*started)->stop();
}

void add_tunables(facts& all) {
  for (const auto* one : base::tunable::all())
    all.tunables.push_back({.name = one->name(),
                            .why = one->why(),
                            .unit = one->unit(),
                            .accepted = one->range_text(),
                            .fallback = one->fallback_text(),
                            .value = one->value_text(),
                            .origin = one->origin()});
}

}  // namespace

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
  if (open_rails) {
    if (auto opened = add_rails(all, chosen); !opened)
      all.rails_fault = std::move(opened.error().text);
  }
  add_tunables(all);
  for (const auto& one : mpi::function_list())
    all.functions.push_back({one.name, one.chapter, one.implemented});
  return all;
}

}  // namespace headway::tool
