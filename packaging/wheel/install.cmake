# Installs the folder ${build} into ${CMAKE_INSTALL_PREFIX} in the form of a wheel. Libraries lie
# there under the names by which the loader looks for them (libmpi_abi.so.1), and lib*.so, for the
# linker, is a text that names them.
set(prefix ${CMAKE_INSTALL_PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --strip --prefix ${prefix}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${prefix}/lib/headway)  # the binding is the wheel's own package

file(GLOB links ${prefix}/lib/*.so ${prefix}/lib/*.so.* ${prefix}/bin/*)
foreach(link IN LISTS links)
  if(NOT IS_SYMLINK ${link})
    continue()
  endif()
  get_filename_component(name ${link} NAME)
  get_filename_component(target ${link} REALPATH)
  file(REMOVE ${link})
  if(name MATCHES "\\.so$")
    get_filename_component(real ${target} NAME)
    string(REGEX MATCH "^[a-z_]+\\.so\\.[0-9]+" soname ${real})
    file(WRITE ${link} "INPUT(-l:${soname})\n")
  else()
    configure_file(${target} ${link} COPYONLY)
  endif()
endforeach()
file(GLOB versions ${prefix}/lib/*.so.*.*.*)  # libheadway.so.0.1.0, whose copy has the SONAME
file(REMOVE ${versions})

# Dependencies, and hwloc, which is loaded when the machine is read: the libraries' run path names
# their own folder.
file(GLOB ours ${prefix}/lib/*.so.[0-9] ${prefix}/bin/headway)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${prefix}/bin/headway LIBRARIES ${ours}
     RESOLVED_DEPENDENCIES_VAR needed UNRESOLVED_DEPENDENCIES_VAR missing
     PRE_INCLUDE_REGEXES "lib(fmt|sodium|ncursesw|tinfo)\\." PRE_EXCLUDE_REGEXES ".*")
find_library(hwloc NAMES libhwloc.so.15 NO_CACHE)
if(hwloc)
  list(APPEND needed ${hwloc})
endif()
foreach(library IN LISTS needed)
  get_filename_component(real ${library} REALPATH)
  get_filename_component(name ${library} NAME)
  configure_file(${real} ${prefix}/lib/${name} COPYONLY)
endforeach()
