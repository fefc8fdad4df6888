# libheadway.so with end-points: `pkg-config headway`.
configure_file(${PROJECT_SOURCE_DIR}/cmake/headway.pc.in
               ${CMAKE_BINARY_DIR}/installed/headway.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/installed/headway.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/headway)  # find_package(headway): headway::headway
set_target_properties(headway_shared PROPERTIES EXPORT_NAME headway)
target_include_directories(headway_shared INTERFACE $<INSTALL_INTERFACE:include>)
install(TARGETS headway_shared EXPORT headway LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT headway NAMESPACE headway:: DESTINATION ${package} FILE headway-config.cmake)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/installed/headway-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/installed/headway-config-version.cmake DESTINATION ${package})
install(FILES ${PROJECT_SOURCE_DIR}/include/headway/endpoint.h
              ${PROJECT_SOURCE_DIR}/include/headway/endpoint.hpp
              ${PROJECT_SOURCE_DIR}/include/headway/strategy.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headway)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/headway
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/headway/python
        FILES_MATCHING PATTERN "*.py" PATTERN py.typed)
