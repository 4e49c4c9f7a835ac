# SPDX-License-Identifier: Apache-2.0
# Makes the build folder a CMake package: `find_package(winze)` with -Dwinze_DIR=BUILD gives the
# targets winze::winze_<component>, and winze::winze_plugin to build passes with.

# The headers and their settings. The code is in the program that loads the plugin: with an archive
# linked into it, everything would be defined twice in one process.
add_library(winze_plugin INTERFACE)
target_link_libraries(winze_plugin INTERFACE winze_settings fmt::fmt tsl::robin_map)

set(targets ${WINZE_COMPONENTS})
list(TRANSFORM targets PREPEND winze_)
list(APPEND targets winze_plugin winze_settings winze_deflate winze_xxhash)
export(TARGETS ${targets} NAMESPACE winze:: FILE "${PROJECT_BINARY_DIR}/winzeTargets.cmake")
file(WRITE "${PROJECT_BINARY_DIR}/winzeConfig.cmake" [[
# SPDX-License-Identifier: Apache-2.0
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(simdjson)
find_dependency(tsl-robin-map)
find_dependency(Threads)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
include("${CMAKE_CURRENT_LIST_DIR}/winzeTargets.cmake")
]])
