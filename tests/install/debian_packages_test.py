#!/usr/bin/env python3
"""The Debian packages: what is in them, and that their programs run from the folders they name.

`make packages` installs them in a fresh Debian; here they are unpacked, which takes seconds."""

import os
import shutil
import sys
import unittest

import place
from place import HELLO, SCRATCH, run

PACKAGES = {"libheadway0", "libheadway-dev", "headway", "headway-fortran", "python3-headway"}
ROOT = SCRATCH / "root"


def build():
    source = SCRATCH / "source"
    source.mkdir()
    for name in run("git", "ls-files", "-co", "--exclude-standard", cwd=place.SOURCE).splitlines():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(place.SOURCE / name, target, follow_symlinks=False)
    env = place.environment(DEB_BUILD_OPTIONS="noautodbgsym")
    env["HEADWAY_BUILD"] = str(place.BUILD)
    run("dpkg-buildpackage", "--build=binary", "--no-sign", "--no-check-builddeps", env=env,
        cwd=source, timeout=390)
    for package in SCRATCH.glob("*.deb"):
        run("dpkg-deb", "-x", package, ROOT)


class DebianPackages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        triplet = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
        cls.private = ROOT / "usr" / "lib" / triplet / "headway"
        cls.system = ROOT / "usr" / "lib" / triplet

    def test_there_is_a_package_for_each_use(self):
        names = {path.name.partition("_")[0] for path in SCRATCH.glob("*.deb")}
        self.assertEqual(names, PACKAGES)

    def test_nothing_lies_where_another_mpi_library_has_it(self):
        taken = {"mpicc", "mpicxx", "mpic++", "mpiCC", "mpifort", "mpif77", "mpif90", "mpiexec",
                 "mpirun"}
        self.assertEqual(taken & set(os.listdir(ROOT / "usr" / "bin")), set())
        self.assertFalse((ROOT / "usr" / "include").exists())

    def test_alternatives_give_the_plain_names(self):
        script = run("dpkg-deb", "-I", *SCRATCH.glob("libheadway-dev_*.deb"), "postinst")
        self.assertIn("--install /usr/bin/mpicc mpi /usr/bin/mpicc.headway 30", script)
        self.assertIn("--slave /usr/bin/mpifort mpifort", script)
        script = run("dpkg-deb", "-I", *SCRATCH.glob("headway_*.deb"), "postinst")
        self.assertIn("--install /usr/bin/mpirun mpirun /usr/bin/mpirun.headway 30", script)

    def test_a_program_builds_and_runs_from_the_unpacked_folder(self):
        run(self.private / "bin" / "mpicc", HELLO / "hello.c", "-o", "hello")
        output = run(self.private / "bin" / "mpiexec", "-n", 2, SCRATCH / "hello")
        self.assertIn("the ranks add up to 1", output)

    def test_the_files_for_pkg_config_and_cmake_name_the_private_folder(self):
        folder = str(self.private).removeprefix(str(ROOT))
        text = (self.system / "pkgconfig" / "mpi_abi.pc").read_text(encoding="utf-8")
        self.assertIn(f"prefix={folder}\n", text)
        text = (self.system / "cmake/headway_progress/headway_progress-config.cmake").read_text()
        self.assertIn(f'include("{folder}/lib/cmake/', text)

    def test_links_in_usr_lead_to_files(self):
        for link in (path for path in ROOT.rglob("*") if path.is_symlink()):
            target = os.readlink(link)
            end = ROOT / target.lstrip("/") if target.startswith("/") else link.parent / target
            self.assertTrue(end.exists(), f"{link} -> {target}")

    def test_every_command_has_a_man_page(self):
        for command in os.listdir(ROOT / "usr" / "bin"):
            page = ROOT / "usr/share/man/man1" / f"{command}.1.gz"
            self.assertTrue(page.exists(), page)


if __name__ == "__main__":
    if not shutil.which("dh_installalternatives"):
        print("SKIPPED: debhelper is not installed (scripts/install-deps --all)")
        sys.exit(77)
    build()
    unittest.main(verbosity=2)
