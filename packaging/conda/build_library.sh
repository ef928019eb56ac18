#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Called by conda build, in the sources.
set -euo pipefail
# CMAKE_ARGS is a list that conda's compilers set.
# shellcheck disable=SC2086
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS-} -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DPOLARQUANT_CUDA=OFF -DPOLARQUANT_SQLITE=OFF -DPOLARQUANT_TESTS=OFF -DPOLARQUANT_BENCH=OFF
cmake --build build-conda --target polarquant polarquant_faiss
cmake --install build-conda
