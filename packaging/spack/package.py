# SPDX-License-Identifier: MIT
# A recipe for spack. It has not been run: spack was not at hand where it was written. Put it as
# packages/chokepoint/package.py into a repository of yours, and give url and checksum of your release.
from spack.package import *


class Chokepoint(CMakePackage):
    """Cluster resource profiler and bottleneck analyzer."""

    homepage = "https://example.org/chokepoint"
    url = "https://example.org/chokepoint-0.2.0.tar.gz"

    license("MIT")
    version("0.2.0", sha256="0" * 64)

    variant("workloads", default=False, description="programs to profile, which need MPI and BLAS")
    variant("wait_clocks", default=False, description="programs for the kernel (eBPF)")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("curl")
    depends_on("libpcap")
    depends_on("libmicrohttpd")
    depends_on("gnutls")
    depends_on("sqlite")
    depends_on("jansson")
    depends_on("ncurses+termlib")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("mpi", when="+workloads")
    depends_on("openblas", when="+workloads")
    depends_on("libbpf@1:", when="+wait_clocks")
    depends_on("llvm+clang", type="build", when="+wait_clocks")

    generator("ninja")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False),
                self.define_from_variant("CHOKEPOINT_WAIT_CLOCKS", "wait_clocks")]
