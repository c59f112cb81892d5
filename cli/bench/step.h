#pragma once
#include <optional>
#include <string>

#include "core/exec/plan_info.h"
#include "core/report/json.h"

namespace mlopt::cli {

/// Null where it is not known.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// "Conv + Relu": the operators whose work a step does, the first few of many.
std::string operators_of(const StepInfo& step);
/// The end of a long name.
std::string shortened(const std::string& name);
/// The members that profiles and plans share: kernel, nodes, layout, macs, bytes; null for what is not known.
void add_step(const StepInfo& step, Json& json);

}  // namespace mlopt::cli
