#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/graph.h"

namespace mlopt {

struct OpsetImport {
  std::string domain;  ///< "" for ai.onnx
  int64_t version = 0;
};

/// The imported version of a domain ("" and "ai.onnx" are one); 0 when not imported.
int64_t opset_in(const std::vector<OpsetImport>& opsets, std::string_view domain = "");

/// A local function: a body over its inputs, outputs and attributes.
struct Function {
  std::string domain, name, overload, doc;
  std::vector<std::string> attributes;  ///< without default
  std::vector<Attr> attribute_defaults;
  std::vector<OpsetImport> opsets;
  std::shared_ptr<Graph> body;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string unknown_fields;
};

/// A model file: the main graph and everything around it, kept and written back. Move-only.
struct Model {
  int64_t ir_version = 0;
  std::vector<OpsetImport> opsets;
  std::string producer_name, producer_version, domain, doc;
  int64_t model_version = 0;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<Function> functions;
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::string unknown_fields;               ///< of the ModelProto (training info, device configuration, newer fields)
  std::string path;                         ///< where it was read; "" when built in memory
  int64_t file_bytes = 0;                   ///< of the model file and its external data files
  std::vector<std::string> external_files;  ///< names relative to the model, each once
  bool sparse = false;                      ///< came with sparse_initializer; is written so where that takes less room
  std::vector<std::string> mended;  ///< what was wrong in the file and put right by reading it, one sentence each

  int64_t opset(std::string_view domain = "") const;  ///< see opset_in()
  void set_opset(std::string_view domain, int64_t version);
};

/// A deep copy; tensors share their bytes.
std::unique_ptr<Graph> clone(const Graph& graph);
Model clone(const Model& model);

}  // namespace mlopt
