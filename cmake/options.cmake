# SPDX-License-Identifier: MIT
# What can be switched; everything but FAISS defaults to "on when this is the top-level project".
option(POLARQUANT_FAISS "Build the FAISS index classes and the C ABI's index calls" ON)
option(POLARQUANT_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(POLARQUANT_BENCH "Build the benchmark programs" ${PROJECT_IS_TOP_LEVEL})
option(POLARQUANT_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
option(POLARQUANT_WERROR "Treat compiler warnings as errors" OFF)
set(POLARQUANT_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
