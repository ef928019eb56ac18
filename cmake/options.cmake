# SPDX-License-Identifier: MIT
# What can be switched; everything but FAISS and CUDA defaults to "on when this is the top-level project".
option(POLARQUANT_FAISS "Build the FAISS index classes and the C ABI's index calls" ON)
option(POLARQUANT_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(POLARQUANT_BENCH "Build the benchmark programs" ${PROJECT_IS_TOP_LEVEL})
option(POLARQUANT_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
# Compiled by nvcc into a library of its own; where nvcc is missing, CUDA calls say so at run time.
find_program(POLARQUANT_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(POLARQUANT_NVCC AND NOT CMAKE_CROSSCOMPILING AND NOT POLARQUANT_SANITIZE)
  set(cuda_default ON)
else()
  set(cuda_default OFF)
endif()
option(POLARQUANT_CUDA "Build libpolarquant_cuda, for searches on NVIDIA GPUs" ${cuda_default})
# SQLite's header alone: the extension calls what SQLite hands it. A table's first rows are in an index.
find_path(POLARQUANT_SQLITE_INCLUDE sqlite3ext.h)
if(POLARQUANT_SQLITE_INCLUDE AND POLARQUANT_FAISS AND NOT CMAKE_CROSSCOMPILING)
  set(sqlite_default ON)
else()
  set(sqlite_default OFF)
endif()
option(POLARQUANT_SQLITE "Build polarquant_sqlite, an extension of SQLite" ${sqlite_default})
option(POLARQUANT_WERROR "Treat compiler warnings as errors" OFF)
option(POLARQUANT_FUZZ "Build the fuzz targets of tests/fuzz with libFuzzer; needs clang" OFF)
set(POLARQUANT_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
