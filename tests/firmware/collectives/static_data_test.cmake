# SPDX-License-Identifier: Apache-2.0
# Fails when a library has writable static data or a symbol from outside that freestanding code may not need.
# cmake -DNM=nm -DLIBRARY=libx.a -P static_data_test.cmake
execute_process(COMMAND ${NM} ${LIBRARY} OUTPUT_VARIABLE symbols RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${NM} ${LIBRARY} failed")
endif()
string(REPLACE "\n" ";" symbols "${symbols}")
foreach(line ${symbols})
  if(line MATCHES " [bBdDcCsSgG] ")
    message(FATAL_ERROR "writable static data: ${line}")
  elseif(line MATCHES " U " AND NOT line MATCHES " U (wvp_.*|memcpy|memset|memmove)$")
    message(FATAL_ERROR "not freestanding: ${line}")
  endif()
endforeach()
