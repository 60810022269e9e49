# SPDX-License-Identifier: Apache-2.0
# Language, warnings and sanitizers of every target of the project.
option(WAFERVP_BUILD_TESTS "Build the tests" ON)
set(WAFERVP_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined")
option(WAFERVP_COVERAGE "Instrument for gcov" OFF)

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(wafervp_options INTERFACE)
# The same results on every x86-64 machine: no contraction, no machine-specific instructions.
target_compile_options(wafervp_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off)
if(WAFERVP_SANITIZE)
  target_compile_options(wafervp_options INTERFACE -fsanitize=${WAFERVP_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(wafervp_options INTERFACE -fsanitize=${WAFERVP_SANITIZE})
endif()
if(WAFERVP_COVERAGE)
  target_compile_options(wafervp_options INTERFACE --coverage -O0)
  target_link_options(wafervp_options INTERFACE --coverage)
endif()
