#!/usr/bin/env python3
"""libheadway_progress as it is installed, in a folder that was moved afterwards."""

import pathlib
import re
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "install"))
import place  # noqa: E402
from place import BUILD, SCRATCH, run  # noqa: E402

USER = pathlib.Path(__file__).resolve().parent / "user"


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        first, cls.prefix = SCRATCH / "first", SCRATCH / "second folder"
        run("cmake", "--install", BUILD, "--prefix", first, "--component", "progress")
        first.rename(cls.prefix)
        cls.pkg_config = place.environment(PKG_CONFIG_PATH=cls.prefix / "lib" / "pkgconfig")

    def by_pkg_config(self, package, compiler, source):
        flags = run("pkg-config", "--cflags", "--libs", package, env=self.pkg_config)
        run("sh", "-c", f'{compiler} -Wall -Werror "{source}" -o by_pkg {flags}')
        return run(SCRATCH / "by_pkg")

    def test_pkg_config_builds_a_c_program(self):
        self.assertEqual(self.by_pkg_config("headway-progress", "cc -std=c11", USER / "user.c"),
                         "threads: 3 runs\n")

    def test_pkg_config_builds_a_cxx_program(self):
        source = SCRATCH / "user.cpp"
        source.write_text((USER / "user.c").read_text())
        self.assertEqual(self.by_pkg_config("headway-progress", "c++ -std=c++11", source),
                         "threads: 3 runs\n")

    def test_the_flavour_without_threads_has_a_package_too(self):
        source = USER / "user.c"
        self.assertEqual(self.by_pkg_config("headway-progress-nothread", "cc", source),
                         "none: 3 runs\n")

    def test_cmake_finds_both_flavours_of_the_version_that_pkg_config_names(self):
        build = SCRATCH / "by_cmake"
        version = run("pkg-config", "--modversion", "headway-progress", env=self.pkg_config).strip()
        run("cmake", "-S", USER, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DHEADWAY_VERSION={version}")
        run("cmake", "--build", build)
        self.assertEqual(run(build / "user"), "threads: 3 runs\n")
        self.assertEqual(run(build / "user_nothread"), "none: 3 runs\n")

    def test_only_public_names_are_exported(self):
        header = (self.prefix / "include" / "headway" / "progress.h").read_text()
        declared = set(re.findall(r"\b(headway_(?:progress|ltask)_[a-z_]+)\(", header))
        for flavour in ("headway_progress", "headway_progress_nothread"):
            library = self.prefix / "lib" / f"lib{flavour}.so"
            listed = run("nm", "-D", "--defined-only", library)
            names = {line.split()[-1] for line in listed.splitlines()}
            self.assertEqual(names, declared)
            self.assertIn(f"lib{flavour}.so.0", run("objdump", "-p", library))


if __name__ == "__main__":
    unittest.main(verbosity=2)
