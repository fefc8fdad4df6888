#!/usr/bin/env python3
"""`pip install` of the wheel in a fresh environment, outside the checkout."""

import subprocess
import sys
import unittest

import place
from place import HELLO, SCRATCH, run

ENVIRONMENT = SCRATCH / "environment"
BIN = ENVIRONMENT / "bin"


def build():
    """Builds the wheel out of the build folder, and installs it. An error of PyPI, or None."""
    run(sys.executable, "-m", "venv", ENVIRONMENT)
    # A copy, because the back end writes into the folder that it builds in.
    source = SCRATCH / "source"
    files = run("git", "ls-files", "-co", "--exclude-standard", "packaging", "python",
                "pyproject.toml", "README.md", "LICENSE", "CMakePresets.json", "CMakeLists.txt",
                cwd=place.SOURCE)
    for name in files.splitlines():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((place.SOURCE / name).read_bytes())
    try:
        run(BIN / "pip", "download", "--quiet", "--no-deps", "-d", SCRATCH / "download",
            "scikit-build-core>=0.10", "cffi")
    except (AssertionError, subprocess.TimeoutExpired) as why:
        return str(why).strip().splitlines()[-1]
    run(BIN / "pip", "wheel", "--quiet", "--no-deps", "-w", SCRATCH / "wheels",
        f"--config-settings=cmake.define.HEADWAY_BUILD={place.BUILD}", source, timeout=250)
    wheel, = (SCRATCH / "wheels").iterdir()
    run(BIN / "pip", "install", "--quiet", wheel)
    return None


class Wheel(unittest.TestCase):
    def test_it_is_one_for_every_python_and_small(self):
        wheel, = (SCRATCH / "wheels").iterdir()
        self.assertRegex(wheel.name, r"^headway-[0-9.]+-py3-none-\w+\.whl$")
        self.assertLess(wheel.stat().st_size, 12e6)

    def test_programs_build_and_run_with_its_commands_alone(self):
        run(BIN / "mpicc", HELLO / "hello.c", "-o", "hello")
        output = run(BIN / "mpiexec", "-n", 2, SCRATCH / "hello")
        self.assertIn("the ranks add up to 1", output)
        self.assertIn("the ranks add up to 1", run(BIN / "mpirun", "-n", 2, SCRATCH / "hello"))
        self.assertIn("headway", run(BIN / "headway", "--version"))

    def test_the_libraries_lie_in_the_environment_with_what_they_need(self):
        for name in ("libmpi_abi.so.1", "libheadway.so.0"):
            needed = run("ldd", ENVIRONMENT / "lib" / name)
            for library in ("libfmt", "libsodium"):
                self.assertRegex(needed, rf"{library}\.so\.\d+ => {ENVIRONMENT}/lib/")

    def test_the_binding_sends_a_message_between_two_processes(self):
        (SCRATCH / "talk.py").write_text(
            "import headway, sys\n"
            "me = headway.process()\n"
            "with headway.open(f'point/{me}') as at:\n"
            "    at.send(f'point/{1 - me}', b'from %d' % me)\n"
            "    with at.receive(limit=30) as got:\n"
            "        # one write, so that the lines of two processes stay whole\n"
            "        sys.stdout.write(f'{me} has: {bytes(got.data).decode()}\\n')\n")
        output = run(BIN / "mpiexec", "-n", 2, BIN / "python", SCRATCH / "talk.py")
        self.assertEqual(sorted(output.splitlines()), ["0 has: from 1", "1 has: from 0"])

    def test_type_checkers_find_the_hints(self):
        folder = run(BIN / "python", "-c", "import headway; print(headway.__path__[0])").strip()
        self.assertTrue(folder.startswith(str(ENVIRONMENT)))
        run("test", "-e", f"{folder}/py.typed")


if __name__ == "__main__":
    reason = build()
    if reason:
        print(f"SKIPPED: PyPI's scikit-build-core could not be fetched: {reason}")
        sys.exit(77)
    unittest.main(verbosity=2)
