# SPDX-License-Identifier: MIT
# Writes OUTPUT, a header with the commit of SOURCE_DIR; run at each build, so that it is never stale.
# The file is touched only when its text changes, and nothing is rebuilt otherwise.
find_package(Git QUIET)
set(commit unknown)
if(Git_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} -C ${SOURCE_DIR} describe --always --dirty --abbrev=40 --exclude=*
    OUTPUT_VARIABLE found
    RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(status EQUAL 0 AND found)
    set(commit ${found})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define POLARQUANT_BENCH_GIT_COMMIT \"${commit}\"\n")
