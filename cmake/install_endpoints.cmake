# libheadway.so with end-points: `pkg-config headway`.
configure_file(${PROJECT_SOURCE_DIR}/cmake/headway.pc.in
               ${CMAKE_BINARY_DIR}/installed/headway.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/installed/headway.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(TARGETS headway_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/headway/endpoint.h
              ${PROJECT_SOURCE_DIR}/include/headway/strategy.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headway)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/headway
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/headway/python
        FILES_MATCHING PATTERN "*.py" PATTERN py.typed)
