#include "launch/job.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/log.hpp"
#include "launch/join.hpp"
#include "launch/pmi_job.hpp"
#include "launch/rendezvous_job.hpp"
#include "launch/single_job.hpp"
#include "launch/tunables.hpp"

namespace headway::launch {
namespace {

struct sign {
  const char* variable;
  const char* launcher;
  bool counts;  ///< the value is a number of processes: one alone needs nobody
};

// In this order: Open MPI and Slurm also set PMIX_ variables. Intel's and MPICH's launchers need no
// line, they set PMI_FD.
constexpr sign signs[] = {
    {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun", true},
    {"SLURM_STEP_NUM_TASKS", "Slurm's srun without --mpi=pmi2", true},
    {"PMIX_NAMESPACE", "a PMIx launcher", false},
    {"PMIX_RANK", "a PMIx launcher", false},
    {"SLURM_NTASKS", "Slurm's srun without --mpi=pmi2", true},
    {"PALS_RANKID", "Cray's PALS", false},
    {"JSM_NAMESPACE_SIZE", "IBM's jsrun", true},
};

bool is_socket(std::int64_t descriptor) {
  struct stat found;
  return descriptor >= 0 && descriptor < INT32_MAX &&
         fstat(static_cast<int>(descriptor), &found) == 0 && S_ISSOCK(found.st_mode);
}

}  // namespace

std::optional<std::string> foreign_launcher(const environment& told) {
  for (const auto& s : signs) {
    const auto value = told.find(s.variable);
    if (!value) continue;
    const bool alone = s.counts && told.number(s.variable).value_or(1) <= 1;
    // The step's own count is the truth about us; the allocation's count says nothing then.
    if (alone && s.variable == std::string_view("SLURM_STEP_NUM_TASKS")) return std::nullopt;
    if (!alone) return fmt::format("{} ({}={})", s.launcher, s.variable, *value);
  }
  return std::nullopt;
}

base::result<std::unique_ptr<job>> join_from(const environment& told) {
  if (const auto text = told.find("PMI_FD")) {
    const auto descriptor = told.number("PMI_FD");
    if (descriptor && is_socket(*descriptor))
      return pmi_job::inherited(told, static_cast<int>(*descriptor));
    base::log(base::severity::warning,
              "PMI_FD={} is not an open socket (started by a rank, or by a wrapper that closes "
              "descriptors?): running as a single process",
              *text);
  } else if (told.has("PMI_PORT") && told.has("PMI_ID")) {
    return pmi_job::dialled(told);
  } else if (const auto launcher = foreign_launcher(told)) {
    base::log(base::severity::warning,
              "started by {}, which this library does not understand: running as a single process",
              *launcher);
  }
  return std::make_unique<single_job>();
}

base::result<std::unique_ptr<job>> job::join() {
  const auto told = environment::of_this_process();
  if (rendezvous.get().empty()) return join_from(told);
  const auto where = rendezvous_from(rendezvous.get(), told.find("HEADWAY_RENDEZVOUS_SECRET"),
                                     static_cast<int>(rendezvous_processes.get()));
  if (!where) return std::unexpected(where.error());
  return rendezvous_job::meet(*where);
}

}  // namespace headway::launch
