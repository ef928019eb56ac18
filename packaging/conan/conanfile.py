# SPDX-License-Identifier: MIT
"""Conan 2's recipe of the library: codes without indexes, since FAISS is no package of Conan's.

conan create packaging/conan --build=missing
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rm, rmdir

#: Of the repository: what a build of the library reads.
PARTS = ("CMakeLists.txt", "LICENSE", "cmake/*", "cuda/*", "include/*", "src/*", "tools/*")


class Polarquant(ConanFile):
    name = "polarquant"
    description = "Polar codes for embedding vectors, searched without decoding"
    license = "MIT"
    homepage = "https://github.com/polarquant/polarquant"
    topics = ("embeddings", "vector-search", "quantization", "nearest-neighbours")
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"openmp": [True, False], "lapack": [True, False]}
    # On threads of the library's own, and with a solver of its own for training: nothing but the
    # C++ library is needed when a program runs.
    default_options = {"openmp": False, "lapack": False}

    @property
    def _repository(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._repository, "CMakeLists.txt"))
        self.version = re.search(r"(?m)^  VERSION ([0-9.]+)$", text)[1]

    def export_sources(self):
        for part in PARTS:
            copy(self, part, src=self._repository, dst=self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        # All of it is inside, and hidden.
        self.requires("highway/[>=1.0.3 <2]", visible=False)
        self.requires("fmt/[>=9.1 <10]", visible=False)
        self.requires("xxhash/[>=0.8.1 <1]", visible=False)
        if self.options.lapack:
            self.requires("openblas/[>=0.3.20 <1]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        on = {"OPENMP": self.options.openmp, "LAPACK": self.options.lapack}
        for name in ("FAISS", "CUDA", "SQLITE", "TESTS", "BENCH"):
            on[name] = False
        for name, value in on.items():
            toolchain.cache_variables[f"POLARQUANT_{name}"] = bool(value)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="polarquant")

    def package(self):
        for component in ("core", "dev"):
            CMake(self).install(component=component)
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan's generators write their own of both.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rm(self, "*.pdb", self.package_folder, recursive=True)

    def package_info(self):
        self.cpp_info.libs = ["polarquant"]
        self.cpp_info.set_property("cmake_file_name", "polarquant")
        self.cpp_info.set_property("cmake_target_name", "polarquant::polarquant")
        self.cpp_info.set_property("pkg_config_name", "polarquant")
