#!/usr/bin/env python3
"""Installs Headway, moves the prefix, and builds and runs programs as users do."""

import os
import re
import shutil
import unittest

import place
from place import HELLO, SCRATCH, run

HELLO_LINES = ["hello from rank 0 of 2", "hello from rank 1 of 2", "the ranks add up to 1"]


def lines(text):
    return sorted(text.splitlines())


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = place.install()
        cls.bin = cls.prefix / "bin"
        cls.path = place.environment(PATH=f"{cls.bin}:{os.environ['PATH']}")

    def mpiexec(self, ranks, program):
        return run(self.bin / "mpiexec", "-n", ranks, program)

    def test_a_c_program_builds_with_mpicc_and_runs_without_any_variable(self):
        program = SCRATCH / "hello"
        run(self.bin / "mpicc", HELLO / "hello.c", "-o", program)
        self.assertEqual(lines(self.mpiexec(2, program)), HELLO_LINES)

    def test_a_cxx_program_builds_with_every_name_of_the_wrapper(self):
        for name in ("mpicxx", "mpic++", "mpicxx_abi"):
            program = SCRATCH / f"ring_{name}"
            run(self.bin / name, HELLO / "ring.cpp", "-o", program)
            self.assertEqual(self.mpiexec(3, program), "the token came back with 3\n")

    @unittest.skipUnless(shutil.which("gfortran"), "gfortran is not installed")
    def test_a_fortran_program_builds_with_every_name_of_the_wrapper_and_with_cmake(self):
        for name in ("mpifort", "mpif90", "mpif77"):
            program = SCRATCH / f"hello_{name}"
            run(self.bin / name, HELLO / "hello.f90", "-o", program)
            self.assertEqual(lines(self.mpiexec(2, program)), HELLO_LINES[:2])
        project, build = SCRATCH / "fortran_project", SCRATCH / "fortran_build"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(hello LANGUAGES Fortran)\n"
            "find_package(MPI REQUIRED COMPONENTS Fortran)\n"
            f'add_executable(hello "{HELLO / "hello.f90"}")\n'
            "target_link_libraries(hello PRIVATE MPI::MPI_Fortran)\n")
        run("cmake", "-S", project, "-B", build, env=self.path)
        run("cmake", "--build", build, env=self.path)
        self.assertEqual(lines(self.mpiexec(2, build / "hello")), HELLO_LINES[:2])

    def test_end_points_are_found_by_cmake_from_c_and_with_owners_from_cxx(self):
        project, build = SCRATCH / "endpoints_project", SCRATCH / "endpoints_build"
        project.mkdir()
        (project / "open.c").write_text(
            "#include <headway/endpoint.h>\n"
            "int main(void) { headway_endpoint made; return headway_endpoint_open(0, &made); }\n")
        (project / "open.cpp").write_text(
            "#include <headway/endpoint.hpp>\nint main() { headway::endpoint made; }\n")
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(use LANGUAGES C CXX)\n"
            "set(CMAKE_CXX_STANDARD 17)\nfind_package(headway REQUIRED)\n"
            "foreach(language c cpp)\nadd_executable(open_${language} open.${language})\n"
            "target_link_libraries(open_${language} PRIVATE headway::headway)\nendforeach()\n")
        run("cmake", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        for language in ("c", "cpp"):
            run(build / f"open_{language}")

    def test_compiling_and_linking_in_two_steps(self):
        run(self.bin / "mpicc", "-Wall", "-Werror", "-c", HELLO / "hello.c", "-o", "hello.o")
        run(self.bin / "mpicc_abi", "hello.o", "-o", "hello_two")
        self.assertEqual(lines(self.mpiexec(2, SCRATCH / "hello_two")), HELLO_LINES)

    def test_the_header_of_communicators_works_in_c_and_cxx_and_from_the_build_folder(self):
        source = ("#include <headway/communicator.h>\n#include <stdio.h>\n"
                  "int main(void) { int now = -1; MPI_Init(0, 0);\n"
                  "  headway_comm_set_priority(MPI_COMM_WORLD, HEADWAY_PRIORITY_URGENT);\n"
                  "  headway_comm_get_priority(MPI_COMM_WORLD, &now);\n"
                  "  MPI_Finalize(); printf(\"%d\\n\", now); return 0; }\n")
        for folder, wrapper, name in ((self.bin, "mpicc", "priority.c"),
                                      (self.bin, "mpicxx", "priority.cpp"),
                                      (place.BUILD / "bin", "mpicc", "priority.c")):
            (SCRATCH / name).write_text(source)
            run(folder / wrapper, "-Wall", "-Wextra", "-Werror", SCRATCH / name, "-o", "priority")
            self.assertEqual(run(folder / "mpiexec", "-n", 1, SCRATCH / "priority"), "1\n")

    def test_a_program_without_a_launcher_is_one_rank_of_one(self):
        run(self.bin / "mpicc", HELLO / "hello.c", "-o", "hello_alone")
        alone = run(SCRATCH / "hello_alone")
        self.assertEqual(lines(alone), ["hello from rank 0 of 1", "the ranks add up to 0"])

    def test_pkg_config_knows_the_flags(self):
        folder = self.prefix / "lib" / "pkgconfig"
        env = place.environment(PKG_CONFIG_PATH=folder)
        flags = run("pkg-config", "--cflags", "--libs", "headway-mpi", env=env)
        command = f'cc "{HELLO / "hello.c"}" -o hello_pkg {flags}'
        run("sh", "-c", command)
        self.assertEqual(lines(self.mpiexec(2, SCRATCH / "hello_pkg")), HELLO_LINES)

    def test_end_points_without_mpi_from_c_and_from_python(self):
        folder = self.prefix / "lib" / "pkgconfig"
        env = place.environment(PKG_CONFIG_PATH=folder)
        flags = run("pkg-config", "--cflags", "--libs", "headway", env=env)
        source = SCRATCH / "point.c"
        source.write_text("#include <headway/endpoint.h>\n#include <stdio.h>\n"
                          "int main(void) { headway_endpoint e;\n"
                          "  puts(headway_status_text(headway_endpoint_open(NULL, &e))); }\n")
        run("sh", "-c", f'cc "{source}" -o point {flags}')
        self.assertEqual(self.mpiexec(2, SCRATCH / "point").splitlines().count("well"), 2)
        try:
            run("/usr/bin/python3", "-c", "import cffi")
        except Exception as why:  # pylint: disable=broad-except
            self.skipTest(f"cffi for Python is not installed: {why}")
        env = place.environment(PYTHONPATH=self.prefix / "lib" / "headway" / "python")
        output = run("/usr/bin/python3", "-c", "import headway; print(headway.count())", env=env)
        self.assertEqual(output, "1\n")

    def build_with_cmake(self, name, env, *arguments):
        build = SCRATCH / name
        run("cmake", "-S", HELLO, "-B", build, *arguments, env=env)
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
        found = re.search(r"^MPI_C_COMPILER:FILEPATH=(.*)$", cache, re.M)[1]
        self.assertEqual(found, str(self.bin / "mpicc"))
        run("cmake", "--build", build, env=env)
        run("ctest", "--test-dir", build, "--output-on-failure", env=env)

    def test_cmake_finds_mpi_by_the_wrapper_on_the_path(self):
        self.build_with_cmake("by_path", self.path)

    def test_cmake_finds_mpi_by_mpi_home(self):
        self.build_with_cmake("by_home", None, f"-DMPI_HOME={self.prefix}")

    def test_the_wrapper_prints_the_command_instead_of_running_it(self):
        mpicc = self.bin / "mpicc"
        self.assertIn("-lmpi_abi", run(mpicc, "-show", "x.c"))
        self.assertNotIn("-lmpi_abi", run(mpicc, "-show", "-c", "x.c"))
        self.assertIn("include", run(mpicc, "--showme:compile"))
        self.assertEqual(run(mpicc, "--showme:libs"), "mpi_abi\n")
        self.assertTrue(run(mpicc, "-link_info").startswith("cc "))
        self.assertNotIn("-lmpi_abi", run(mpicc, "-compile_info"))
        self.assertIn("cc", run(mpicc, "--version"))

    def test_the_wrapper_uses_the_compiler_of_its_variable_or_option(self):
        env = place.environment(HEADWAY_CC="my-compiler -m64")
        self.assertTrue(run(self.bin / "mpicc", "-show", env=env).startswith("my-compiler -m64 "))
        self.assertTrue(run(self.bin / "mpicc", "-cc=tcc", "-show").startswith("tcc "))

    def test_the_wrapper_passes_arguments_with_blanks_and_quotes_unchanged(self):
        source = SCRATCH / "a file's name.c"
        source.write_text('#include <stdio.h>\nint main(void) { puts(TEXT); return 0; }\n')
        run(self.bin / "mpicc", '-DTEXT="two  words $HOME"', source, "-o", "awkward")
        self.assertEqual(run(SCRATCH / "awkward"), "two  words $HOME\n")

    def test_the_build_folder_works_like_an_installed_prefix(self):
        run(place.BUILD / "bin" / "mpicc", HELLO / "hello.c", "-o", "hello_built")
        output = run(place.BUILD / "bin" / "mpiexec", "-n", 2, SCRATCH / "hello_built")
        self.assertEqual(lines(output), HELLO_LINES)

    def test_the_library_exports_mpi_names_only(self):
        library = self.prefix / "lib" / "libmpi_abi.so.1"
        listed = run("nm", "-D", "--defined-only", library)
        names = [line.split()[-1].split("@")[0] for line in listed.splitlines()]
        others = [name for name in names if not re.match(r"P?MPI_", name)]
        # For libmpifort_abi.so and libheadway.so beside it, and those of headway/communicator.h.
        self.assertEqual(others, ["headway_attach_to_partitions", "headway_attach_to_request",
                                  "headway_attach_to_window", "headway_called_from",
                                  "headway_comm_get_priority", "headway_comm_set_priority",
                                  "headway_endpoint_table", "headway_exchange_recorder",
                                  "headway_numbered"])
        self.assertIn("MPI_Send", names)
        self.assertIn("PMPI_Send", names)

    def test_every_command_has_a_man_page_and_completions(self):
        share = self.prefix / "share"
        for command in self.bin.iterdir():
            page = share / "man" / "man1" / f"{command.name}.1"
            self.assertTrue(page.is_file(), page)
            completion = share / "bash-completion" / "completions" / command.name
            run("bash", "-n", completion)
        self.assertIn(".SH SYNOPSIS", (share / "man/man1/headway-top.1").read_text())
        page = (share / "man/man3/headway_progress.3").read_text()
        self.assertIn("headway_ltask_submit", page)
        self.assertEqual((share / "man/man3/headway_ltask_submit.3").read_text(),
                         ".so man3/headway_progress.3\n")
        self.assertTrue((share / "zsh/site-functions/_mpiexec").read_text().startswith("#compdef"))

    @unittest.skipUnless(shutil.which("modulecmd"), "needs environment-modules")
    def test_the_environment_module_is_all_that_a_user_needs(self):
        modules = self.prefix / "share/headway/modulefiles"
        load = run("modulecmd", "sh", "load", "headway", env=place.environment(MODULEPATH=modules))
        program = SCRATCH / "by_module"
        done = run("sh", "-c", f"{load}\nmpicc '{HELLO / 'hello.c'}' -o '{program}' && "
                   f"mpiexec -n 2 '{program}' && pkg-config --cflags headway-mpi")  # fmt: skip
        for line in [*HELLO_LINES, "-I"]:
            self.assertIn(line, done)
        if shutil.which("man"):
            page = run("sh", "-c", f"{load}\nman -w mpiexec")
            self.assertEqual(page.strip(), str(self.prefix / "share/man/man1/mpiexec.1"))

    def test_the_prefix_is_small(self):
        files = [path for path in self.prefix.rglob("*") if not path.is_symlink()]
        self.assertLess(sum(path.stat().st_size for path in files if path.is_file()), 12e6)

    def test_the_command_headway_runs_from_the_moved_prefix(self):
        self.assertIn("headway", run(self.bin / "headway", "--version"))

    def test_an_experiment_runs_from_the_moved_prefix(self):
        env = place.environment(XDG_CACHE_HOME=SCRATCH / "cache")
        output = run(self.bin / "headway", "bench", "E9", "--quick", env=env)
        self.assertIn("E9: 1 MB latency beside N computing threads", output)
        self.assertTrue(list((SCRATCH / "cache" / "headway" / "bench").rglob("n_load")))

    def test_destdir_is_put_before_the_prefix(self):
        env = place.environment(DESTDIR=SCRATCH / "image")
        run("cmake", "--install", place.BUILD, "--prefix", "/opt/headway", env=env)
        self.assertTrue((SCRATCH / "image" / "opt" / "headway" / "include" / "mpi.h").is_file())
        shutil.rmtree(SCRATCH / "image")


if __name__ == "__main__":
    unittest.main(verbosity=2)
