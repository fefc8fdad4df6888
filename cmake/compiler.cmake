# How every target is compiled: C++23, hidden symbols, warnings as errors, one sanitizer at most.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# Our few dozen bytes of thread-local storage fit what the loader keeps free for libraries that are
# loaded late (Python's), and each access is a load instead of a call.
add_compile_options(-ftls-model=initial-exec)
# Programs and libraries find their neighbours from where they lie, so that a prefix may be moved.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

add_library(headway_flags INTERFACE)
target_compile_options(headway_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wundef
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<BOOL:${HEADWAY_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 uses its own deprecated get_temporary_buffer in stable_sort, and Clang complains of
  # it; GCC keeps watch over what we use.
  target_compile_options(headway_flags INTERFACE -Wthread-safety -Wno-deprecated-declarations)
endif()

# A message passes eight rooms. Optimised across them at the link of the library, it takes a tenth
# less time on its way (8 bytes over shared memory; bench/mpi/pingpong.c). The objects carry
# ordinary code as well, and what need not be fast links that, told by -fno-lto, in no time.
# Functions begin on cache lines: where they happen to lie otherwise decides over a third of the
# shortest ways, an ltask 67 … 89 or 48 … 68 ns (bench/ltask_shared, in turns). What a short message
# runs through is [[gnu::hot]] and lies together: 31 pages of code became 16.
add_library(headway_lto INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE MATCHES "Rel" AND NOT HEADWAY_SANITIZE)
  target_compile_options(headway_lto INTERFACE -flto=auto -ffat-lto-objects -falign-functions=64)
endif()

if(HEADWAY_SANITIZE)
  add_compile_options(-fsanitize=${HEADWAY_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${HEADWAY_SANITIZE})
  if(HEADWAY_SANITIZE MATCHES "undefined")
    # The check of dynamic types needs C++'s runtime, which a C program that links us has not.
    add_compile_options(-fno-sanitize=vptr)
  endif()
endif()
if(HEADWAY_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=address,undefined)
endif()
