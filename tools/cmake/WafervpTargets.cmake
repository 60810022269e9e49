# SPDX-License-Identifier: Apache-2.0
# wafervp_add_library(NAME SOURCES ... [DEPENDS ...]): a static library of one room of the house.
function(wafervp_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE wafervp_options)
endfunction()

# wafervp_add_test(NAME LABEL unit|module|... SOURCES ... [DEPENDS ...] [ARGS ...] [TIMEOUT s]): a GoogleTest
# program that is one CTest test (a simulation has a process to itself: see PER_CASE).
# PER_CASE: each GoogleTest case runs in a process of its own.
function(wafervp_add_test name)
  cmake_parse_arguments(ARG "PER_CASE" "LABEL;TIMEOUT" "SOURCES;DEPENDS;ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 10)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} wafervp_options GTest::gmock GTest::gtest)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(ARG_PER_CASE)
    include(GoogleTest)
    gtest_discover_tests(${name} EXTRA_ARGS ${ARG_ARGS} DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  else()
    add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
    set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()
