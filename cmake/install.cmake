# SPDX-License-Identifier: MIT
# Install rules by component: core is the shared library at run time; dev its headers, link name and
# package files; cuda the library that searches on GPUs; faiss the static C++ library with its header.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/polarquant)
set(package_build_dir ${PROJECT_BINARY_DIR}/package)

install(
  TARGETS polarquant
  EXPORT polarquantTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT core NAMELINK_COMPONENT dev)
install(FILES ${polarquant_c_headers}
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/polarquant COMPONENT dev)
install(EXPORT polarquantTargets NAMESPACE polarquant:: DESTINATION ${package_dir} COMPONENT dev)

if(POLARQUANT_CUDA)
  # Nobody links it: the library above loads it from beside itself.
  install(TARGETS polarquant_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda
                                          NAMELINK_SKIP)
endif()

if(POLARQUANT_SQLITE)
  # SQLite loads it by its path; the library lies beside it.
  set_target_properties(polarquant_sqlite PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS polarquant_sqlite LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT core)
endif()

# With FAISS inside there is none that a program's own part could share.
if(POLARQUANT_FAISS AND NOT POLARQUANT_FAISS_INSIDE)
  install(
    TARGETS polarquant_faiss
    EXPORT polarquantFaissTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT faiss)
  install(FILES ${PROJECT_SOURCE_DIR}/include/polarquant/faiss.h
                ${PROJECT_SOURCE_DIR}/include/polarquant/faiss_ivf.h
                ${PROJECT_SOURCE_DIR}/include/polarquant/faiss_ivf_base.h
                ${PROJECT_SOURCE_DIR}/include/polarquant/faiss_parameters.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/polarquant COMPONENT faiss)
  install(EXPORT polarquantFaissTargets NAMESPACE polarquant:: DESTINATION ${package_dir}
          COMPONENT faiss)
endif()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/polarquantConfig.cmake.in ${package_build_dir}/polarquantConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${package_build_dir}/polarquantConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)

# The prefix is found from where the .pc file lies, so that an installed tree can be moved. An absolute
# library or include folder stays as it is.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(name LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_${name}})
    set(POLARQUANT_PC_${name} ${CMAKE_INSTALL_${name}})
  else()
    set(POLARQUANT_PC_${name} "\${prefix}/${CMAKE_INSTALL_${name}}")
  endif()
endforeach()
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(POLARQUANT_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${pkgconfig_dir} /)
  string(REGEX REPLACE "/$" "" POLARQUANT_PC_PREFIX "\${pcfiledir}/${up}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/polarquant.pc.in ${package_build_dir}/polarquant.pc @ONLY)

install(FILES ${package_build_dir}/polarquantConfig.cmake
              ${package_build_dir}/polarquantConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT dev)
install(FILES ${package_build_dir}/polarquant.pc DESTINATION ${pkgconfig_dir} COMPONENT dev)
