# SPDX-License-Identifier: Apache-2.0
# Tests are compiled more often than they are run.
set(WINZE_TEST_OPTIONS -O0)
# Reads the command line, once: optimizing CLI11 anew in each subcommand is most of compiling it.
set(WINZE_COMMAND_OPTIONS -O1)

# All but `torch`, which commands load when they need it. Downwards only: a component may depend on
# those before it.
set(WINZE_COMPONENTS support symbolic schema ir program shape builders effects pass passes)

# winze_link_whole(<target> <component>...)
#
# Links the components into the target, used or not: plugins that it loads find there what they use.
function(winze_link_whole target)
  foreach(component IN LISTS ARGN)
    target_link_options(${target} PRIVATE
      "SHELL:-Wl,--whole-archive $<TARGET_FILE:winze_${component}> -Wl,--no-whole-archive")
  endforeach()
endfunction()

# winze_component(<name> SOURCES <file>... DEPENDS <target>... TESTS <file>...)
#
# Makes the library winze_<name> and, when tests are built, the program winze_<name>_test, each of
# whose cases is a ctest test. DEPENDS may name components (by folder) or any other target.
function(winze_component name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;TESTS" ${ARGN})
  set(depends "")
  foreach(depend IN LISTS arg_DEPENDS)
    if(TARGET winze_${depend})
      list(APPEND depends winze_${depend})
    else()
      list(APPEND depends ${depend})
    endif()
  endforeach()
  add_library(winze_${name} STATIC ${arg_SOURCES})
  target_link_libraries(winze_${name} PUBLIC winze_settings ${depends})
  if("winze_libtorch" IN_LIST depends)
    winze_precompile(winze_${name} torch)
  elseif("CLI11::CLI11" IN_LIST depends)
    target_compile_options(winze_${name} PRIVATE ${WINZE_COMMAND_OPTIONS})
    winze_precompile(winze_${name} command)
  else()
    winze_precompile(winze_${name} library)
  endif()
  if(WINZE_BUILD_TESTS AND arg_TESTS)
    add_executable(winze_${name}_test ${arg_TESTS})
    target_link_libraries(winze_${name}_test PRIVATE winze_${name} GTest::gtest GTest::gmock GTest::gtest_main)
    target_compile_options(winze_${name}_test PRIVATE ${WINZE_TEST_OPTIONS})
    winze_precompile(winze_${name}_test test)
    target_compile_definitions(winze_${name}_test PRIVATE WINZE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    gtest_discover_tests(winze_${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
  endif()
endfunction()

# winze_test_driver(<name> <component>)
#
# The program winze_<name>_driver of <name>_driver.cpp, by which end-to-end tests ask the component.
function(winze_test_driver name component)
  if(WINZE_BUILD_TESTS)
    set(driver winze_${name}_driver)
    add_executable(${driver} ${name}_driver.cpp)
    target_link_libraries(${driver} PRIVATE winze_${component})
    target_compile_options(${driver} PRIVATE ${WINZE_TEST_OPTIONS})
    winze_precompile(${driver} test)
  endif()
endfunction()
