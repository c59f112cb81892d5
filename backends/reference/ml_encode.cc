#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"

namespace mlopt::reference {
namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

/// Where each element of `data` stands in the list `keys` (the first of equals; NaN equals NaN), or -1. Both are
/// strings or both are numbers.
std::vector<int64_t> places_in(const Call& call, const Tensor& data, const Tensor& keys) {
  std::vector<int64_t> places;
  const auto look_up = [&](auto map, const auto& listed, const auto& wanted) {
    for (size_t i = 0; i < listed.size(); ++i) map.emplace(listed[i], static_cast<int64_t>(i));
    for (const auto& key : wanted) {
      const auto found = map.find(key);
      places.push_back(found == map.end() ? -1 : found->second);
    }
  };
  require(call, (data.dtype() == DType::kString) == (keys.dtype() == DType::kString),
          "the input and the keys have different types");
  if (data.dtype() == DType::kString)
    look_up(std::unordered_map<std::string, int64_t>(), keys.strings(), data.strings());
  else if (is_integer(data.dtype()) && is_integer(keys.dtype()))
    look_up(std::unordered_map<int64_t, int64_t>(), to_ints(keys), to_ints(data));
  else {
    const auto less = [](double a, double b) { return a < b || (std::isnan(a) && !std::isnan(b)); };
    look_up(std::map<double, int64_t, decltype(less)>(less), to_doubles(keys), to_doubles(data));
  }
  return places;
}

Tensor list_of(std::vector<std::string> texts) {
  const auto count = static_cast<int64_t>(texts.size());
  return Tensor::of_strings({count}, std::move(texts));
}
Tensor list_of(const std::vector<float>& values) { return Tensor::of({static_cast<int64_t>(values.size())}, values); }

/// Element places[i] of `values`, or `otherwise` where that is -1.
Tensor picked(const Call& call, const Tensor& values, const Tensor& otherwise, std::span<const int64_t> places,
              Dims dims) {
  require(call, otherwise.size() == 1 && otherwise.dtype() == values.dtype(),
          "the default must be one element of the values' type");
  ElementCodec codec(values.dtype());
  const Tensor from = codec.open(values), rest = codec.open(otherwise);
  Tensor out = codec.blank(std::move(dims));
  std::byte* to = out.mutable_raw();
  for (const int64_t place : places) {
    require(call, place < values.size(), "there are fewer values than keys");
    to = std::copy_n(place < 0 ? rest.raw() : from.raw() + static_cast<size_t>(place) * codec.width(), codec.width(),
                     to);
  }
  return codec.close(std::move(out));
}

/// The list under one of the names base_tensor, base_strings, base_int64s and base_floats.
Tensor listed(const Call& call, const std::string& base) {
  const NodeView& view = call.view;
  if (const Tensor* tensor = view.get_tensor(base + "_tensor")) return tensor->aligned();
  if (view.has(base + "_strings")) return list_of(view.get_strings(base + "_strings"));
  if (view.has(base + "_int64s")) return Tensor::ints(view.get_ints(base + "_int64s"));
  if (view.has(base + "_floats")) return list_of(view.get_floats(base + "_floats"));
  fail(call, fmt::format("attribute '{}_*' is missing", base));
}

/// What stands for unknown keys, in the type of the values.
Tensor default_value(const Call& call, DType type) {
  const NodeView& view = call.view;
  if (const Tensor* tensor = view.get_tensor("default_tensor")) return tensor->aligned();
  if (type == DType::kString) return list_of(std::vector<std::string>{view.get_string("default_string", "_Unused")});
  if (is_integer(type)) return as(Tensor::ints({view.get_int("default_int64", -1)}), type);
  return as(Tensor::scalar(view.get_float("default_float", -0.0F)), type);
}

void label_encoder(Call& call) {
  const Tensor& data = call.in(0);
  Tensor keys, values;
  if (call.view.has("classes_strings")) {  // version 1: names to their places, or back
    const Tensor names = list_of(call.view.get_strings("classes_strings"));
    Tensor numbers(DType::kI64, names.dims());
    for (int64_t i = 0; i < names.size(); ++i) numbers.mutable_data<int64_t>()[i] = i;
    keys = data.dtype() == DType::kString ? names : numbers;
    values = data.dtype() == DType::kString ? numbers : names;
  } else {
    keys = listed(call, "keys");
    values = listed(call, "values");
  }
  require(call, keys.size() == values.size(), "there must be one value for each key");
  call.set(0, picked(call, values, default_value(call, values.dtype()), places_in(call, data, keys), data.dims()));
}

void category_mapper(Call& call) {
  const Tensor& data = call.in(0);
  const Tensor names = list_of(call.view.get_strings("cats_strings")),
               numbers = Tensor::ints(call.view.get_ints("cats_int64s"));
  require(call, names.size() == numbers.size(), "cats_strings and cats_int64s have different lengths");
  const bool from_names = data.dtype() == DType::kString;
  const Tensor& values = from_names ? numbers : names;
  const std::vector<int64_t> places = places_in(call, data, from_names ? names : numbers);
  call.set(0, picked(call, values, default_value(call, values.dtype()), places, data.dims()));
}

void one_hot_encoder(Call& call) {
  const Tensor& data = call.in(0);
  const bool names = call.view.has("cats_strings") && !call.view.get_strings("cats_strings").empty();
  const Tensor keys =
      names ? list_of(call.view.get_strings("cats_strings")) : Tensor::ints(call.view.get_ints("cats_int64s"));
  require(call, keys.size() > 0, "there are no categories");
  const Tensor looked_up = names ? data : as(data, DType::kI64);
  Dims dims = data.dims();
  dims.push_back(keys.size());
  Tensor out = Tensor::zeros(DType::kF32, std::move(dims));
  float* row = out.mutable_data<float>();
  const bool unknown_is_zeros = call.view.get_int("zeros", 1) != 0;
  for (const int64_t place : places_in(call, looked_up, keys)) {
    require(call, place >= 0 || unknown_is_zeros, "an element is in none of the categories");
    if (place >= 0) row[place] = 1;
    row += keys.size();
  }
  call.set(0, std::move(out));
}

void imputer(Call& call) {
  const Tensor& data = call.in(0);
  const NodeView& view = call.view;
  const bool floats = is_float(data.dtype());
  const Tensor fill = as(
      floats ? list_of(view.get_floats("imputed_value_floats")) : Tensor::ints(view.get_ints("imputed_value_int64s")),
      data.dtype());
  require(call, data.rank() >= 1 && fill.size() > 0, "there is nothing to fill in");
  const int64_t width = data.dim(data.rank() - 1);
  require(call, fill.size() == 1 || fill.size() == width, "there must be one value or one for each feature");
  const Tensor missing = floats ? Tensor::scalar(view.get_float("replaced_value_float", 0))
                                : Tensor::scalar(view.get_int("replaced_value_int64", 0));
  std::vector<int64_t> places = places_in(call, data, missing);
  ElementCodec codec(data.dtype());
  Tensor out = codec.open(data);
  std::byte* cell = out.mutable_raw();
  for (size_t i = 0; i < places.size(); ++i, cell += codec.width()) {
    const size_t from = fill.size() == 1 ? 0 : i % static_cast<size_t>(width);
    if (places[i] >= 0) std::copy_n(fill.raw() + from * codec.width(), codec.width(), cell);
  }
  call.set(0, codec.close(std::move(out)));
}

void array_feature_extractor(Call& call) {
  const Tensor &data = call.in(0), &wanted = call.in(1);
  require(call, data.rank() >= 1, "the input must have an axis");
  const int64_t width = data.dim(data.rank() - 1);
  std::vector<int64_t> columns = to_ints(wanted);
  for (const int64_t column : columns) require(call, column >= 0 && column < width, "a column is outside the input");
  std::vector<std::vector<int64_t>> maps(
      2, std::vector<int64_t>(width > 0 ? static_cast<size_t>(data.size() / width) : 0));
  for (size_t i = 0; i < maps[0].size(); ++i) maps[0][i] = static_cast<int64_t>(i);
  maps[1] = columns;
  Dims dims = data.dims();
  dims.back() = wanted.size();
  if (data.rank() == 1) dims.insert(dims.begin(), 1);
  ElementCodec codec(data.dtype());
  const Tensor rows = codec.open(data).reshaped({static_cast<int64_t>(maps[0].size()), width});
  call.set(0, codec.close(gather_mapped(codec, rows, maps)).reshaped(std::move(dims)));
}

constexpr Kernel kKernels[] = {
    {kDomain, "LabelEncoder", label_encoder},
    {kDomain, "CategoryMapper", category_mapper},
    {kDomain, "OneHotEncoder", one_hot_encoder},
    {kDomain, "Imputer", imputer},
    {kDomain, "ArrayFeatureExtractor", array_feature_extractor},
};

}  // namespace

std::span<const Kernel> ml_encode_kernels() { return kKernels; }

}  // namespace mlopt::reference
