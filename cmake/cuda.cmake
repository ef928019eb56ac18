# SPDX-License-Identifier: MIT
# The CUDA compiler and what it compiles for; before the folders that have CUDA sources.
if(NOT DEFINED CMAKE_CUDA_COMPILER AND POLARQUANT_NVCC)
  set(CMAKE_CUDA_COMPILER ${POLARQUANT_NVCC})
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # "90a": matrix products of warp groups, which plain 90 has not. PTX for what comes later.
  set(CMAKE_CUDA_ARCHITECTURES "80-real;90a-real;90-virtual")
endif()
if(POLARQUANT_CCACHE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${POLARQUANT_CCACHE})
endif()
enable_language(CUDA)
