# SPDX-License-Identifier: Apache-2.0
# libtorch, from the wheel of the virtual environment: only winze/torch uses it.
#
#   WINZE_TORCH=ON|OFF|AUTO     AUTO: where the wheel is found
#   WINZE_TORCH_DIR=FOLDER      the folder `torch` of an installed wheel
#
# Sets WINZE_HAS_TORCH and makes the target winze_libtorch. Not PyTorch's own CMake package, which
# looks for CUDA, MKL and more before it gives these two libraries.
set(WINZE_TORCH AUTO CACHE STRING "Build what runs programs, with libtorch: ON, OFF or AUTO")
set_property(CACHE WINZE_TORCH PROPERTY STRINGS ON OFF AUTO)
set(WINZE_TORCH_DIR "" CACHE PATH "Folder `torch` of an installed PyTorch wheel (default: that of .venv)")

set(WINZE_HAS_TORCH OFF)
if(WINZE_TORCH STREQUAL "OFF")
  return()
endif()
set(torch_dir "${WINZE_TORCH_DIR}")
if(NOT torch_dir)
  file(GLOB found "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  if(found)
    list(GET found 0 torch_dir)
  endif()
endif()
if(EXISTS "${torch_dir}/include/ATen/core/dispatch/Dispatcher.h" AND EXISTS "${torch_dir}/lib/libtorch_cpu.so")
  set(WINZE_HAS_TORCH ON)
elseif(WINZE_TORCH STREQUAL "ON")
  message(FATAL_ERROR "WINZE_TORCH is ON, and there is no PyTorch in '${torch_dir}'. `scripts/setup.sh base` "
    "installs it into .venv; WINZE_TORCH_DIR names another folder; -DWINZE_TORCH=OFF builds without.")
else()
  message(STATUS "No PyTorch in .venv: winze run, compare and --check are left out")
  return()
endif()
file(STRINGS "${torch_dir}/version.py" WINZE_TORCH_VERSION REGEX "^__version__ = ")
string(REGEX REPLACE "^__version__ = '([^'+]*).*" "\\1" WINZE_TORCH_VERSION "${WINZE_TORCH_VERSION}")
message(STATUS "libtorch ${WINZE_TORCH_VERSION}: ${torch_dir}")

# The wheel brings headers of another fmt along; ours go first.
find_path(FMT_INCLUDE_DIR fmt/format.h REQUIRED)
set(first "${PROJECT_BINARY_DIR}/include_first")
file(MAKE_DIRECTORY "${first}")
file(CREATE_LINK "${FMT_INCLUDE_DIR}/fmt" "${first}/fmt" SYMBOLIC)
# One header uses nlohmann/json, which the wheel leaves out, in functions that nothing here calls:
# declarations are enough.
find_path(NLOHMANN_INCLUDE_DIR nlohmann/json.hpp)
if(NOT NLOHMANN_INCLUDE_DIR)
  file(CONFIGURE OUTPUT "${first}/nlohmann/json.hpp" @ONLY CONTENT "#pragma once
#include <string>
namespace nlohmann {
struct json {
  json();
  template <typename T> explicit json(const T&);
  std::string dump() const;
  static json parse(const std::string&);
  template <typename T> T get() const;
};
}  // namespace nlohmann
")
endif()

add_library(winze_libtorch INTERFACE)
target_include_directories(winze_libtorch SYSTEM INTERFACE
  "${first}" "${torch_dir}/include" "${torch_dir}/include/torch/csrc/api/include")
target_link_libraries(winze_libtorch INTERFACE "${torch_dir}/lib/libtorch_cpu.so" "${torch_dir}/lib/libc10.so")
