# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a header with a hash of all sources under ROOT, when it changes. A study is resumed only by
# a program of the same sources; a hash of the binary would differ with compiler and options.
set(patterns)
foreach(folder firmware modules platform tools)
  foreach(suffix c cpp h hpp)
    list(APPEND patterns ${ROOT}/${folder}/*.${suffix})
  endforeach()
endforeach()
file(GLOB_RECURSE files RELATIVE ${ROOT} ${patterns})
list(SORT files)
set(hashes "")
foreach(name ${files})
  file(SHA256 ${ROOT}/${name} hash)
  string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 all "${hashes}")
string(SUBSTRING ${all} 0 16 all)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Made by source_hash.cmake.\n#define WAFERVP_SOURCES \"${all}\"\n")
