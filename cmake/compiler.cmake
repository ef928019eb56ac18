# SPDX-License-Identifier: MIT
# Flags every target of this project shares, as one interface target.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_program(POLARQUANT_CCACHE ccache)
if(POLARQUANT_CCACHE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_C_COMPILER_LAUNCHER ${POLARQUANT_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${POLARQUANT_CCACHE})
endif()

add_library(polarquant_flags INTERFACE)
target_compile_features(polarquant_flags INTERFACE cxx_std_20 c_std_99)
# Stored bytes must not depend on the compiler's freedom to fuse a multiply with an add.
target_compile_options(polarquant_flags INTERFACE -ffp-contract=off -Wall -Wextra -Wshadow -Wvla)
# A change of one function is not to move another one's loops across cache lines: docs/dev/tuning.md,
# "Kernels".
target_compile_options(polarquant_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-falign-functions=64>)
target_compile_options(polarquant_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor
                                                  -Woverloaded-virtual>)
if(POLARQUANT_WERROR)
  target_compile_options(polarquant_flags INTERFACE -Werror)
endif()
if(POLARQUANT_STATIC)
  # What distributions' own flags give their packages (src/capi has those of the link).
  target_compile_options(polarquant_flags INTERFACE -fstack-protector-strong)
endif()
if(POLARQUANT_SANITIZE)
  target_compile_options(polarquant_flags INTERFACE -fsanitize=${POLARQUANT_SANITIZE}
                                                    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(polarquant_flags INTERFACE -fsanitize=${POLARQUANT_SANITIZE})
  # Memory that searches leave to later ones is filled: what reads another search's numbers fails.
  target_compile_definitions(polarquant_flags INTERFACE POLARQUANT_FILL_SPARE_MEMORY)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # With -O3 clang 14 takes eleven minutes for sketch_candidates.cc under sanitizers, with -O1 two.
    target_compile_options(polarquant_flags INTERFACE -O1)
  endif()
endif()
if(POLARQUANT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "POLARQUANT_FUZZ needs clang: -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++")
  endif()
  # What inputs reach is counted everywhere; libFuzzer's main function is in the targets alone.
  target_compile_options(polarquant_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(polarquant_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)

# Sources that differ between systems end in its name: x_posix.cc, x_windows.cc.
if(WIN32)
  set(POLARQUANT_SYSTEM windows)
else()
  set(POLARQUANT_SYSTEM posix)
endif()

# One object library per layer: named sources only, hidden symbols, lower layers linked.
function(polarquant_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} OBJECT ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
                                           VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PUBLIC polarquant_flags ${ARG_LINK})
endfunction()
