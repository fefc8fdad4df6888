#!/usr/bin/env python3
"""scripts/install-deps installs for each purpose what its users need; scripts/make-packages does
not succeed without having tried the packages, where it could have."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"


def packages(purpose):
    return set(subprocess.check_output([SCRIPTS / "install-deps", purpose, "--list"],
                                       text=True).split())  # fmt: skip


class Scripts(unittest.TestCase):
    def test_all_is_what_any_other_purpose_needs(self):
        for purpose in ("compile", "install", "demo", "test", "package"):
            self.assertEqual(packages(purpose) - packages("--all"), set(), purpose)

    def test_only_packages_and_all_want_a_debian_to_try_packages_in(self):
        wanting = {purpose for purpose in ("compile", "install", "demo", "test", "package", "--all")
                   if "debootstrap" in packages(purpose)}  # fmt: skip
        self.assertEqual(wanting, {"package", "--all"})

    @unittest.skipUnless(os.getuid() == 0, "packages are tried by root")
    def test_root_does_not_make_packages_that_cannot_be_tried(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("sh", "id", "dirname", "readlink"):
                os.symlink(shutil.which(name), pathlib.Path(folder, name))
            done = subprocess.run([SCRIPTS / "make-packages"], env={"PATH": folder}, text=True,
                                  capture_output=True, timeout=60, check=False)  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("debootstrap is not installed", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
