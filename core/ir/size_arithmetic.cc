#include "core/ir/size_arithmetic.h"

#include <algorithm>
#include <string>

#include "core/base/checked.h"
#include "core/ir/infer_types.h"

namespace mlopt::infer_rules {

bool never_negative(const Dim& d) {
  if (!d.known()) return false;
  if (const auto v = d.value()) return *v >= 0;
  return d.str().find('-') == std::string::npos;
}

namespace {

Dim equal(const Dim& a, const Dim& b) {
  if (a == b) return 1;
  if (a.value() && b.value()) return 0;
  const auto negative = [](const Dim& d) { return d.value() && *d.value() < 0; };
  if ((negative(a) && never_negative(b)) || (negative(b) && never_negative(a))) return 0;
  return {};
}

}  // namespace

Dim combine(std::string_view op, const Dim& a, const Dim& b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Equal") return equal(a, b);
  if ((op == "Min" || op == "Max") && a == b) return a;
  const auto x = a.value(), y = b.value();
  if (op == "Max" && x && *x <= 0 && never_negative(b)) return b;
  if (op == "Max" && y && *y <= 0 && never_negative(a)) return a;
  if (op == "And" && (x == 0 || y == 0)) return 0;
  if (op == "Or" && (x.value_or(0) != 0 || y.value_or(0) != 0)) return 1;
  // What two sizes were broadcast to, unless it is empty: how tf2onnx computes that.
  if (op == "Max" && !x && !y && is_choice_of(a, b)) return b;
  if (op == "Max" && !x && !y && is_choice_of(b, a)) return a;
  if (op == "Div") {
    if (x && y) {
      const auto quotient = checked_div(*x, *y);
      return quotient ? Dim(*quotient) : Dim();
    }
    return never_negative(a) ? Dim::floor_divide(a, b) : Dim();
  }
  if (!x || !y) return {};
  if (op == "Mod") return *x >= 0 && *y > 0 ? Dim(*x % *y) : Dim();
  if (op == "Min") return std::min(*x, *y);
  if (op == "Max") return std::max(*x, *y);
  if (op == "Less") return *x < *y;
  if (op == "LessOrEqual") return *x <= *y;
  if (op == "Greater") return *x > *y;
  if (op == "GreaterOrEqual") return *x >= *y;
  if (op == "And") return *x != 0 && *y != 0;
  if (op == "Or") return *x != 0 || *y != 0;
  return {};
}

}  // namespace mlopt::infer_rules
