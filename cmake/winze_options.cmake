# SPDX-License-Identifier: Apache-2.0
# Build options and the compile settings shared by every target.
option(WINZE_BUILD_TESTS "Build the unit tests" ON)
option(WINZE_BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(WINZE_BUILD_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
option(WINZE_BUILD_PYTHON "Build the Python package (needs Python's headers and nanobind)" OFF)
option(WINZE_WERROR "Treat warnings as errors" OFF)
set(WINZE_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # ccache looks at precompiled headers only when told that macros of the clock do not matter. What a source
  # includes it takes from the compiler's list (CCACHE_DEPEND): preprocessing to find out is a tenth of a build.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 "${CCACHE_PROGRAM}")
endif()

add_library(winze_settings INTERFACE)
target_include_directories(winze_settings INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
target_compile_options(winze_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers)  # designated initializers leave the rest at its default on purpose
if(WINZE_WERROR)
  target_compile_options(winze_settings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc takes a source that another one includes for a header, and its private types for shared ones.
  target_compile_options(winze_settings INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-subobject-linkage>)
  # Collecting what the compiler no longer needs is a tenth of its time and frees what it has to spare.
  target_compile_options(winze_settings INTERFACE --param=ggc-min-expand=1000 --param=ggc-min-heapsize=1048576)
endif()
if(WINZE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(winze_settings INTERFACE WINZE_CHECK_HANDLES)
endif()
if(WINZE_SANITIZE)
  target_compile_options(winze_settings INTERFACE
    -fsanitize=${WINZE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(winze_settings INTERFACE -fsanitize=${WINZE_SANITIZE})
endif()
if(WINZE_BUILD_FUZZERS)
  target_compile_options(winze_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()
