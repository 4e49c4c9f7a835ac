# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.22)
# Runs the pass of a plugin over a text program and looks for what it should have done.
execute_process(
  COMMAND "${WINZE}" lower "${INPUT}" --load-pass-plugin "${PLUGIN}" --passes decompose-silu -o -
  OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "winze exits with ${result}:\n${errors}")
endif()
foreach(expected
    "= aten.sigmoid.default(%x) : f32[2]"
    "= aten.mul.Tensor(%x, "
    "= aten.sigmoid.default(%a) : f32[2]"
    "%h = aten.silu.default(%f) : f16[2]")
  string(FIND "${output}" "${expected}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "expected `${expected}` in:\n${output}")
  endif()
endforeach()
