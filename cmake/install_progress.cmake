# The progression engine for other libraries: header, both flavours, pkg-config and CMake packages.
# They are the component `progress`, which can be installed without the rest.
include(CMakePackageConfigHelpers)

function(headway_progress_pkg_config name library kind)
  set(HEADWAY_PC_NAME ${name})
  set(HEADWAY_PC_LIBRARY ${library})
  set(HEADWAY_PC_KIND ${kind})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/headway-progress.pc.in
                 ${CMAKE_BINARY_DIR}/installed/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/installed/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT progress)
endfunction()
headway_progress_pkg_config(headway-progress headway_progress "")
headway_progress_pkg_config(headway-progress-nothread headway_progress_nothread
                            ", without threads of its own")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/headway_progress)
set_target_properties(progress_shared PROPERTIES EXPORT_NAME progress)
install(TARGETS progress_shared progress_nothread EXPORT headway_progress
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT progress
                NAMELINK_COMPONENT progress)
install(EXPORT headway_progress NAMESPACE headway:: DESTINATION ${package}
        FILE headway_progress-targets.cmake COMPONENT progress)
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/installed/headway_progress-config-version.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/headway_progress-config.cmake.in
               ${CMAKE_BINARY_DIR}/installed/headway_progress-config.cmake COPYONLY)
install(FILES ${CMAKE_BINARY_DIR}/installed/headway_progress-config.cmake
              ${CMAKE_BINARY_DIR}/installed/headway_progress-config-version.cmake
        DESTINATION ${package} COMPONENT progress)
install(FILES ${PROJECT_SOURCE_DIR}/include/headway/progress.h
              ${PROJECT_SOURCE_DIR}/include/headway/progress.hpp
              ${PROJECT_SOURCE_DIR}/include/headway/progress_fiber.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headway COMPONENT progress)
