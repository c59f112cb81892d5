#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/data/spec.h"

namespace mlopt {

/// One word that may follow a data spec's path: how it is read, how it is shown, and for which kinds of data.
struct SpecOption {
  std::string_view name;
  std::string_view takes;  ///< "S", "a:b": what stands after '='; empty: a flag
  unsigned kinds;          ///< bits 1 << DataKind
  /// False when `value` is not legal.
  bool (*set)(DataSpec& spec, std::string_view value);
  /// What stands after '='; nothing when the option is not set.
  std::optional<std::string> (*get)(const DataSpec& spec);
};

/// All options, in the order in which they are applied and printed.
std::span<const SpecOption> spec_options();

}  // namespace mlopt
