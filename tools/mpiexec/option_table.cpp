#include "tools/mpiexec/option_table.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include "base/spelling.hpp"

namespace headway::mpiexec {
namespace {

using enum option_id;

// One dash or two make no difference. The second half are options of MPICH's Hydra, Open MPI and
// Intel MPI; tests/system/launcher_lines_test.py has lines of their manuals.
constexpr option_row rows[] = {
    {"n np c", rank_count},
    {"ppn perhost npernode N grr", ranks_per_host},
    {"env", environment_pair},
    {"genv", environment_for_all},
    {"x", exported},
    {"wdir wd", directory},
    {"label l prepend-rank tag-output", label},
    {"output-filename", output_file_name},
    {"outfile-pattern outfile", output_pattern},
    {"errfile-pattern errfile", error_pattern},
    {"stdin s", input},
    {"timeout", timeout},
    {"report", report},
    {"keep-going disable-auto-cleanup", keep_going},
    {"verbose v display-allocation", verbose},
    {"gdb", debugger},
    {"configfile app", config_file},
    {"host hosts H", hosts},
    {"hostfile machinefile f machine default-hostfile", host_file},
    {"bind-to", bind_to},
    {"map-by", map_by},
    {"report-bindings display-map print-rank-map", report_bindings},
    {"version V", version},
    {"help h ?", help},

    {"output", output_style},
    {"display", display},
    {"pernode rr", one_per_host},
    {"npersocket", ranks_per_socket},
    {"bind-to-core bind-to-socket bind-to-none", bind_to_named},
    {"bycore bysocket byslot bynode", map_by_named},
    {"oversubscribe genvall envall genvuser envuser quiet q silent-abort use-hwthread-cpus "
     "localroot "
     "print-all-exitcodes disable-hostname-propagation",
     nothing},
    {"mca gmca pmixmca prtemca omca", components},
    {"allow-run-as-root noprefix nolocal nooversubscribe", for_prterun},
    {"enable-x disable-x skip-launch-node hybrid-hosts pmi-port", for_hydra},
    {"launcher launcher-exec bootstrap bootstrap-exec rmk iface demux topolib localhost nameserver "
     "usize genvlist envlist order-nodes memory-alloc-kinds",
     for_hydra_value},

    {"genvnone envnone", instead, "env -i PATH=\"$PATH\" mpiexec …"},
    {"genvexcl envexcl", instead, "env -u NAME -u NAME … mpiexec …"},
    {"tmpdir", instead, "TMPDIR=DIRECTORY mpiexec …"},
    {"path", instead, "PATH=FOLDER:$PATH mpiexec …"},
    {"umask", instead, "umask MASK before mpiexec …"},
    {"merge-stderr-to-stdout", instead, "mpiexec … 2>&1"},
    {"timestamp-output prepend-timestamp prepend-pattern", instead,
     "--label, and ts (of moreutils) behind a pipe"},
    {"ordered-output", instead, "--label, which writes whole lines"},
    {"xterm", instead, "mpiexec -n 1 xterm -e ./program : -n 3 ./program"},
    {"gtool gtoolfile", instead,
     "mpiexec -n 1 TOOL ./program : -n 3 ./program; for gdb, --gdb=RANKS"},
    {"gdb-args", instead, "mpiexec -n 1 gdb ARGUMENTS --args ./program : -n 3 ./program"},
    {"debug tv", instead, "--gdb"},
    {"check_mpi check-mpi", instead,
     "mpiexec … valgrind ./program, for memory; collective operations are always checked"},
    {"aps mps trace t profile", instead,
     "mpiexec --report FILE …, HEADWAY_STATS=1 mpiexec …, or HEADWAY_TRACE=FILE mpiexec …"},
    {"info", instead, "headway info"},
    {"tune", instead, "headway sample, once"},
    {"prot", instead, "HEADWAY_LOG=info mpiexec …"},
    {"rank-by", instead, "--map-by, which also orders the ranks"},
    {"cpus-per-proc cpus-per-rank", instead, "--map-by core:pe=N"},
    {"rankfile rankmap hosts-group cpu-set cpu-list cpu-bind", instead,
     "--bind-to and --map-by, or taskset -c LIST mpiexec …"},
    {"membind", instead, "mpiexec … numactl --membind=NODES ./program"},
    {"prefix", instead, "DIRECTORY/bin/mpiexec …"},
    {"gpus-per-proc", instead, "--env CUDA_VISIBLE_DEVICES=N for each program"},
};

std::string_view without_dashes(std::string_view text) {
  return text.substr(text.starts_with("--") ? 2 : 1);
}

auto words_of(const option_row& row) {
  return row.spellings | std::views::split(' ') |
         std::views::transform([](auto part) { return std::string_view(part); });
}

}  // namespace

const option_row* find_option(std::string_view text) noexcept {
  const auto name = without_dashes(text);
  for (const auto& row : rows)
    for (const auto word : words_of(row))
      if (word == name) return &row;
  return nullptr;
}

std::string nearest_option(std::string_view text) {
  std::vector<std::string_view> known;
  for (const auto& row : rows)
    for (const auto word : words_of(row)) known.push_back(word);
  const std::string near(base::nearest_word(without_dashes(text), known));
  if (near.empty()) return {};
  return (near.size() == 1 ? "-" : "--") + near;
}

}  // namespace headway::mpiexec
