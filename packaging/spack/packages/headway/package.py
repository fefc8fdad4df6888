"""Spack's recipe: spack repo add packaging/spack && spack install headway."""

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
except ImportError:
    pass  # before Spack 1.0 they are among the following
from spack.package import *


class Headway(CMakePackage):
    """MPI with the standard ABI of MPI 5, whose messages move while the program computes, and
    end-points between threads."""

    license("BSD-3-Clause")

    # There is no public archive yet: `spack dev-build headway@main` in a checkout.
    version("main", branch="main", no_cache=True)
    manual_download = True

    variant("pmix", default=True, description="Start under PMIx: srun --mpi=pmix, prterun")
    variant("python", default=False, description="The end-points' binding for Python")

    provides("mpi@:3.1")  # one-sided, topologies, files and Fortran; not dynamic processes
    provides("mpi-abi@1.0")  # libmpi_abi.so.1, which any library of the standard ABI may replace

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("fmt@9:")
    depends_on("libsodium")
    depends_on("cli11@2:", type="build")
    depends_on("rapidjson", type="build")
    depends_on("ncurses")
    depends_on("hwloc@2:")
    depends_on("pmix@4:", when="+pmix")
    depends_on("python@3.9:", type=("build", "run"), when="+python")
    depends_on("py-cffi", type=("build", "run"), when="+python")

    conflicts("%gcc@:11", msg="C++23: GCC 12 or Clang 19 and later")
    conflicts("platform=darwin", msg="Linux only")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("HEADWAY_TESTS", False),
            self.define("HEADWAY_BENCH", False),
            self.define("HEADWAY_UNITY", True),
            self.define("HEADWAY_WERROR", False),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
        ]

    def setup_run_environment(self, env):
        self.set_mpi_variables(env)
        # hwloc and PMIx are loaded while a program runs, not linked.
        env.prepend_path("LD_LIBRARY_PATH", self.spec["hwloc"].prefix.lib)
        if self.spec.satisfies("+pmix"):
            env.prepend_path("LD_LIBRARY_PATH", self.spec["pmix"].prefix.lib)
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", self.prefix.lib.headway.python)

    def setup_dependent_build_environment(self, env, dependent_spec):
        self.set_mpi_variables(env)
        compilers = dependent_spec.package.module
        for variable, name in (("CC", "spack_cc"), ("CXX", "spack_cxx"), ("FC", "spack_fc")):
            if getattr(compilers, name, None):
                env.set(f"HEADWAY_{variable}", getattr(compilers, name))

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = join_path(self.prefix.bin, "mpicc")
        self.spec.mpicxx = join_path(self.prefix.bin, "mpicxx")
        self.spec.mpifc = join_path(self.prefix.bin, "mpifort")
        self.spec.mpif77 = join_path(self.prefix.bin, "mpif77")

    def set_mpi_variables(self, env):
        env.set("MPICC", join_path(self.prefix.bin, "mpicc"))
        env.set("MPICXX", join_path(self.prefix.bin, "mpicxx"))
        env.set("MPIF77", join_path(self.prefix.bin, "mpif77"))
        env.set("MPIF90", join_path(self.prefix.bin, "mpif90"))
        env.set("MPIFC", join_path(self.prefix.bin, "mpifort"))
