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
    target_link_libraries(headway_${name} PUBLIC ${uses} ${ROOM_LINKS} PRIVATE headway_flags)
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
# One GoogleTest executable and one CTest entry of the same name.
function(headway_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 60)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_LINKS} headway_flags GTest::gtest_main GTest::gmock
                                        Threads::Threads)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT})
endfunction()
