#include "core/calib/calibration_file.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/ir/dump.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

constexpr std::string_view kLimits = ".limits", kCounts = ".counts", kSamples = "samples";

void add(Hash& hash, std::string_view text) {
  const uint64_t size = text.size();
  hash.add(std::as_bytes(std::span(&size, 1)));
  hash.add(std::as_bytes(std::span(text)));
}

void add(Hash& hash, const Tensor& tensor) {
  add(hash, name(tensor.dtype()));
  for (const int64_t d : tensor.dims()) hash.add(std::as_bytes(std::span(&d, 1)));
  if (tensor.dtype() != DType::kString) hash.add({tensor.raw(), tensor.bytes()});
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
  for (const Value* v : model.graph->initializers()) add(hash, *v->constant);
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
  const auto samples = by_name.find(kSamples);
  if (samples == by_name.end() || !is_of(*samples->second, DType::kI64, 1)) return std::nullopt;
  Calibration found;
  found.samples = samples->second->data<int64_t>()[0];
  for (const auto& [name, limits] : by_name) {
    if (!name.ends_with(kLimits)) continue;
    const std::string value = name.substr(0, name.size() - kLimits.size());
    const auto counts = by_name.find(value + std::string(kCounts));
    if (counts == by_name.end() || !is_of(*limits, DType::kF64, Histogram::kLimits) ||
        !is_of(*counts->second, DType::kI64, Histogram::kCounts))
      return std::nullopt;
    found.values.emplace(value, Histogram(limits->span<double>(), counts->second->span<int64_t>()));
  }
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
