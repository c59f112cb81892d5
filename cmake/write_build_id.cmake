# Called by the target mlopt_build_id; see build_id.cmake.

file(GLOB_RECURSE headers ${SOURCE}/core/*.h)
list(SORT headers)
set(digests "${TOOLS}")
foreach(header ${headers})
  file(SHA256 ${header} digest)
  string(APPEND digests " ${digest}")
endforeach()
string(SHA256 id "${digests}")
string(SUBSTRING ${id} 0 16 id)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#pragma once
#define MLOPT_VERSION "@VERSION@"
#define MLOPT_BUILD_ID "@VERSION@-@id@"
]] @ONLY)
