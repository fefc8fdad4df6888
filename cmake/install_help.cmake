# Man pages, and completions for bash and zsh: tools/help_pages.py writes them while the build runs,
# out of what each command prints for --help.
if(HEADWAY_SANITIZE OR CMAKE_CROSSCOMPILING)
  return()  # the commands are slow here, or cannot run
endif()

get_property(commands GLOBAL PROPERTY headway_commands)  # PATH:ALIAS…
set(share ${CMAKE_BINARY_DIR}/share)
set(stamp ${CMAKE_BINARY_DIR}/help_pages.stamp)
add_custom_command(OUTPUT ${stamp}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/help_pages.py --out ${share}
          --version ${PROJECT_VERSION} $<TARGET_FILE:headway> ${commands}
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
  DEPENDS mpiexec headway ${PROJECT_SOURCE_DIR}/tools/help_pages.py
          ${PROJECT_SOURCE_DIR}/tools/wrappers/mpicompiler.in
  COMMENT "Writing man pages and completions" VERBATIM)
add_custom_target(help_pages ALL DEPENDS ${stamp})

install(DIRECTORY ${share}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${share}/bash-completion ${share}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR})
