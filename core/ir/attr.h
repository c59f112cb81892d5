#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/ir/type.h"
#include "core/tensor/tensor.h"

namespace mlopt {

class Graph;

/// What we do not interpret (sparse tensors, types of newer standards): its serialized form, written back unchanged.
struct OpaqueAttr {
  int kind = 0;  ///< ONNX's AttributeProto.AttributeType
  std::string bytes;
};

/// The name of an attribute of the enclosing function, resolved when the function is inlined.
struct RefAttr {
  std::string name;
  int kind = 0;  ///< ONNX's AttributeProto.AttributeType
};

using GraphPtr = std::shared_ptr<Graph>;  // shared only so that Attr can be copied; never aliased between nodes
using AttrValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                 Tensor, std::vector<Tensor>, GraphPtr, std::vector<GraphPtr>, Type, OpaqueAttr, RefAttr>;

struct Attr {
  std::string name;
  AttrValue value;
  std::string doc;
  std::string unknown_fields = {};  ///< of its message (a tensor's own name, newer fields), written back
};

}  // namespace mlopt
