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
# Each access to thread-local storage is a load instead of a call. The library's few dozen bytes fit
# into the static storage that the loader reserves for libraries loaded by dlopen, as Python loads
# them.
add_compile_options(-ftls-model=initial-exec)
# Programs find the libraries by a path relative to themselves, so that a prefix may be moved.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# The compiler reads the headers of several sources once. In the preset `dev` it compiles each
# alone, so that each is seen to include what it uses, and a change costs one source.
if(HEADWAY_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${HEADWAY_UNITY_SOURCES})
endif()

add_library(headway_flags INTERFACE)
target_compile_options(headway_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wundef
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<BOOL:${HEADWAY_WERROR}>:-Werror>)
if(HEADWAY_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes an included source for a header, whose types must not use unnamed namespaces.
  target_compile_options(headway_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Clang warns of the deprecated get_temporary_buffer that stable_sort of libstdc++ 12 uses. GCC
  # still warns of deprecated functions that Headway's code uses.
  target_compile_options(headway_flags INTERFACE -Wthread-safety -Wno-deprecated-declarations)
  if(HEADWAY_UNITY)
    # To Clang a local name shadows that of another source's unnamed namespace. GCC has -Wshadow.
    target_compile_options(headway_flags INTERFACE -Wno-shadow)
  endif()
endif()

# A message passes through eight modules. Link-time optimisation across them makes it a tenth faster
# (8 bytes over shared memory; bench/mpi/pingpong.c). -ffat-lto-objects: the objects hold ordinary
# code as well; programs that need not be fast link that, with -fno-lto, which is quick.
# -falign-functions: functions begin on cache lines. Without it their accidental position changes
# the shortest times by a third: an ltask takes 67 … 89 or 48 … 68 ns
# (bench/progress/ltask_bench.cpp, in turns). Functions on a short message's path are [[gnu::hot]],
# which places them together: 16 pages of code instead of 31.
# -ffunction-sections: a program that is linked without LTO can leave out what it does not call.
add_library(headway_lto INTERFACE)
set(HEADWAY_LINKS_LTO OFF)
if(HEADWAY_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE MATCHES "Rel"
   AND NOT HEADWAY_SANITIZE)
  set(HEADWAY_LINKS_LTO ON)  # libmpi_abi and libheadway are linked with it
  target_compile_options(headway_lto INTERFACE -flto=auto -ffat-lto-objects -falign-functions=64
                                               -ffunction-sections)
endif()

if(HEADWAY_SANITIZE)
  # -O1, whatever the build type says: at -O0 the simulations take minutes.
  add_compile_options(-fsanitize=${HEADWAY_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${HEADWAY_SANITIZE})
  if(HEADWAY_SANITIZE MATCHES "undefined")
    # The check of dynamic types needs the C++ runtime, which a C program does not link.
    add_compile_options(-fno-sanitize=vptr)
  endif()
endif()
if(HEADWAY_FUZZ)
  # In all code, which then serves the other tests as well: no second build for the fuzz targets.
  add_compile_options(-fsanitize=fuzzer-no-link)
  if(HEADWAY_FUZZ_COVERAGE)
    add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
    add_link_options(-fprofile-instr-generate)
  endif()
endif()
