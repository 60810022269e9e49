# SPDX-License-Identifier: Apache-2.0
# wafervp_systemc: SystemC and TLM as one target. Debian's SystemC ships pkg-config files only, and its library
# links with the C++ standard that it was built for: that is checked here, with a message that says so, and not
# left to an undefined symbol at the end of the build.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC QUIET IMPORTED_TARGET systemc)
if(NOT SYSTEMC_FOUND)
  message(FATAL_ERROR "SystemC was not found through pkg-config. On Debian: apt-get install libsystemc-dev")
endif()

include(CheckCXXSourceCompiles)
function(wafervp_check_systemc standard result)
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::SYSTEMC)
  set(CMAKE_CXX_STANDARD ${standard})
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("#include <systemc>
int sc_main(int, char**) { return 0; }
int main() { sc_core::sc_time t; return t.value() == 0 ? 0 : 1; }" ${result})
endfunction()

wafervp_check_systemc(${wafervp_cxx_standard} WAFERVP_SYSTEMC_LINKS)
if(NOT WAFERVP_SYSTEMC_LINKS)
  set(found "none that was tried (11, 14, 20)")
  foreach(standard 11 14 20)
    wafervp_check_systemc(${standard} WAFERVP_SYSTEMC_LINKS_CXX${standard})
    if(WAFERVP_SYSTEMC_LINKS_CXX${standard})
      set(found "C++${standard}")
      break()
    endif()
  endforeach()
  # Another library may be named at the next configuration: it is to be checked anew.
  unset(WAFERVP_SYSTEMC_LINKS CACHE)
  unset(__pkg_config_checked_SYSTEMC CACHE)
  foreach(standard 11 14 20)
    unset(WAFERVP_SYSTEMC_LINKS_CXX${standard} CACHE)
  endforeach()
  message(FATAL_ERROR "The SystemC ${SYSTEMC_VERSION} library that pkg-config names (${SYSTEMC_LIBRARY_DIRS} "
    "${SYSTEMC_LINK_LIBRARIES}) does not link with C++17; the standard that it links with: ${found}. "
    "WaferVP needs a SystemC built with CMAKE_CXX_STANDARD=17, as Debian's libsystemc-dev is.")
endif()

add_library(wafervp_systemc INTERFACE)
target_link_libraries(wafervp_systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_features(wafervp_systemc INTERFACE cxx_std_${wafervp_cxx_standard})

# Nothing but a carrier of the precompiled header, which its users share (see WafervpTargets.cmake).
if(WAFERVP_PCH)
  file(WRITE ${PROJECT_BINARY_DIR}/wafervp_pch.cpp "")
  add_library(wafervp_pch OBJECT ${PROJECT_BINARY_DIR}/wafervp_pch.cpp)
  target_link_libraries(wafervp_pch PRIVATE wafervp_systemc wafervp_options)
  target_precompile_headers(wafervp_pch PRIVATE <systemc> <tlm>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(wafervp_pch PUBLIC -fpch-preprocess)  # asked for by ccache
  endif()
endif()
