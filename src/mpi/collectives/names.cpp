#include "mpi/collectives/names.hpp"

#include <fmt/format.h>

#include <string>

#include "collectives/call.hpp"
#include "collectives/choice.hpp"

namespace headway::mpi {
namespace {

using collectives::call;

std::string function_name(const call& what) {
  if (what.what == collectives::collective::unknown) return "another function";
  std::string name = collectives::name_of(what.what);
  if (what.how == call::form::non_blocking) return "MPI_I" + name;
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return "MPI_" + name + (what.how == call::form::persistent ? "_init" : "");
}

std::string text_of(const call& what) {
  auto text = function_name(what);
  if (what.root != call::no_root) text += fmt::format(" (root {})", what.root);
  return text + (what.agrees ? ", in which it agrees on shared memory" : "");
}

}  // namespace

std::string name_of(const communicator& comm, int rank) {
  if (!comm.is_inter()) return fmt::format("rank {}", rank);
  const int local = rank - comm.first_local();
  if (0 <= local && local < comm.size()) return fmt::format("rank {} of the local group", local);
  return fmt::format("rank {} of the remote group", rank - comm.first_remote());
}

std::string text_of_misfit(const communicator& comm, const messages::operation_log& broken) {
  const auto& why = broken.why_broken();
  const auto& [one, other] = why.sides;
  return fmt::format("{} calls {} as operation {} of {}, {} calls {}", name_of(comm, one.rank),
                     text_of(call::of(one.call)), why.position - broken.own(),
                     comm.name.empty() ? "the communicator" : "communicator " + comm.name,
                     name_of(comm, other.rank), text_of(call::of(other.call)));
}

}  // namespace headway::mpi
