#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// Added up where they were taken from.
std::vector<Value*> gather(GradArgs& a) {
  const int64_t axis = a.axis(a.view.get_int("axis", 0));
  return {a.own("GatherGrad", {a.in(1), a.grad()}, {{"axis", axis, {}}, {"shape", a.dims(a.in(0)), {}}}, a.in(0))};
}

std::vector<Value*> gather_elements(GradArgs& a) {
  return {a.op("ScatterElements", {a.zeros(a.in(0)), a.in(1), a.grad()},
               {{"axis", a.axis(a.view.get_int("axis", 0)), {}}, {"reduction", std::string("add"), {}}})};
}

std::vector<Value*> gather_nd(GradArgs& a) {
  if (a.view.get_int("batch_dims", 0) != 0) a.refuse("batch_dims is not 0");
  return {a.op("ScatterND", {a.zeros(a.in(0)), a.in(1), a.grad()}, {{"reduction", std::string("add"), {}}})};
}

/// What is written over has no gradient; what is added to keeps it.
bool adds(GradArgs& a) {
  const std::string reduction = a.view.get_string("reduction", "none");
  if (reduction != "none" && reduction != "add") a.refuse("reduction is '" + reduction + "'");
  return reduction == "add";
}

/// Of updates that write to one place, of which the last stays, each gets the gradient: which is last is not defined.
std::vector<Value*> scatter_elements(GradArgs& a) {
  const std::vector<Attr> axis = {{"axis", a.axis(a.view.get_int("axis", 0)), {}}};
  std::vector<Value*> grads(3);
  grads[0] = adds(a) ? a.grad() : a.op("ScatterElements", {a.grad(), a.in(1), a.zeros(a.in(2))}, axis);
  if (a.needs(2)) grads[2] = a.op("GatherElements", {a.grad(), a.in(1)}, axis);
  return grads;
}

std::vector<Value*> scatter_nd(GradArgs& a) {
  std::vector<Value*> grads(3);
  grads[0] = adds(a) ? a.grad() : a.op("ScatterND", {a.grad(), a.in(1), a.zeros(a.in(2))});
  if (a.needs(2)) grads[2] = a.op("GatherND", {a.grad(), a.in(1)});
  return grads;
}

std::vector<Value*> top_k(GradArgs& a) {
  if (!a.grad()) return {};
  return {a.op("ScatterElements", {a.zeros(a.in(0)), a.out(1), a.grad()},
               {{"axis", a.axis(a.view.get_int("axis", -1)), {}}})};
}

constexpr GradRule kRules[] = {
    {"Gather", gather},        {"GatherElements", gather_elements},
    {"GatherND", gather_nd},   {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd}, {"TopK", top_k},
};

}  // namespace

std::span<const GradRule> gather_rules() { return kRules; }

}  // namespace mlopt::autodiff
