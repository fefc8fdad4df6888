# The standard headers, compiled once for all sources instead of once for each (HEADWAY_PRECOMPILE):
# it halves a build. The presets dev and release do without, so that each source proves there that
# it includes what it uses.
option(HEADWAY_PRECOMPILE "Compile the standard headers once" OFF)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(HEADWAY_PRECOMPILE OFF)  # a compiler cache would miss in each new folder
endif()

# headway_precompile(TARGET KIND): the target uses the headers of headway_precompiled_KIND, which is
# compiled as libraries are (-fPIC) or as tests are (-fPIE).
function(headway_precompile target kind)
  if(HEADWAY_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM headway_precompiled_${kind})
  endif()
endfunction()

# headway_precompiled(NAME LINKED header…): the target's sources and others' use these headers.
function(headway_precompiled name linked)
  target_link_libraries(${name} PRIVATE ${linked} fmt::fmt Threads::Threads)
  target_precompile_headers(${name} PRIVATE
    <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <deque> <expected> <functional> <map>
    <memory> <mutex> <optional> <random> <span> <string> <string_view> <thread> <utility> <vector>
    <fmt/format.h> ${ARGN})
endfunction()

if(HEADWAY_PRECOMPILE)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "int main() {}\n")
  add_library(headway_precompiled_library OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
  # GCC uses it only for sources that are compiled with the same options.
  headway_precompiled(headway_precompiled_library "headway_flags;headway_lto")
  if(HEADWAY_TESTS AND NOT HEADWAY_FUZZ)
    find_package(GTest REQUIRED)
    add_executable(headway_precompiled_test ${CMAKE_BINARY_DIR}/precompiled.cpp)
    headway_precompiled(headway_precompiled_test "GTest::gtest;headway_flags" <gtest/gtest.h>)
  endif()
endif()
