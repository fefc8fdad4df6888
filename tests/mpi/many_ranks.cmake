# Programs that check themselves, started by our own mpiexec on several numbers of ranks.
# headway_mpi_test(NAME SOURCE file RANKS n… TIMEOUT seconds)
# One program, and one CTest entry NAME.N for each number of ranks. Under a sanitizer 1 to 5 ranks
# stand for the others, which have the label `nightly` there.
set(ranks_of_nights 6 7 8 9)
function(headway_mpi_test name)
  cmake_parse_arguments(TEST "" "SOURCE;TIMEOUT" "RANKS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 60)
  endif()
  if(HEADWAY_SANITIZE STREQUAL "thread")
    math(EXPR TEST_TIMEOUT "3 * ${TEST_TIMEOUT}")
  endif()
  add_executable(${name} ${TEST_SOURCE})
  target_link_libraries(${name} PRIVATE mpi_abi)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/mpi)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Werror)
  foreach(ranks IN LISTS TEST_RANKS)
    add_test(NAME ${name}.${ranks}
             COMMAND mpiexec -n ${ranks} --timeout ${TEST_TIMEOUT} $<TARGET_FILE:${name}>)
    set(labels mpi)
    if(HEADWAY_SANITIZE AND ranks IN_LIST ranks_of_nights)
      list(APPEND labels nightly)
    endif()
    set_tests_properties(${name}.${ranks} PROPERTIES LABELS "${labels}" TIMEOUT ${TEST_TIMEOUT}
                                                     PROCESSORS 2)
  endforeach()
endfunction()
