# Called by chart_js.cmake: the bytes of INPUT as a function of OUTPUT.

file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "core/report/chart_js.h"

namespace mlopt {

std::string_view chart_js() {
  static constexpr char kBytes[] = {
@bytes@
  };
  return {kBytes, sizeof kBytes};
}

}  // namespace mlopt
]] @ONLY)
