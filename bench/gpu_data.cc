// Makes what scripts/gpu_check works on: gpu_data ARCHITECTURE FOLDER BATCH... [NAME=N...]
//
// An architecture is a model whose large weights point at a file that is not there. FOLDER/model.onnx gets random ones,
// normal with deviation sqrt(2 / fan-in) (He et al. 2015; tables 0.02), so that activations neither vanish nor explode,
// and FOLDER/bB random inputs for a batch of B as ONNX's test data have them. NAME=N is the size of a free dimension.
// Of a classifier of pictures, FOLDER/train.npz has 64 of these with labels.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/calib/model_inputs.h"
#include "core/data/array_file.h"
#include "core/data/random.h"
#include "core/onnx/io.h"

namespace {

namespace fs = std::filesystem;
using mlopt::Dims;
using mlopt::Model;
using mlopt::Tensor;
using mlopt::Value;

/// The architecture as it reads with zeros in the place of its weights.
Model read_with_zeros(const std::string& architecture, const fs::path& folder) {
  constexpr uintmax_t kAnySize = uintmax_t{1} << 36;  // takes no room on the disk
  const fs::path copy = folder / "architecture.onnx", zeros = folder / "weights.bin";
  fs::copy_file(architecture, copy, fs::copy_options::overwrite_existing);
  std::ofstream(zeros).close();
  fs::resize_file(zeros, kAnySize);
  Model model = mlopt::read_model(copy.string());
  fs::remove(copy);
  fs::remove(zeros);  // the map keeps what it was
  return model;
}

bool is_left_out(const Value& value) {
  constexpr size_t kSmall = 1024;  // what is smaller lies in the model file
  if (!value.is_initializer() || value.constant->dtype() != mlopt::DType::kF32) return false;
  if (value.constant->bytes() < kSmall) return false;
  const std::byte* bytes = value.constant->raw();
  return std::all_of(bytes, bytes + value.constant->bytes(), [](std::byte b) { return b == std::byte{0}; });
}

double deviation_of(const Value& value) {
  const Dims& dims = value.constant->dims();
  bool transposed = false;
  for (const mlopt::Use& use : value.uses) {
    if (use.node->is("Gather") && use.index == 0) return 0.02;
    const mlopt::Attr* attr = use.node->is("Gemm") ? use.node->attr("transB") : nullptr;
    transposed = transposed || (attr && std::get<int64_t>(attr->value) != 0);
  }
  int64_t fan_in = dims.empty() ? 1 : dims[0];
  if (dims.size() == 2 && transposed) fan_in = dims[1];
  if (dims.size() > 2) fan_in = mlopt::element_count(Dims(dims.begin() + 1, dims.end()));
  return std::sqrt(2.0 / static_cast<double>(fan_in));
}

void fill_weights(Model& model) {
  uint64_t seed = 1;
  for (Value* value : model.graph->initializers()) {
    if (!is_left_out(*value)) continue;
    mlopt::Rng rng(seed++);
    const double deviation = deviation_of(*value);
    Tensor filled(mlopt::DType::kF32, value->constant->dims());
    float* at = filled.mutable_data<float>();
    for (int64_t i = 0; i < filled.size(); ++i) at[i] = static_cast<float>(deviation * rng.normal());
    value->constant = std::move(filled);
  }
}

void write_inputs(const Model& model, const fs::path& folder, mlopt::RandomOptions options) {
  const std::vector<mlopt::InputSpec> specs = mlopt::model_inputs(model);
  const std::vector<mlopt::Datum> inputs = mlopt::random_dataset(specs, options)->batch(0, 1).inputs;
  fs::create_directories(folder);
  for (size_t k = 0; k < specs.size(); ++k) {
    const std::string path = (folder / fmt::format("input_{}.pb", k)).string();
    mlopt::write_datum(inputs[k], model.graph->find(specs[k].name)->type, specs[k].name, path);
  }
}

/// Where the model takes pictures and gives scores of classes.
void write_samples(const Model& model, const std::string& path) {
  constexpr int64_t kSamples = 64;
  const mlopt::Type &x = model.graph->inputs()[0]->type, &y = model.graph->outputs()[0]->type;
  if (x.dtype != mlopt::DType::kF32 || !x.dims || x.dims->size() != 4 || !y.dims || y.dims->size() != 2) return;
  const std::optional<int64_t> classes = y.dims->back().value();
  if (!classes) return;
  mlopt::RandomOptions options;
  options.batch = kSamples;
  const Tensor pictures = mlopt::random_dataset(mlopt::model_inputs(model), options)->batch(0, 1).inputs[0].tensor();
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < kSamples; ++i) labels.push_back(i * 7 % *classes);
  mlopt::write_npz(path, {{model.graph->inputs()[0]->name, pictures}, {"label", Tensor::ints(labels)}});
}

void make(const std::vector<std::string>& args) {
  const fs::path folder = args[1];
  fs::create_directories(folder);
  mlopt::RandomOptions options;
  std::set<int64_t> batches;
  for (size_t k = 2; k < args.size(); ++k) {
    if (const auto batch = mlopt::parse_int(args[k]))
      batches.insert(*batch);
    else
      mlopt::add_shape(options, args[k]);
  }
  Model model = read_with_zeros(args[0], folder);
  fill_weights(model);
  mlopt::write_model(model, (folder / "model.onnx").string(), {.external = true});
  for (const int64_t batch : batches) {
    options.batch = batch;
    write_inputs(model, folder / fmt::format("b{}", batch), options);
  }
  write_samples(model, (folder / "train.npz").string());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() < 3) {
    fmt::print(stderr, "usage: gpu_data ARCHITECTURE FOLDER BATCH... [NAME=N...]\n");
    return 2;
  }
  try {
    make(args);
  } catch (const mlopt::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 3;
  }
  return 0;
}
