# SPDX-License-Identifier: Apache-2.0
# Debian's SystemC ships pkg-config files only and links with the C++ standard that it was built for.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC QUIET IMPORTED_TARGET systemc)
if(NOT SYSTEMC_FOUND)
  message(FATAL_ERROR "SystemC was not found through pkg-config. On Debian: apt-get install libsystemc-dev")
endif()
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::SYSTEMC)
set(CMAKE_REQUIRED_FLAGS -std=c++17)
check_cxx_source_compiles("#include <systemc>
int sc_main(int, char**) { return 0; }
int main() { sc_core::sc_time t; return t.value() == 0 ? 0 : 1; }" WAFERVP_SYSTEMC_LINKS)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT WAFERVP_SYSTEMC_LINKS)
  message(FATAL_ERROR "This SystemC does not link with C++17: it was built for another C++ standard. "
    "WaferVP needs one built with -std=c++17, as Debian's libsystemc-dev is.")
endif()
add_library(wafervp_systemc INTERFACE)
target_link_libraries(wafervp_systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_features(wafervp_systemc INTERFACE cxx_std_17)
