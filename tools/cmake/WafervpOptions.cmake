# SPDX-License-Identifier: Apache-2.0
# Language, warnings, sanitizers and compiler cache of every target of the project.
option(WAFERVP_BUILD_TESTS "Build the tests" ON)
option(WAFERVP_PCH "Precompile SystemC's headers" ON)
option(WAFERVP_CCACHE "Use ccache when it is there" ON)
option(WAFERVP_COVERAGE "Instrument for gcov" OFF)
set(WAFERVP_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined")

# The standard is SystemC's, not a matter of taste: its library links with one standard only.
set(wafervp_cxx_standard 17)
if(DEFINED CMAKE_CXX_STANDARD AND NOT CMAKE_CXX_STANDARD EQUAL wafervp_cxx_standard)
  message(FATAL_ERROR "CMAKE_CXX_STANDARD is ${CMAKE_CXX_STANDARD}, but WaferVP is built with C++17: a SystemC "
    "library links only with programs of the C++ standard that it was built for, and Debian's libsystemc-dev "
    "was built for C++17. Leave CMAKE_CXX_STANDARD out.")
endif()
if(CMAKE_CXX_FLAGS MATCHES "-std=")
  message(FATAL_ERROR "CMAKE_CXX_FLAGS (or CXXFLAGS) names a C++ standard: \"${CMAKE_CXX_FLAGS}\". WaferVP is built "
    "with C++17, the C++ standard of its SystemC library. Leave -std out.")
endif()
set(CMAKE_CXX_STANDARD ${wafervp_cxx_standard})
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

if(WAFERVP_CCACHE)
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM)
    # A file that uses a precompiled header is cached only with these leave-outs (ccache's manual); paths below the
    # source directory are hashed as relative ones, so that a second clone finds what the first one built.
    set(wafervp_launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
    set(CMAKE_C_COMPILER_LAUNCHER ${wafervp_launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${wafervp_launcher})
  endif()
endif()

add_library(wafervp_options INTERFACE)
# The same results on every x86-64 machine: no contraction, no machine-specific instructions.
target_compile_options(wafervp_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off
  # No path of this checkout inside the binaries.
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
if(WAFERVP_SANITIZE)
  target_compile_options(wafervp_options INTERFACE -fsanitize=${WAFERVP_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(wafervp_options INTERFACE -fsanitize=${WAFERVP_SANITIZE})
endif()
if(WAFERVP_COVERAGE)
  target_compile_options(wafervp_options INTERFACE --coverage -O0)
  target_link_options(wafervp_options INTERFACE --coverage)
endif()
