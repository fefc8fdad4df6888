# headway_room(NAME SOURCES file… USES room… LINKS target…)
#
# A room is a folder of src/ and one static library `headway_NAME`. It may link only rooms that
# tools/layers.txt lets it include; the test `layers` reads the includes, this function the links.
function(headway_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;LINKS" ${ARGN})
  file(STRINGS ${PROJECT_SOURCE_DIR}/tools/layers.txt rows REGEX "^${name}:")
  string(REGEX REPLACE "^[^:]*:" "" allowed "${rows}")
  string(REGEX MATCHALL "[a-z_]+" allowed "${allowed}")
  foreach(used IN LISTS ROOM_USES)
    if(NOT used IN_LIST allowed)
      message(FATAL_ERROR "room '${name}' may not use room '${used}': see tools/layers.txt")
    endif()
  endforeach()
  list(TRANSFORM ROOM_USES PREPEND headway_ OUTPUT_VARIABLE uses)
  if(ROOM_SOURCES)
    add_library(headway_${name} STATIC ${ROOM_SOURCES})
    target_link_libraries(headway_${name} PUBLIC ${uses} ${ROOM_LINKS} PRIVATE headway_flags
                                              headway_lto)
    target_include_directories(headway_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                      ${PROJECT_SOURCE_DIR}/include)
  else()
    add_library(headway_${name} INTERFACE)
    target_link_libraries(headway_${name} INTERFACE ${uses} ${ROOM_LINKS})
    target_include_directories(headway_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src
                                                         ${PROJECT_SOURCE_DIR}/include)
  endif()
endfunction()

# headway_test(NAME SOURCES file… LINKS target… LABELS label… TIMEOUT seconds)
# One GoogleTest executable and one CTest entry of the same name. The target `tests_LABEL` builds
# every test of a label.
function(headway_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 180)  # ends what hangs, also on a machine that does other things
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})  # "tests/unit/ROOM/x.hpp"
  target_link_libraries(${name} PRIVATE ${TEST_LINKS} headway_flags GTest::gtest_main GTest::gmock
                                        Threads::Threads)
  target_link_options(${name} PRIVATE -fno-lto)
  if("unit" IN_LIST TEST_LABELS AND CMAKE_BUILD_TYPE MATCHES "Rel")
    # Built often, run for milliseconds: half the time of the compiler.
    target_compile_options(${name} PRIVATE -O1 -g1)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT})
  foreach(label IN LISTS TEST_LABELS)
    add_dependencies(tests_${label} ${name})
  endforeach()
endfunction()

# headway_fuzz(NAME SOURCES file… LINKS target…)
# One libFuzzer executable, `LLVMFuzzerTestOneInput` in its sources; a CTest entry that runs it for
# HEADWAY_FUZZ_SECONDS, starting from the files in corpus/NAME beside it, where there are any.
# Only in the preset `fuzz`; the target `fuzzers` builds them all.
function(headway_fuzz name)
  cmake_parse_arguments(FUZZ "" "" "SOURCES;LINKS" ${ARGN})
  if(NOT HEADWAY_FUZZ)
    return()
  endif()
  add_executable(${name} ${FUZZ_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})  # "tests/x.hpp"
  target_link_libraries(${name} PRIVATE ${FUZZ_LINKS} headway_flags Threads::Threads)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set(found ${CMAKE_BINARY_DIR}/corpus/${name})
  set(given ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  file(MAKE_DIRECTORY ${found})
  if(NOT EXISTS ${given})
    set(given "")
  endif()
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${HEADWAY_FUZZ_SECONDS} -timeout=10
                                -print_final_stats=1 -verbosity=0 ${found} ${given})
  math(EXPR patience "${HEADWAY_FUZZ_SECONDS} + 60")
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT ${patience})
  add_dependencies(fuzzers ${name})
endfunction()
