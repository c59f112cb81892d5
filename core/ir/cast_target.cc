#include "core/ir/cast_target.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace mlopt {

DType cast_target(const NodeView& cast) {
  if (cast.opset() >= 6) {
    const int64_t number = cast.get_int("to", 0);
    return number > 0 && number < kDTypeCount ? static_cast<DType>(number) : DType::kUndefined;
  }
  std::string name = cast.get_string("to", "");
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "float") return DType::kF32;
  if (name == "double") return DType::kF64;
  return dtype_from_name(name).value_or(DType::kUndefined);
}

}  // namespace mlopt
