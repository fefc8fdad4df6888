#include "tools/mpiexec/options.hpp"

namespace headway::mpiexec {

const char* help_text() noexcept {
  return R"(usage: mpiexec [OPTION…] [-n N] PROGRAM [ARGUMENT…] [: [OPTION…] [-n N] PROGRAM …]

Starts N ranks of PROGRAM as one MPI job; ':' adds ranks of another program.

For the program that follows:
  -n N, -np N           number of ranks (1)
  --env NAME=VALUE      environment variable; may be given again and again
  --wdir DIRECTORY      where its ranks start; a relative PROGRAM is looked for there, then here
For the whole job:
  --genv NAME=VALUE, -x NAME=VALUE   environment variable for all programs
  -x NAME               passes a variable on to other machines; here all are passed on
  --timeout SECONDS     end the job after this time, with exit code 124
  --report FILE         a page about where the time of communication went (HEADWAY_REPORT)
  --keep-going          when a rank dies, let the others run on
  --configfile FILE     options and programs out of a file, a line for each ':'
  -v, --verbose         say what is started, and by which launcher
  --version, --help
Processors:
  --bind-to LEVEL       bind each rank to a hwthread, core, l3cache, numa or socket; LEVEL:N to N of
                        them; none. The default: a core for each if there are as many ranks as
                        cores, else none
  --map-by LEVEL        deal the ranks out over these places, in turns; LEVEL:pe=N with N cores for
                        each, ppr:N:LEVEL with N ranks on each. Binds as well, unless --bind-to says
                        otherwise
  --report-bindings     say to which processors each rank is bound
Input and output (RANKS is all, none, or as 0,2-4):
  --stdin RANKS         ranks that get the standard input (0); the others find its end
  --label               begin each line of output with the rank that wrote it: "0: …"
  --output-filename F   write the output of rank 0 to F.0, and so on
  --outfile-pattern F, --errfile-pattern F   the same for one stream; %r in F is the rank
  --gdb, --gdb=RANKS    run these ranks (all) in gdb; its input goes to each of them
Several machines, through srun, MPICH's Hydra or PRRTE's prterun, whichever is there:
  -host A,B:2           machines, with the number of ranks on each
  -hostfile FILE        the same, one a line: "A", "B:2" or "B slots=2"
  -ppn N                so many ranks on each machine; without -n also their number on this one
Options may begin with one dash or two. Most others of MPICH, Open MPI and Intel MPI are understood,
or answered with what to write.

SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT go to all ranks; the second
SIGINT or SIGTERM kills them.
Exit code: 0 if every rank returned 0; else that of the first rank that failed (128 + signal if it
was killed); 124 after --timeout; 126 or 127 if a program cannot be run or found; 2 for a wrong
command line.
)";
}

}  // namespace headway::mpiexec
