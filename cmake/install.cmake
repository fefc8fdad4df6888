# Compiler wrappers, pkg-config files and the rules of installation. The build tree and an installed
# prefix have the same folders bin, lib and include, and use relative paths between them.

# headway_wrapper(NAME LANGUAGE OPTION VARIABLE "compilers" ALIASES name… [LIBRARIES options]
#                 [MODULES folder])
# Makes a compiler wrapper for the build tree, and one for the folders of the installed prefix.
# MODULES: the folder, relative to the prefix, with the program that makes Fortran's modules.
function(headway_wrapper name language option variable compilers)
  cmake_parse_arguments(WRAPPER "" "LIBRARIES;MODULES" "ALIASES" ${ARGN})
  set(WRAPPER_NAME ${name})
  set(WRAPPER_LANGUAGE ${language})
  set(WRAPPER_OPTION ${option})
  set(WRAPPER_VARIABLE ${variable})
  set(WRAPPER_COMPILERS ${compilers})
  if(NOT WRAPPER_LIBRARIES)
    set(WRAPPER_LIBRARIES -lmpi_abi)
  endif()
  set(modules ${WRAPPER_MODULES})
  set(template ${PROJECT_SOURCE_DIR}/tools/wrappers/mpicompiler.in)
  set(mode FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
           WORLD_READ WORLD_EXECUTE)

  file(RELATIVE_PATH WRAPPER_INCLUDE ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${HEADWAY_BUILT_INCLUDE})
  file(RELATIVE_PATH WRAPPER_LIB ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                                 ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  if(modules)
    file(RELATIVE_PATH WRAPPER_MODULES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                                       ${CMAKE_BINARY_DIR}/${modules}/fortran_modules)
  endif()
  configure_file(${template} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} @ONLY ${mode})

  set(root /x)  # any prefix: only the relative path between the folders matters
  file(RELATIVE_PATH WRAPPER_INCLUDE ${root}/${CMAKE_INSTALL_BINDIR}
                                     ${root}/${CMAKE_INSTALL_INCLUDEDIR})
  file(RELATIVE_PATH WRAPPER_LIB ${root}/${CMAKE_INSTALL_BINDIR} ${root}/${CMAKE_INSTALL_LIBDIR})
  if(modules)
    file(RELATIVE_PATH WRAPPER_MODULES ${root}/${CMAKE_INSTALL_BINDIR}
                                       ${root}/${modules}/fortran_modules)
  endif()
  configure_file(${template} ${CMAKE_BINARY_DIR}/installed/${name} @ONLY ${mode})
  install(PROGRAMS ${CMAKE_BINARY_DIR}/installed/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
  headway_aliases(${name} ${WRAPPER_ALIASES})
endfunction()

# headway_aliases(NAME alias…): symbolic links in bin that are further names of the program NAME.
function(headway_aliases name)
  foreach(alias IN LISTS ARGN)
    file(CREATE_LINK ${name} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${alias} SYMBOLIC)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/installed)
    file(CREATE_LINK ${name} ${CMAKE_BINARY_DIR}/installed/${alias} SYMBOLIC)
    install(FILES ${CMAKE_BINARY_DIR}/installed/${alias} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endforeach()
  list(JOIN ARGN ":" aliases)
  set_property(GLOBAL APPEND PROPERTY headway_commands
               ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}:${aliases})
endfunction()

set(HEADWAY_BUILT_INCLUDE ${CMAKE_BINARY_DIR}/include)  # mpi.h is generated there
configure_file(${PROJECT_SOURCE_DIR}/include/headway/communicator.h
               ${HEADWAY_BUILT_INCLUDE}/headway/communicator.h COPYONLY)
headway_wrapper(mpicc C cc HEADWAY_CC "cc gcc clang" ALIASES mpicc_abi)
headway_wrapper(mpicxx C++ cxx HEADWAY_CXX "c++ g++ clang++" ALIASES mpic++ mpiCC mpicxx_abi)

set(HEADWAY_FORTRAN_SOURCES share/headway/fortran)  # where api/generate.py puts the modules
configure_file(${PROJECT_SOURCE_DIR}/tools/wrappers/fortran_modules.in
               ${CMAKE_BINARY_DIR}/${HEADWAY_FORTRAN_SOURCES}/fortran_modules @ONLY
               FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                WORLD_READ WORLD_EXECUTE)
headway_wrapper(mpifort Fortran fc HEADWAY_FC "gfortran flang-new flang-new-19 flang"
                LIBRARIES "-lmpifort_abi -lmpi_abi" MODULES ${HEADWAY_FORTRAN_SOURCES}
                ALIASES mpif77 mpif90 mpifort_abi)

