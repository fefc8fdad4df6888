# headway_modules(VARIABLE): sets it to the modules of src/, bottom to top, out of tools/layers.txt.
function(headway_modules variable)
  file(STRINGS ${PROJECT_SOURCE_DIR}/tools/layers.txt rows REGEX "^[a-z_/]+:")
  list(TRANSFORM rows REPLACE ":.*" "")
  set(${variable} ${rows} PARENT_SCOPE)
endfunction()

# headway_module_targets(VARIABLE module…): sets it to the modules' targets: that of
# `c_api/endpoints` is `headway_c_api_endpoints`.
function(headway_module_targets variable)
  list(TRANSFORM ARGN REPLACE "/" "_" OUTPUT_VARIABLE targets)
  list(TRANSFORM targets PREPEND headway_)
  set(${variable} ${targets} PARENT_SCOPE)
endfunction()

# headway_precompile(OWNER header…): where several sources are compiled at once (HEADWAY_UNITY), the
# compiler reads these headers of other projects once, for OWNER and the targets that reuse them.
# The preset `dev` does without, so that each source is seen to include what it uses.
function(headway_precompile owner)
  if(HEADWAY_UNITY)
    list(TRANSFORM ARGN REPLACE ".+" "$<$<COMPILE_LANGUAGE:CXX>:<\\0$<ANGLE-R>>"
         OUTPUT_VARIABLE headers)
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
endfunction()

# headway_reuse(TARGET OWNER): both are compiled with the same options.
function(headway_reuse target owner)
  if(HEADWAY_UNITY)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

set(HEADWAY_STANDARD_HEADERS
    algorithm array atomic cstdint cstring functional map memory mutex optional span string
    string_view utility vector fmt/format.h)

# headway_module(NAME SOURCES file… USES module… LINKS target… [SELDOM])
#
# A module is a folder of src/ and one static library. It may link only modules that
# tools/layers.txt lets it include: the test `layers` checks includes, this function checks links.
# SELDOM: headway_runs_seldom, below.
function(headway_module name)
  cmake_parse_arguments(MODULE "SELDOM" "" "SOURCES;USES;LINKS" ${ARGN})
  file(STRINGS ${PROJECT_SOURCE_DIR}/tools/layers.txt rows REGEX "^${name}:")
  string(REGEX REPLACE "^[^:]*:" "" allowed "${rows}")
  string(REGEX MATCHALL "[a-z_/]+" allowed "${allowed}")
  foreach(used IN LISTS MODULE_USES)
    if(NOT used IN_LIST allowed)
      message(FATAL_ERROR "module '${name}' may not use module '${used}': see tools/layers.txt")
    endif()
  endforeach()
  headway_module_targets(target ${name})
  headway_module_targets(uses ${MODULE_USES})
  add_library(${target} STATIC ${MODULE_SOURCES})
  target_link_libraries(${target} PUBLIC ${uses} ${MODULE_LINKS} PRIVATE headway_flags headway_lto)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                              ${PROJECT_SOURCE_DIR}/include)
  if(MODULE_SELDOM)
    headway_runs_seldom(${target})
  endif()
  if(name STREQUAL "base")
    headway_precompile(${target} ${HEADWAY_STANDARD_HEADERS})
  elseif(MODULE_SELDOM AND HEADWAY_SANITIZE)
    headway_reuse(${target} headway_seldom_headers)
  else()
    headway_reuse(${target} headway_base)
  endif()
endfunction()

# headway_runs_seldom(TARGET…): most of what it does happens once in a job, or once a call from
# outside. Under a sanitizer it is compiled without optimisation, which halves the compiler's time
# and is not seen in that of a test. Not for what a fuzz target runs, which would find less.
function(headway_runs_seldom)
  if(HEADWAY_SANITIZE)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -O0)
    endforeach()
  endif()
endfunction()

# headway_tests_are_short(TARGET): a test needs no quick code of its own, beside that of modules;
# this halves the time that the compiler takes for it.
function(headway_tests_are_short target)
  headway_runs_seldom(${target})
  if(CMAKE_BUILD_TYPE MATCHES "Rel" AND NOT HEADWAY_SANITIZE)
    target_compile_options(${target} PRIVATE -Og -g1)
  endif()
endfunction()

# headway_test(NAME SOURCES file… LINKS target… LABELS label… TIMEOUT seconds
#              [ONE_THREAD] [LONG])
# One GoogleTest executable and one CTest entry of the same name. The target `tests_LABEL` builds
# every test of a label. ONE_THREAD: the test starts no thread, so ThreadSanitizer has nothing to
# find, and the preset `tsan` is without it; one that starts a thread after all fails
# (tests/one_thread.c). LONG: it computes for so long that the compiler's optimisation under a
# sanitizer takes less time than it saves.
function(headway_test name)
  cmake_parse_arguments(TEST "ONE_THREAD;LONG" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 180)  # ends a test that hangs; long enough for a loaded machine
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})  # "tests/unit/MODULE/x.hpp"
  target_link_libraries(${name} PRIVATE ${TEST_LINKS} headway_flags fmt::fmt GTest::gtest_main
                                        GTest::gmock Threads::Threads)
  target_link_options(${name} PRIVATE -fno-lto)
  if(TEST_LONG AND HEADWAY_SANITIZE)
    headway_reuse(${name} headway_long_test_headers)
  else()
    headway_tests_are_short(${name})
    headway_reuse(${name} headway_test_headers)
  endif()
  if(TEST_ONE_THREAD)
    if(HEADWAY_SANITIZE STREQUAL "thread")
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
      return()
    elseif(NOT HEADWAY_SANITIZE)  # AddressSanitizer looks for leaks in a thread
      target_link_libraries(${name} PRIVATE headway_one_thread)
    endif()
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT}
                                          COST ${TEST_TIMEOUT})  # the longest ones start first
  foreach(label IN LISTS TEST_LABELS)
    add_dependencies(tests_${label} ${name})
  endforeach()
endfunction()

# headway_alone(TEST…): they run when no other test does, and .ci/run starts no build beside them.
function(headway_alone)
  set_tests_properties(${ARGN} PROPERTIES RUN_SERIAL ON)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS alone)
endfunction()

# headway_skipped_test(NAME LABEL WHY): a test that cannot be built here; CTest says that it is
# skipped, and its output why.
function(headway_skipped_test name label why)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${why}")
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_REGULAR_EXPRESSION "^skipped")
endfunction()

# headway_fuzz(NAME SOURCES file… LINKS target…)
# One libFuzzer executable, with `LLVMFuzzerTestOneInput` in its sources, and a CTest entry that
# runs it for HEADWAY_FUZZ_SECONDS, starting from the files in corpus/NAME if that folder exists.
# Only where HEADWAY_FUZZ is on (preset `asan`); the target `fuzzers` builds them all.
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
  math(EXPR timeout "${HEADWAY_FUZZ_SECONDS} + 60")
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT ${timeout})
  add_dependencies(fuzzers ${name})
endfunction()
