# SPDX-License-Identifier: Apache-2.0
# Makes the build folder a CMake package: `find_package(winze)` with -Dwinze_DIR=BUILD gives the
# targets winze::winze_<component>.
set(targets winze_settings winze_deflate winze_xxhash)
foreach(component support symbolic schema ir program effects pass passes)
  if(TARGET winze_${component})
    list(APPEND targets winze_${component})
  endif()
endforeach()
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
