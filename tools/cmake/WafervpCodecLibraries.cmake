# SPDX-License-Identifier: Apache-2.0
# wafervp_eigen, wafervp_zfp: the libraries of the codecs, for the files that use them (PRIVATE, not in the package).
find_package(Eigen3 3.4 QUIET NO_MODULE)
if(NOT TARGET Eigen3::Eigen)
  message(FATAL_ERROR "Eigen 3.4 was not found. On Debian: apt-get install libeigen3-dev")
endif()
add_library(wafervp_eigen INTERFACE)
target_link_libraries(wafervp_eigen INTERFACE Eigen3::Eigen)
# By default Eigen asks the processor for the size of its caches and cuts products to fit, which changes the order of
# sums from machine to machine.
target_compile_definitions(wafervp_eigen INTERFACE EIGEN_NO_CPUID EIGEN_DONT_PARALLELIZE EIGEN_MPL2_ONLY)

# Not through zfp's own package, which asks every user for OpenMP.
find_path(WAFERVP_ZFP_INCLUDE zfp.h DOC "Folder of zfp.h")
find_library(WAFERVP_ZFP_LIBRARY zfp DOC "libzfp")
mark_as_advanced(WAFERVP_ZFP_INCLUDE WAFERVP_ZFP_LIBRARY)
if(NOT WAFERVP_ZFP_INCLUDE OR NOT WAFERVP_ZFP_LIBRARY)
  message(FATAL_ERROR "zfp was not found (zfp.h: ${WAFERVP_ZFP_INCLUDE}, libzfp: ${WAFERVP_ZFP_LIBRARY}). "
    "On Debian: apt-get install libzfp-dev")
endif()