file(RELATIVE_PATH HEADWAY_ROOT_FROM_PC /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
string(REGEX REPLACE "/$" "" HEADWAY_ROOT_FROM_PC "${HEADWAY_ROOT_FROM_PC}")
foreach(HEADWAY_PC_NAME headway-mpi mpi_abi)  # mpi_abi: any library of the standard ABI
  configure_file(${PROJECT_SOURCE_DIR}/cmake/headway-mpi.pc.in
                 ${CMAKE_BINARY_DIR}/installed/${HEADWAY_PC_NAME}.pc @ONLY)
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/headway-mpi-fortran.pc.in
               ${CMAKE_BINARY_DIR}/installed/headway-mpi-fortran.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/installed/headway-mpi.pc ${CMAKE_BINARY_DIR}/installed/mpi_abi.pc
              ${CMAKE_BINARY_DIR}/installed/headway-mpi-fortran.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(${PROJECT_SOURCE_DIR}/cmake/install_progress.cmake)
include(${PROJECT_SOURCE_DIR}/cmake/install_endpoints.cmake)

install(TARGETS mpi_abi mpifort_abi mpiexec headway RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
                                        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
headway_aliases(mpiexec mpirun)
include(${PROJECT_SOURCE_DIR}/cmake/install_help.cmake)
# What `cmake --install` installs, and no tests or benchmarks.
add_custom_target(installed)
add_dependencies(installed mpi_abi mpifort_abi mpiexec headway headway_shared progress_shared
                           progress_nothread)
if(TARGET help_pages)
  add_dependencies(installed help_pages)
endif()
install(FILES ${HEADWAY_BUILT_INCLUDE}/mpi.h ${HEADWAY_BUILT_INCLUDE}/mpif.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${HEADWAY_BUILT_INCLUDE}/headway/communicator.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headway)
set(fortran ${CMAKE_BINARY_DIR}/${HEADWAY_FORTRAN_SOURCES})
install(FILES ${fortran}/headway_mpi_types.f90 ${fortran}/mpi.f90 ${fortran}/mpi_f08.f90
        DESTINATION ${HEADWAY_FORTRAN_SOURCES})
install(PROGRAMS ${fortran}/fortran_modules DESTINATION ${HEADWAY_FORTRAN_SOURCES})
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# The documents, without links to files that are not installed.
file(GLOB_RECURSE pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md
     ${PROJECT_SOURCE_DIR}/docs/*.svg ${PROJECT_SOURCE_DIR}/docs/*.png)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/headway/*.h)
set(documents_apart LICENSE README.md CHANGELOG.md CONTRIBUTING.md)
list(TRANSFORM documents_apart PREPEND ${PROJECT_SOURCE_DIR}/)
set(documents ${CMAKE_BINARY_DIR}/share/doc/headway)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/doc_pages.stamp
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/doc_pages.py --installed ${documents}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/doc_pages.py
          --man ${CMAKE_BINARY_DIR}/share/man/man3 --version ${PROJECT_VERSION}
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/doc_pages.stamp
  DEPENDS ${pages} ${headers} ${documents_apart} ${PROJECT_SOURCE_DIR}/tools/doc_pages.py
          ${PROJECT_SOURCE_DIR}/tools/doc_links.py
  COMMENT "Writing the documents to be installed" VERBATIM)
add_custom_target(doc_pages ALL DEPENDS ${CMAKE_BINARY_DIR}/doc_pages.stamp)
add_dependencies(installed doc_pages)
install(DIRECTORY ${documents}/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/man/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})

configure_file(packaging/modulefile.in
               ${CMAKE_BINARY_DIR}/installed/modulefiles/headway/${PROJECT_VERSION} @ONLY)
install(DIRECTORY ${CMAKE_BINARY_DIR}/installed/modulefiles
        DESTINATION ${CMAKE_INSTALL_DATADIR}/headway)

# `headway bench` runs these Python files, and compiles these C sources with each library's mpicc.
set(shared ${CMAKE_INSTALL_DATADIR}/headway)
install(PROGRAMS tools/report/report DESTINATION ${shared}/report)  # `headway report`
install(PROGRAMS bench/experiment bench/sample_picture DESTINATION ${shared}/bench)
install(DIRECTORY bench DESTINATION ${shared}
        FILES_MATCHING PATTERN "*.py" PATTERN "*.c" PATTERN "*.h" PATTERN __pycache__ EXCLUDE)
