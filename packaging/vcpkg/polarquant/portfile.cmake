# SPDX-License-Identifier: MIT
# An overlay port of this checkout: vcpkg install polarquant --overlay-ports=packaging/vcpkg
# It has codes and no indexes; fmt, Highway and xxHash are inside the library, and hidden.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DPOLARQUANT_FAISS=OFF -DPOLARQUANT_OPENMP=OFF -DPOLARQUANT_LAPACK=OFF -DPOLARQUANT_CUDA=OFF
          -DPOLARQUANT_SQLITE=OFF -DPOLARQUANT_TESTS=OFF -DPOLARQUANT_BENCH=OFF -DPOLARQUANT_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/polarquant)
vcpkg_fixup_pkgconfig()
vcpkg_copy_pdbs()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
