# SPDX-License-Identifier: MIT
# Distribution packages first; what is missing and small is fetched at a pinned version.
include(FetchContent)

# What loops run on (src/core/threads.h).
if(POLARQUANT_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  set(POLARQUANT_THREADS OpenMP::OpenMP_CXX)
else()
  find_package(Threads REQUIRED)
  set(POLARQUANT_THREADS Threads::Threads)
endif()

find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
  FetchContent_Declare(fmt GIT_REPOSITORY https://github.com/fmtlib/fmt.git
                           GIT_TAG a33701196adfad74917046096bf5a2aa0ab0bb50) # 9.1.0
  FetchContent_MakeAvailable(fmt)
endif()

# The library has what it uses of fmt inside (src/core/format.h) and needs the headers only. Conan has a target of
# either form, as its package of fmt was built.
set(fmt_headers fmt::fmt-header-only)
if(NOT TARGET fmt::fmt-header-only)
  set(fmt_headers fmt::fmt)
endif()
add_library(polarquant_fmt INTERFACE)
target_include_directories(
  polarquant_fmt SYSTEM INTERFACE $<TARGET_PROPERTY:${fmt_headers},INTERFACE_INCLUDE_DIRECTORIES>)

# xxHash is used header-only (XXH_INLINE_ALL), so that no symbol of it leaves our library.
find_path(POLARQUANT_XXHASH_INCLUDE xxhash.h)
if(NOT POLARQUANT_XXHASH_INCLUDE)
  FetchContent_Declare(xxhash GIT_REPOSITORY https://github.com/Cyan4973/xxHash.git
                              GIT_TAG 35b0373c697b5f160d3db26b1cbb45a0d5ba788c) # 0.8.1
  FetchContent_Populate(xxhash)
  set(POLARQUANT_XXHASH_INCLUDE ${xxhash_SOURCE_DIR} CACHE PATH "Folder of xxhash.h" FORCE)
endif()
add_library(polarquant_xxhash INTERFACE)
target_include_directories(polarquant_xxhash SYSTEM INTERFACE ${POLARQUANT_XXHASH_INCLUDE})

# Highway compiles each kernel for several instruction sets and picks one at run time. Distributions have it as a
# shared library alone: a self-contained one compiles Highway's few sources, from the folder
# FETCHCONTENT_SOURCE_DIR_HIGHWAY if that is set.
find_path(POLARQUANT_HIGHWAY_INCLUDE hwy/highway.h)
find_library(POLARQUANT_HIGHWAY_LIBRARY hwy)
add_library(polarquant_highway INTERFACE)
if(POLARQUANT_HIGHWAY_INCLUDE AND POLARQUANT_HIGHWAY_LIBRARY AND NOT POLARQUANT_STATIC)
  target_include_directories(polarquant_highway SYSTEM INTERFACE ${POLARQUANT_HIGHWAY_INCLUDE})
  target_link_libraries(polarquant_highway INTERFACE ${POLARQUANT_HIGHWAY_LIBRARY})
else()
  set(HWY_ENABLE_CONTRIB OFF CACHE BOOL "" FORCE)
  set(HWY_ENABLE_EXAMPLES OFF CACHE BOOL "" FORCE)
  set(HWY_ENABLE_INSTALL OFF CACHE BOOL "" FORCE)
  set(HWY_ENABLE_TESTS OFF CACHE BOOL "" FORCE)
  FetchContent_Declare(highway GIT_REPOSITORY https://github.com/google/highway.git
                               GIT_TAG 1.0.3)
  FetchContent_MakeAvailable(highway)
  target_link_libraries(polarquant_highway INTERFACE hwy)
endif()

# Training of -pca codecs: eigenvectors. Any LAPACK, with its BLAS, or none (src/codec/symmetric_eigen.h).
add_library(polarquant_lapack INTERFACE)
if(POLARQUANT_LAPACK)
  find_package(LAPACK REQUIRED)
  target_link_libraries(polarquant_lapack INTERFACE LAPACK::LAPACK)
endif()

if(POLARQUANT_FAISS AND NOT POLARQUANT_FAISS_INSIDE)
  # Debian's package configuration names libblas.so.3's development link; OpenBLAS provides it.
  find_package(faiss REQUIRED)
endif()
