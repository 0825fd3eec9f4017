# Debian packages (`make deb`): aurora, and aurora-torch and aurora-mpi with the plugins that need
# libtorch and OpenMPI.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(AURORA_MAINTAINER "AURORA developers <developers@aurora.example>"
    CACHE STRING "Who stands in the Debian packages as their maintainer")

# A package says where it comes from and what it is allowed to.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(changelog ${CMAKE_BINARY_DIR}/package/changelog)
file(WRITE ${changelog} "aurora (${PROJECT_VERSION}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}; CHANGELOG.md has the details.

 -- ${AURORA_MAINTAINER}  ${date}
")
execute_process(COMMAND gzip -9nf ${changelog} COMMAND_ERROR_IS_FATAL ANY)

set(components aurora)
foreach(plugin torch mpi)
  if(TARGET aurora_${plugin})
    list(APPEND components ${plugin})
  endif()
endforeach()
foreach(component ${components})
  set(name aurora)
  if(NOT component STREQUAL aurora)
    set(name aurora-${component})
  endif()
  install(FILES ${changelog}.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          COMPONENT ${component})
  install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          COMPONENT ${component})
  install(FILES cmake/debian/${name}.lintian-overrides RENAME ${name}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
                                                GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${AURORA_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(CPACK_DEBIAN_AURORA_PACKAGE_NAME aurora)
set(CPACK_DEBIAN_AURORA_DESCRIPTION "AURORA evolves controllers of a robot with a quality-diversity search; an
auto-encoder learns from raw sensory data what makes behaviours different.
.
The program, the library with its headers, and the reports in Python.")
set(CPACK_DEBIAN_AURORA_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_AURORA_PACKAGE_RECOMMENDS
    "python3-numpy, python3-pandas, python3-scipy, python3-matplotlib, python3-xxhash")
set(CPACK_DEBIAN_AURORA_PACKAGE_SUGGESTS "aurora-torch, aurora-mpi")
set(CPACK_DEBIAN_TORCH_PACKAGE_NAME aurora-torch)
set(CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS "aurora (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TORCH_DESCRIPTION "The plugin behind encoder.engine=torch: the auto-encoders
on libtorch, with which the native ones of AURORA are compared.")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME aurora-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "aurora (= ${PROJECT_VERSION}), openmpi-bin")
set(CPACK_DEBIAN_MPI_DESCRIPTION "The plugin behind run.evaluator=mpi: one run of AURORA evaluated
by the processes that mpirun starts, on several machines.")
include(CPack)
