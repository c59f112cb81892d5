#include "core/calib/calibration_file.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <variant>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/ir/dump.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

constexpr std::string_view kLimits = ".limits", kCounts = ".counts", kSamples = "samples", kValues = "values";

void add(Hash& hash, std::string_view text) {
  const uint64_t size = text.size();
  hash.add(std::as_bytes(std::span(&size, 1)));
  hash.add(std::as_bytes(std::span(text)));
}

void add(Hash& hash, const Tensor& tensor) {
  add(hash, name(tensor.dtype()));
  for (const int64_t d : tensor.dims()) hash.add(std::as_bytes(std::span(&d, 1)));
  if (tensor.dtype() != DType::kString) return hash.add({tensor.raw(), tensor.bytes()});
  for (const std::string& text : tensor.strings()) add(hash, text);
}

/// What a dump of the graph cuts short or rounds.
struct AddAttr {
  Hash& hash;

  void operator()(float v) const { hash.add(std::as_bytes(std::span(&v, 1))); }
  void operator()(const std::vector<int64_t>& v) const { hash.add(std::as_bytes(std::span(v))); }
  void operator()(const std::vector<float>& v) const { hash.add(std::as_bytes(std::span(v))); }
  void operator()(const std::vector<std::string>& v) const {
    for (const std::string& text : v) add(hash, text);
  }
  void operator()(const Tensor& v) const { add(hash, v); }
  void operator()(const std::vector<Tensor>& v) const {
    for (const Tensor& tensor : v) add(hash, tensor);
  }
  void operator()(const OpaqueAttr& v) const { add(hash, v.bytes); }
  template <class Whole>
  void operator()(const Whole&) const {}
};

void add_constants(Hash& hash, const Graph& graph) {
  for (const Value* v : graph.initializers()) add(hash, *v->constant);
}

std::string path_of(const std::string& folder, const std::string& key) {
  return (std::filesystem::path(folder) / (key + ".npz")).string();
}

bool is_of(const Tensor& tensor, DType type, int64_t size) { return tensor.dtype() == type && tensor.size() == size; }

}  // namespace

std::string calibration_key(const Model& model, const std::vector<std::string>& values, const Dataset& data,
                            std::string_view rest) {
  Hash hash;
  add(hash, rest);
  add(hash, dump(*model.graph));
  add_constants(hash, *model.graph);
  for (const Node* node : all_nodes(*model.graph)) {
    for (const Attr& attr : node->attrs) std::visit(AddAttr{hash}, attr.value);
    for (const Graph* body : node->bodies()) add_constants(hash, *body);
  }
  for (const std::string& name : values) add(hash, name);
  const int64_t step = std::max<int64_t>(1, data.batch_size());
  for (int64_t first = 0; first + step <= data.size(); first += step)
    for (const Datum& input : data.batch(first, step).inputs)
      if (input.is_tensor()) add(hash, input.tensor());
  return hash.digest();
}

NamedTensors to_arrays(const Calibration& calibration) {
  NamedTensors arrays;
  arrays.emplace_back(kSamples, Tensor::ints({calibration.samples}));
  arrays.emplace_back(kValues, Tensor::ints({std::ssize(calibration.values)}));
  for (const auto& [name, histogram] : calibration.values) {
    const std::vector<double> limits = histogram.limits();
    arrays.emplace_back(name + std::string(kLimits), Tensor::of<double>({std::ssize(limits)}, limits));
    arrays.emplace_back(name + std::string(kCounts), Tensor::ints(histogram.counts()));
  }
  return arrays;
}

std::optional<Calibration> from_arrays(const NamedTensors& arrays) {
  std::map<std::string, const Tensor*, std::less<>> by_name;
  for (const auto& [name, tensor] : arrays) by_name.emplace(name, &tensor);
  const auto number = [&](std::string_view name) {
    const auto at = by_name.find(name);
    const bool there = at != by_name.end() && is_of(*at->second, DType::kI64, 1);
    return there ? std::optional(at->second->data<int64_t>()[0]) : std::nullopt;
  };
  const auto samples = number(kSamples), values = number(kValues);
  if (!samples || !values) return std::nullopt;
  Calibration found;
  found.samples = *samples;
  for (const auto& [name, limits] : by_name) {
    if (!name.ends_with(kLimits)) continue;
    const std::string value = name.substr(0, name.size() - kLimits.size());
    const auto counts = by_name.find(value + std::string(kCounts));
    if (counts == by_name.end() || !is_of(*limits, DType::kF64, Histogram::kLimits) ||
        !is_of(*counts->second, DType::kI64, Histogram::kCounts))
      return std::nullopt;
    found.values.emplace(value, Histogram(limits->span<double>(), counts->second->span<int64_t>()));
  }
  if (std::ssize(found.values) != *values) return std::nullopt;
  return found;
}

std::optional<Calibration> load_calibration(const std::string& folder, const std::string& key) {
  const std::string path = path_of(folder, key);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  try {
    return from_arrays(read_npz(path));
  } catch (const Error& e) {
    if (e.code != Code::kBadInput) throw;
    return std::nullopt;  // cut short, or by another program
  }
}

void save_calibration(const std::string& folder, const std::string& key, const Calibration& calibration) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) input_error("the folder cannot be made: " + failed.message(), folder, "give a path that can be written");
  write_npz(path_of(folder, key), to_arrays(calibration), true);
}

}  // namespace mlopt
