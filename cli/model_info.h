#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/data/random.h"
#include "core/ir/model.h"
#include "core/report/report.h"

namespace mlopt::cli {

/// Constants of one element type.
struct TypeSize {
  int64_t tensors = 0, elements = 0, bytes = 0;
};

/// The figures of a model that cost no look at its weights.
struct ModelInfo {
  std::string path;
  int64_t file_bytes = 0;                    ///< external data included
  int64_t nodes = 0;                         ///< nested bodies included, function bodies not
  int64_t parameters = 0;                    ///< elements of all constants
  std::map<std::string, int64_t> operators;  ///< "Conv", "com.microsoft.Gelu": as often as they occur
  std::map<std::string, TypeSize> sizes;     ///< by element type
};
ModelInfo model_info(const Model& model);
/// Size, nodes, parameters, operators, sizes by type.
Json to_json(const ModelInfo& info);

/// Inputs that a caller must give; initializers that are listed as inputs are defaults.
std::vector<Value*> required_inputs(const Graph& graph);

/// What a run costs at the sizes that `shapes` gives to free dimensions (1 where it says nothing).
struct RunCost {
  int64_t macs = 0, activation_bytes = 0;
  int64_t unknown_nodes = 0, unknown_values = 0;             ///< left out because their shapes are not known
  std::vector<std::pair<std::string, std::string>> assumed;  ///< inputs with free dimensions and the shapes they got
};
RunCost run_cost(const Model& model, const RandomOptions& shapes);

/// All that `info` writes but for the weights' values: also `.source` and `.result` of the verbs.
Json full_json(const Model& model, const ModelInfo& info, const RunCost& cost);

}  // namespace mlopt::cli
