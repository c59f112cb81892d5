#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "core/tensor/cast.h"
#include "core/train/graphs.h"
#include "core/train/untie.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/in_double.h"
#include "tests/support/paths.h"
#include "tests/support/testdata.h"

namespace mlopt::test {
namespace {

/// What is stored of a gradient: its norm, its sum, and its product with cos(0), cos(1), ...
struct Figures {
  double norm = 0, sum = 0, waves = 0;
};

struct Golden {
  double loss = 0;
  std::map<std::string, Figures> gradients;
};

/// By model. See torch_gradients.py.
std::map<std::string, Golden> read_golden() {
  std::map<std::string, Golden> all;
  std::ifstream file(source_dir() / "tests/core/train/torch_gradients.txt");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string model, name;
    words >> model >> name;
    if (Figures f; name == "loss")
      words >> all[model].loss;
    else if (words >> f.norm >> f.sum >> f.waves)
      all[model].gradients[name] = f;
  }
  return all;
}

Figures figures_of(const Tensor& gradient) {
  Figures f;
  const std::vector<double> values = to_doubles(gradient);
  for (size_t i = 0; i < values.size(); ++i) {
    f.norm += values[i] * values[i];
    f.sum += values[i];
    f.waves += values[i] * std::cos(static_cast<double>(i));
  }
  f.norm = std::sqrt(f.norm);
  return f;
}

/// As torch_gradients.py makes them, for a batch of 2.
std::vector<Datum> inputs_of(const Model& model, const Type& labels, int64_t classes) {
  const Value* input = model.graph->inputs()[0];
  Dims dims = {2};
  for (size_t i = 1; i < input->type.dims->size(); ++i) dims.push_back(*(*input->type.dims)[i].value());
  std::vector<double> x(static_cast<size_t>(element_count(dims)));
  const bool tokens = is_integer(input->type.dtype);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = tokens ? static_cast<double>(i * 37 % 256) : std::sin(0.37 * static_cast<double>(i));
  const Dims rows = *labels.static_dims();
  std::vector<double> y(static_cast<size_t>(element_count(rows)));
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i * 3 % static_cast<size_t>(classes));
  return {tensor(dims, x, input->type.dtype), tensor(rows, y, DType::kI64)};
}

void check_model(const std::filesystem::path& path, const std::string& loss_name, const Golden& golden) {
  Model model = read_model(path.string());
  to_double(*model.graph);
  infer(model, standard_types);
  train::untie_weights(model);
  train::Recipe recipe;
  recipe.loss = train::find_loss(loss_name);
  recipe.optimizer = train::find_optimizer("sgd");
  Dims batch = {2};
  for (size_t i = 1; i < model.graph->inputs()[0]->type.dims->size(); ++i)
    batch.push_back(*(*model.graph->inputs()[0]->type.dims)[i].value());
  const train::TrainingGraphs graphs = train::make_graphs(model, {batch}, recipe, standard_types);
  CompileOptions options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  const auto outputs = reference_backend()
                           ->compile(graphs.gradients, options)
                           ->run(inputs_of(model, graphs.gradients.graph->find(graphs.labels)->type, graphs.classes));
  CHECK(to_doubles(outputs.back().tensor())[0] == Approx(golden.loss).epsilon(1e-9));
  REQUIRE(graphs.parameters.size() == golden.gradients.size());
  for (const auto& [name, expected] : golden.gradients) {
    INFO(name);
    const Figures found = figures_of(graphs.state->at(name + "/gradient"));
    const double scale = 1e-6 * expected.norm * std::sqrt(static_cast<double>(graphs.state->at(name).size()));
    CHECK(found.norm == Approx(expected.norm).epsilon(1e-6));
    CHECK(std::fabs(found.sum - expected.sum) <= scale);
    CHECK(std::fabs(found.waves - expected.waves) <= scale);
  }
}

}  // namespace

TEST_CASE("gradients of trained networks are those of PyTorch") {
  const auto folder = testdata();
  if (!folder) return skip("no test models");
  const std::map<std::string, Golden> golden = read_golden();
  REQUIRE(golden.size() == 3);
  for (const auto& [model, expected] : golden) {
    INFO(model);
    check_model(*folder / "models/trained" / (model + ".onnx"), model == "char_gpt" ? "next-token" : "cross-entropy",
                expected);
  }
}

}  // namespace mlopt::test
