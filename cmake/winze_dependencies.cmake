# SPDX-License-Identifier: Apache-2.0
# Libraries from the distribution; `make setup` installs them.
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tsl-robin-map REQUIRED)
find_package(Threads REQUIRED)

find_library(DEFLATE_LIBRARY deflate REQUIRED)
find_path(DEFLATE_INCLUDE_DIR libdeflate.h REQUIRED)
add_library(winze_deflate INTERFACE)
target_link_libraries(winze_deflate INTERFACE "${DEFLATE_LIBRARY}")
target_include_directories(winze_deflate SYSTEM INTERFACE "${DEFLATE_INCLUDE_DIR}")

find_library(XXHASH_LIBRARY xxhash REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(winze_xxhash INTERFACE)
target_link_libraries(winze_xxhash INTERFACE "${XXHASH_LIBRARY}")
target_include_directories(winze_xxhash SYSTEM INTERFACE "${XXHASH_INCLUDE_DIR}")

if(WINZE_BUILD_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(WINZE_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
