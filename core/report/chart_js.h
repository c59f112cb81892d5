#pragma once
#include <string_view>

namespace mlopt {

/// The library Chart.js, a script that defines `Chart`; it is generated, see cmake/chart_js.cmake.
std::string_view chart_js();

}  // namespace mlopt
