# Installs the library, its headers, the program, and the package config for find_package(aurora).
include(CMakePackageConfigHelpers)

install(TARGETS aurora aurora_program aurora_cli
        EXPORT aurora-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(plugin aurora_torch aurora_dart aurora_box2d)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
include(cmake/public_headers.cmake)
foreach(header ${AURORA_PUBLIC_HEADERS})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(DIRECTORY python/aurora DESTINATION share/aurora/python
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
