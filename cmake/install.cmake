# Installs the library, its headers, the program, and the package config for find_package(aurora).
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME aurora)
install(TARGETS aurora aurora_program aurora_cli
        EXPORT aurora-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(plugin aurora_dart aurora_box2d aurora_explore)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/aurora)
  endif()
endforeach()
foreach(component torch mpi)  # packages of their own: few need them, and they need a lot
  if(TARGET aurora_${component})
    install(TARGETS aurora_${component} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/aurora
            COMPONENT ${component})
  endif()
endforeach()
install(DIRECTORY ${AURORA_MANUAL}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        FILES_MATCHING PATTERN "*.1.gz")
install(FILES ${AURORA_MANUAL}/aurora.bash RENAME aurora
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${AURORA_MANUAL}/_aurora DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
include(cmake/public_headers.cmake)
foreach(header ${AURORA_PUBLIC_HEADERS})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(DIRECTORY python/aurora_qd DESTINATION share/aurora/python
        FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
install(EXPORT aurora-targets NAMESPACE aurora::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aurora)
configure_package_config_file(cmake/aurora-config.cmake.in
                              ${CMAKE_BINARY_DIR}/aurora-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aurora)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/aurora-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/aurora-config.cmake
              ${CMAKE_BINARY_DIR}/aurora-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aurora)
