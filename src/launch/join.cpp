#include "launch/join.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/log.hpp"
#include "launch/pmi1/pmi1_launcher.hpp"
#include "launch/pmix/pmix_launcher.hpp"
#include "launch/rendezvous/rendezvous_launcher.hpp"
#include "launch/single/single_launcher.hpp"

namespace headway::launch {
namespace {

struct sign {
  const char* variable;
  const char* launcher;
  bool counts;  ///< the value is a number of processes; 1: the user wanted a single process
  const char* better = nullptr;  ///< a variable with more information, if it is set as well
};

constexpr const char* pmix_name = "PMIX_NAMESPACE";

// The first one that is set identifies the launcher. Intel's and MPICH's launchers are not listed,
// because they set PMI_FD, nor is a PMIx server, because it sets its address.
constexpr sign signs[] = {
    {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun", true},
    {"SLURM_STEP_NUM_TASKS", "Slurm's srun without --mpi=pmix or --mpi=pmi2", true, pmix_name},
    {pmix_name, "a PMIx launcher that gives no PMIX_SERVER_URI", false},
    {"SLURM_NTASKS", "Slurm's srun without --mpi=pmix or --mpi=pmi2", true},
    {"PALS_RANKID", "Cray's PALS", false},
    {"JSM_NAMESPACE_SIZE", "IBM's jsrun", true},
};

base::result<bool> is_socket(std::int64_t descriptor) {
  struct stat found;
  if (descriptor < 0 || descriptor > INT32_MAX) return false;
  if (fstat(static_cast<int>(descriptor), &found) == 0) return S_ISSOCK(found.st_mode);
  if (errno == EBADF) return false;
  return base::failed_errno("fstat of PMI_FD", errno);
}

/// Whether a launcher with a PMIx server says that it started this process alone.
bool starts_one(const environment& told) {
  for (const auto* name : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const auto count = told.number(name)) return *count == 1;
  return false;
}

}  // namespace

std::optional<std::string> foreign_launcher(const environment& told) {
  for (const auto& s : signs) {
    const auto value = told.find(s.variable);
    if (!value) continue;
    const bool alone = s.counts && told.number(s.variable).value_or(1) <= 1;
    // The count of the step is that of this program; that of the allocation, further down, is not.
    if (alone && s.variable == std::string_view("SLURM_STEP_NUM_TASKS")) return std::nullopt;
    if (!alone && !(s.better && told.has(s.better)))
      return fmt::format("{} ({}={})", s.launcher, s.variable, *value);
  }
  return std::nullopt;
}

base::result<std::unique_ptr<launcher>> find_launcher(const environment& told,
                                                      const settings& how) {
  if (!how.rendezvous.empty()) {
    const auto where = rendezvous_from(how.rendezvous, told.find("HEADWAY_RENDEZVOUS_SECRET"),
                                       how.rendezvous_processes);
    if (!where) return std::unexpected(where.error());
    return rendezvous_launcher::meet(*where, how);
  }
  if (const auto text = told.find("PMI_FD")) {
    const auto descriptor = told.number("PMI_FD");
    const auto usable = is_socket(descriptor.value_or(-1));
    if (!usable) return std::unexpected(usable.error());
    if (*usable) return pmi1_launcher::inherited(told, static_cast<int>(*descriptor), how);
    base::log(base::severity::warning,
              "PMI_FD={} is not an open socket (started by a rank, or by a wrapper that closes "
              "descriptors?): running as a single process",
              *text);
  } else if (told.has("PMI_PORT") && told.has("PMI_ID")) {
    return pmi1_launcher::dialled(told, how);
  } else if (pmix_server_is_named(told)) {
    auto found = join_pmix(how);
    if (found || found.error().kind != base::fault_kind::unsupported || !starts_one(told))
      return found;
  } else if (const auto launcher = foreign_launcher(told)) {
    base::log(base::severity::warning,
              "started by {}, which this library does not understand: running as a single process",
              *launcher);
  }
  return std::make_unique<single_launcher>();
}

}  // namespace headway::launch
