# SPDX-License-Identifier: Apache-2.0
# What is installed: the libraries of all rooms as wafervp::NAME, their headers below include/wafervp, the scenarios,
# and the files that make find_package(wafervp) work.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wafervp)

set(libraries wafervp_systemc)
foreach(wing firmware modules platform)
  wafervp_targets_below(below ${PROJECT_SOURCE_DIR}/${wing} STATIC_LIBRARY INTERFACE_LIBRARY OBJECT_LIBRARY)
  list(APPEND libraries ${below})
endforeach()

foreach(library ${libraries})
  # Rooms name the wing that they stand in as their include directory; in the package all wings share one.
  get_target_property(directories ${library} INTERFACE_INCLUDE_DIRECTORIES)
  set(exported)
  foreach(directory ${directories})
    if(directory MATCHES "^(${PROJECT_SOURCE_DIR}|${PROJECT_BINARY_DIR})")
      list(APPEND exported $<BUILD_INTERFACE:${directory}>)
    elseif(directory)
      list(APPEND exported ${directory})
    endif()
  endforeach()
  string(REGEX REPLACE "^wafervp_" "" short ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${short} INTERFACE_INCLUDE_DIRECTORIES "${exported}")
  install(TARGETS ${library} EXPORT wafervpTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/wafervp)
endforeach()

foreach(headers modules/ platform/ firmware/include/wafervp/)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wafervp
    FILES_MATCHING PATTERN "*.h")
endforeach()
if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/wafervp
    FILES_MATCHING PATTERN "*.json" PATTERN "*.md")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT wafervpTargets NAMESPACE wafervp:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/cmake/wafervpConfig.cmake.in
  ${PROJECT_BINARY_DIR}/wafervpConfig.cmake INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wafervpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wafervpConfig.cmake ${PROJECT_BINARY_DIR}/wafervpConfigVersion.cmake
  DESTINATION ${package_dir})
