#pragma once
#include <string>

#include "core/ir/infer.h"

namespace mlopt::test {

/// The type inferred for value `name` of a graph with these inputs ("float[N,4] x, bool c") and nodes, in ONNX's text
/// form. `constants` are initializers: "int64[2] s = {1, 2}".
std::string types_in(const std::string& inputs, const std::string& nodes, const std::string& name, int opset = 21,
                     TypeRule standard = nullptr, const std::string& constants = "");
/// What ONNX's own inference gives for it; the graph has one node.
std::string standard_type_in(const std::string& inputs, const std::string& nodes, const std::string& name, int opset,
                             const std::string& constants = "");
/// The elements inferred for it, as "[N,2]"; "-" where they are not known.
std::string elements_in(const std::string& inputs, const std::string& nodes, const std::string& name,
                        const std::string& constants = "");

}  // namespace mlopt::test
