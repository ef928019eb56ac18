# SPDX-License-Identifier: MIT
# How libpolarquant is linked where libraries are ELF files: what it exports, and what protects it.
include(CheckLinkerFlag)
# The version script hides what static libraries bring; not every linker can be told so twice.
check_linker_flag(CXX -Wl,--exclude-libs,ALL POLARQUANT_EXCLUDE_LIBS)

function(polarquant_elf_library target version_script)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${version_script})
  if(POLARQUANT_EXCLUDE_LIBS)
    target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  endif()
  target_link_options(${target} PRIVATE -Wl,--version-script=${version_script})
  if(POLARQUANT_STATIC)
    target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
    endif()
  endif()
  if(NOT POLARQUANT_SANITIZE)
    # Sanitizers leave symbols open that only the final program has.
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
