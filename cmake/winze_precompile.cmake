# SPDX-License-Identifier: Apache-2.0
# Precompiled headers of other projects: reading them is most of what compiling a small source costs.
# Only headers that never change while one works; a source still includes what it uses, which
# scripts/check_sources.py sees to.
#
#   winze_precompile(<target> library|command|test|torch)
option(WINZE_PRECOMPILE_HEADERS "Precompile headers of other libraries: a build from nothing takes two thirds" OFF)

set(WINZE_PRECOMPILED_library
  <algorithm> <cstdint> <functional> <memory> <optional> <span> <string> <string_view> <utility> <variant>
  <vector> <fmt/format.h> <tsl/robin_map.h>)
set(WINZE_PRECOMPILED_command ${WINZE_PRECOMPILED_library} <CLI/CLI.hpp>)
set(WINZE_PRECOMPILED_test ${WINZE_PRECOMPILED_library} <filesystem> <fstream> <gmock/gmock.h> <gtest/gtest.h>)
set(WINZE_PRECOMPILED_torch ${WINZE_PRECOMPILED_library} <ATen/core/dispatch/Dispatcher.h> <ATen/core/ivalue.h>)

# What they belong to: compilers want the same macros where the headers are made and where they are used.
set(WINZE_PRECOMPILED_LIBRARIES_library winze_settings fmt::fmt tsl::robin_map)
set(WINZE_PRECOMPILED_LIBRARIES_command ${WINZE_PRECOMPILED_LIBRARIES_library} CLI11::CLI11)
set(WINZE_PRECOMPILED_LIBRARIES_test ${WINZE_PRECOMPILED_LIBRARIES_library} GTest::gtest GTest::gmock)
set(WINZE_PRECOMPILED_LIBRARIES_torch ${WINZE_PRECOMPILED_LIBRARIES_library} winze_libtorch)

# All targets of a group share one file, made by a target that has the group's flags.
function(winze_precompile target group)
  if(NOT WINZE_PRECOMPILE_HEADERS)
    return()
  endif()
  set(owner winze_precompiled_${group})
  if(NOT TARGET ${owner})
    set(source "${PROJECT_BINARY_DIR}/generated/${owner}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "// Carries the precompiled headers of a group of targets.\n")
    add_library(${owner} OBJECT "${source}")
    target_link_libraries(${owner} PRIVATE ${WINZE_PRECOMPILED_LIBRARIES_${group}})
    if(group STREQUAL "test")
      # As a program is compiled, not as a library.
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${owner} PRIVATE -fPIE ${WINZE_TEST_OPTIONS})
    elseif(group STREQUAL "command")
      target_compile_options(${owner} PRIVATE ${WINZE_COMMAND_OPTIONS})
    endif()
    target_precompile_headers(${owner} PRIVATE ${WINZE_PRECOMPILED_${group}})
  endif()
  target_link_libraries(${target} PRIVATE ${WINZE_PRECOMPILED_LIBRARIES_${group}})
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
