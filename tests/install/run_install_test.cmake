# SPDX-License-Identifier: MIT
# Installs a build into an empty prefix and builds the consumer against it, through find_package and
# through pkg-config, then runs what was built. The prefix is moved once, since packages are.
#
# cmake -D BUILD_DIR= -D SOURCE_DIR= -D WORK_DIR= -D GENERATOR= -D C_COMPILER= -D CXX_COMPILER=
#       -D WITH_FAISS= -D FAISS_DIR= -D LIBDIR= -D FLAGS= -P run_install_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(JOIN " " command ${ARGN})
  message("$ ${command}\n${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed with ${result}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
set(components core dev)
if(WITH_FAISS)
  list(APPEND components faiss)
endif()
foreach(component ${components})
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first --component ${component})
endforeach()
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/prefix)
set(prefix ${WORK_DIR}/prefix)

set(consumer_build ${WORK_DIR}/consumer)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR}/consumer -B ${consumer_build}
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_C_COMPILER=${C_COMPILER}
    -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D WITH_FAISS=${WITH_FAISS}
    -D faiss_DIR=${FAISS_DIR} -D CMAKE_C_FLAGS=${FLAGS} -D CMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${consumer_build})
run(${consumer_build}/c_consumer)
if(WITH_FAISS)
  run(${consumer_build}/faiss_consumer)
endif()

find_program(PKG_CONFIG pkg-config)
if(NOT PKG_CONFIG)
  message("no pkg-config here: not tried")
  return()
endif()
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs polarquant OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
separate_arguments(extra_flags UNIX_COMMAND "${FLAGS}")
run(${C_COMPILER} -std=c99 ${extra_flags} ${SOURCE_DIR}/consumer/c_consumer.c -o
    ${WORK_DIR}/pkg_config_consumer ${flags} -Wl,-rpath,${prefix}/${LIBDIR})
run(${WORK_DIR}/pkg_config_consumer)
