#include <algorithm>

#include "prune/structure/propagate.h"

namespace mlopt::prune {
namespace {

/// An axis as a part of the row-major order of a regrouping.
struct Part {
  int axis = 0;
  int64_t size = 0;
  int64_t stride = 0;
};

/// The axes after which all are known integers; those before them cannot be followed.
std::vector<Part> parts_of(const Value& v, const std::vector<int>& axes) {
  std::vector<Part> parts;
  int64_t stride = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const auto size = (*v.type.dims)[static_cast<size_t>(*axis)].value();
    if (!size || *size < 1) break;
    parts.push_back({*axis, *size, stride});
    stride *= *size;
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

class Settler {
 public:
  Settler(Relations& all, SplitBy split) : all_(all), split_(split) {}

  void run() {
    std::vector<const Regrouping*> open;
    for (const Regrouping& r : all_.regroupings) open.push_back(&r);
    while (!open.empty()) {
      // Those that leave no choice first: what they pin decides others.
      const auto clear = std::find_if(open.begin(), open.end(), [&](const Regrouping* r) { return choices(*r) <= 1; });
      const auto next = clear == open.end() ? open.begin() : clear;
      settle(**next);
      open.erase(next);
    }
  }

 private:
  std::vector<Part> free_parts(const Value& v, const std::vector<int>& axes) {
    std::vector<Part> parts = parts_of(v, axes);
    std::erase_if(parts, [&](const Part& p) {
      const auto axis = all_.atoms.axis(v, p.axis, nullptr);
      return !axis || all_.atoms.all_pinned(*axis);
    });
    return parts;
  }

  size_t choices(const Regrouping& r) {
    return std::max(free_parts(*r.x, r.x_axes).size(), free_parts(*r.y, r.y_axes).size());
  }

  void settle(const Regrouping& r) {
    const std::vector<Part> x = free_parts(*r.x, r.x_axes), y = free_parts(*r.y, r.y_axes);
    const Part *from = chosen(x), *to = chosen(y);
    const bool tied = from && to && tie(r, *from, *to);
    const std::string why = r.node->label() + ": it regroups this axis with others";
    pin_others(*r.x, r.x_axes, tied ? from : nullptr, why);
    pin_others(*r.y, r.y_axes, tied ? to : nullptr, why);
  }

  const Part* chosen(const std::vector<Part>& parts) const {
    if (parts.empty()) return nullptr;
    return split_ == SplitBy::kOuter ? &parts.front() : &parts.back();
  }

  /// Element i of the axis that covers more is the element of the other that its place in the order falls into.
  bool tie(const Regrouping& r, const Part& x, const Part& y) {
    const auto covers = [](const Part& a, const Part& b) {
      return b.stride % a.stride == 0 && (a.stride * a.size) % (b.stride * b.size) == 0;
    };
    const size_t x_axis = *all_.atoms.axis(*r.x, x.axis, r.node), y_axis = *all_.atoms.axis(*r.y, y.axis, r.node);
    if (covers(x, y)) {
      for (int64_t i = 0; i < x.size; ++i) all_.atoms.tie(x_axis, i, y_axis, i / (y.stride / x.stride) % y.size);
      return true;
    }
    if (!covers(y, x)) return false;
    for (int64_t i = 0; i < y.size; ++i) all_.atoms.tie(y_axis, i, x_axis, i / (x.stride / y.stride) % x.size);
    return true;
  }

  void pin_others(const Value& v, const std::vector<int>& axes, const Part* except, const std::string& why) {
    for (const int a : axes)
      if (!except || a != except->axis)
        if (const auto axis = all_.atoms.axis(v, a, nullptr)) all_.atoms.pin_all(*axis, why);
  }

  Relations& all_;
  SplitBy split_;
};

}  // namespace

void settle_regroupings(Relations& all, SplitBy split) { Settler(all, split).run(); }

}  // namespace mlopt::prune
