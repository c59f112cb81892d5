#include <fmt/core.h>

#include <algorithm>

#include "backends/reference/kernels.h"
#include "backends/reference/ml_scores.h"

namespace mlopt::reference {
namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

const Datum& map_in(const Call& call, int i) {
  const Datum& map = call.datum(i);
  if (map.kind() != Datum::Kind::kMap) fail(call, fmt::format("input {} is not a map", i));
  return map;
}

/// A row of scores for each sample becomes a map from class to score.
void zip_map(Call& call) {
  const Tensor& data = call.in(0);
  require(call, data.rank() == 1 || data.rank() == 2, "the scores must be a list or a matrix");
  if (!is_float(data.dtype())) wrong_type(call, data.dtype());
  const ClassLabels labels = class_labels(call, "classlabels_int64s", "classlabels_strings");
  const auto width = static_cast<int64_t>(labels.size());
  require(call, width > 0 && data.dim(data.rank() - 1) == width, "there must be one label for each score");
  std::vector<int64_t> all;
  for (int64_t c = 0; c < width; ++c) all.push_back(c);
  const Tensor keys = labels.picked(call, all);
  const std::vector<float> scores = to_floats(data);
  std::vector<Datum> maps;
  for (size_t row = 0; row < scores.size(); row += static_cast<size_t>(width)) {
    std::vector<Datum> values;
    for (size_t c = row; c < row + static_cast<size_t>(width); ++c) values.emplace_back(Tensor::scalar(scores[c]));
    maps.push_back(Datum::map(keys, std::move(values)));
  }
  call.set(0, Datum::sequence(std::move(maps)));
}

/// The values of the keys in the vocabulary, in its order; 0 or "" for the others.
void dict_vectorizer(Call& call) {
  const Datum& map = map_in(call, 0);
  const ClassLabels words = class_labels(call, "int64_vocabulary", "string_vocabulary");
  const bool texts = map.keys().dtype() == DType::kString;
  require(call, texts ? words.ints.empty() : words.strings.empty(),
          "the map's keys and the vocabulary have different types");
  const std::vector<int64_t> numbers = texts ? std::vector<int64_t>{} : to_ints(map.keys());
  const auto find = [](const auto& list, const auto& key) {
    return std::find(list.begin(), list.end(), key) - list.begin();
  };
  const std::vector<Datum>& values = map.items();
  const bool of_texts = !values.empty() && values[0].tensor().dtype() == DType::kString;
  std::vector<std::string> strings;
  std::vector<double> cells;
  for (size_t w = 0; w < words.size(); ++w) {
    const auto place =
        static_cast<size_t>(texts ? find(map.keys().strings(), words.strings[w]) : find(numbers, words.ints[w]));
    const bool known = place < values.size();
    if (of_texts)
      strings.push_back(known ? values[place].tensor().strings().at(0) : "");
    else
      cells.push_back(known ? number_at(values[place].tensor(), 0) : 0);
  }
  const Dims dims{1, static_cast<int64_t>(words.size())};
  if (of_texts)
    call.set(0, Tensor::of_strings(dims, std::move(strings)));
  else
    call.set(0, as(Tensor::of(dims, cells), values.empty() ? DType::kF32 : values[0].tensor().dtype()));
}

/// A map with integer keys as a row: the values in the order of the keys, or each at the place that its key names.
void cast_map(Call& call) {
  const Datum& map = map_in(call, 0);
  const std::string form = call.view.get_string("map_form", "DENSE"), to = call.view.get_string("cast_to", "TO_FLOAT");
  require(call, form == "DENSE" || form == "SPARSE", "map_form must be DENSE or SPARSE");
  require(call, to == "TO_FLOAT" || to == "TO_INT64" || to == "TO_STRING",
          "cast_to must be TO_FLOAT, TO_INT64 or TO_STRING");
  const DType type = to == "TO_FLOAT" ? DType::kF32 : to == "TO_INT64" ? DType::kI64 : DType::kString;
  const std::vector<int64_t> keys = to_ints(map.keys());
  std::vector<size_t> order(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  const int64_t width = form == "DENSE" ? static_cast<int64_t>(keys.size()) : call.view.get_int("max_map", 1);
  Tensor out = type == DType::kString ? Tensor(type, {1, width}) : Tensor::zeros(type, {1, width});
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t place = form == "DENSE" ? static_cast<int64_t>(i) : keys[order[i]];
    if (place < 0 || place >= width) continue;
    const Tensor value = cast(map.items()[order[i]].tensor(), type);
    require(call, value.size() == 1, "a value of the map is no single element");
    if (type == DType::kString)
      out.mutable_strings()[static_cast<size_t>(place)] = value.strings()[0];
    else if (type == DType::kI64)
      out.mutable_data<int64_t>()[place] = *value.data<int64_t>();
    else
      out.mutable_data<float>()[place] = *value.data<float>();
  }
  call.set(0, std::move(out));
}

/// The columns of all inputs side by side; each input is cut or filled with zeros to its length in inputdimensions.
void feature_vectorizer(Call& call) {
  std::vector<Rows> inputs;
  std::vector<int64_t> widths = call.view.get_ints("inputdimensions");
  for (int i = 0; i < call.input_count(); ++i) inputs.push_back(feature_rows(call, i));
  if (widths.empty())
    for (const Rows& rows : inputs) widths.push_back(rows.width);
  require(call, !inputs.empty() && widths.size() == inputs.size(),
          "inputdimensions must have one number for each input");
  int64_t total = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    require(call, widths[i] >= 0 && widths[i] < (1 << 30) && inputs[i].count == inputs[0].count,
            "the inputs do not fit");
    total += widths[i];
  }
  Rows out = make_rows(inputs[0].count, total);
  for (int64_t n = 0; n < out.count; ++n) {
    auto cell = out.row(n).begin();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::span<const double> row = inputs[i].row(n);
      std::copy_n(row.begin(), std::min(widths[i], inputs[i].width), cell);
      cell += widths[i];
    }
  }
  set_rows(call, 0, out);
}

constexpr Kernel kKernels[] = {
    {kDomain, "ZipMap", zip_map},
    {kDomain, "DictVectorizer", dict_vectorizer},
    {kDomain, "CastMap", cast_map},
    {kDomain, "FeatureVectorizer", feature_vectorizer},
};

}  // namespace

std::span<const Kernel> ml_map_kernels() { return kKernels; }

}  // namespace mlopt::reference
