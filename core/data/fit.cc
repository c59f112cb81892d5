#include "core/data/fit.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

Tensor integers(const Tensor& tensor, DType type, bool round, const std::string& where) {
  const ValueRange limits = integers_of(type);
  Tensor out(DType::kI64, tensor.dims());
  auto* to = out.mutable_data<int64_t>();
  const bool exact = !is_float(tensor.dtype());
  const std::vector<int64_t> whole = exact ? to_ints(tensor) : std::vector<int64_t>();
  const std::vector<double> numbers = exact ? std::vector<double>() : to_doubles(tensor);
  for (size_t i = 0; i < static_cast<size_t>(out.size()); ++i) {
    const bool wrapped = tensor.dtype() == DType::kU64 && whole[i] < 0;  // above what int64 holds
    const double given = wrapped ? static_cast<double>(static_cast<uint64_t>(whole[i]))
                         : exact ? static_cast<double>(whole[i])
                                 : numbers[i];
    const double value = round ? std::nearbyint(given) : given;
    const bool held = exact ? !wrapped : value < 0x1p63;
    if (!held || !(value >= limits.low && value <= limits.high) || value != std::nearbyint(value)) {
      input_error(fmt::format("the value {} is no {}, which the model takes", given, name(type)), where,
                  "give integers in range, or scale the data");
    }
    to[i] = exact ? whole[i] : static_cast<int64_t>(value);
  }
  return cast(out, type);
}

}  // namespace

ValueRange integers_of(DType type) {
  if (type == DType::kBool) return {.low = 0, .high = 1};
  if (type == DType::kI64 || type == DType::kU64) return {.low = is_signed(type) ? -0x1p63 : 0, .high = 0x1p63};
  const int width = bits(type);
  if (is_signed(type)) return {.low = -std::ldexp(1, width - 1), .high = std::ldexp(1, width - 1) - 1};
  return {.low = 0, .high = std::ldexp(1, width) - 1};
}

bool fits(const Dims& dims, std::span<const Dim> wanted) {
  if (dims.size() != wanted.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto value = wanted[d].value();
    if (value && *value != dims[d]) return false;
  }
  return true;
}

std::optional<Dims> fitted_dims(const Dims& dims, std::span<const Dim> wanted, bool flatten) {
  if (fits(dims, wanted)) return dims;
  Dims result(wanted.size(), 1);
  // Walk both, pairing equal sizes; ones may stand alone on either side.
  size_t from = 0;
  bool paired = true;
  for (size_t d = 0; d < wanted.size() && paired; ++d) {
    const auto value = wanted[d].value();
    while (from < dims.size() && dims[from] == 1 && value && *value != 1) ++from;
    if (from < dims.size() && (!value || *value == dims[from])) {
      result[d] = dims[from++];
    } else {
      paired = value && *value == 1;
    }
  }
  while (from < dims.size() && dims[from] == 1) ++from;
  if (paired && from == dims.size()) return result;
  if (!flatten) return std::nullopt;
  const int64_t count = element_count(dims);
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t d = 0; d < wanted.size(); ++d) {
    const auto value = wanted[d].value();
    if (!value && open) return std::nullopt;
    if (!value) open = d;
    result[d] = value.value_or(1);
    known *= result[d];
    if (known < 1 || known > count) return std::nullopt;
  }
  if (open) result[*open] = count / known;
  return known * (open ? result[*open] : 1) == count ? std::optional(result) : std::nullopt;
}

Tensor to_input_type(const Tensor& tensor, DType type, bool round, const std::string& where) {
  if (tensor.dtype() == type) return tensor;
  if ((tensor.dtype() == DType::kString) != (type == DType::kString) || is_complex(tensor.dtype()) ||
      is_complex(type)) {
    input_error(fmt::format("the data are {}, the model takes {}", name(tensor.dtype()), name(type)), where,
                "give an array of the model's type");
  }
  return is_float(type) ? cast(tensor, type) : integers(tensor, type, round, where);
}

Tensor stack(std::span<const Tensor> tensors, std::span<const std::string> names) {
  const Tensor& first = tensors[0];
  Dims dims = first.dims();
  dims.insert(dims.begin(), static_cast<int64_t>(tensors.size()));
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].dims() == first.dims() && tensors[i].dtype() == first.dtype()) continue;
    input_error(fmt::format("a sample of shape {} cannot be stacked with one of shape {}", to_string(tensors[i].dims()),
                            to_string(first.dims())),
                names[i], "use --batch 1, or give all samples one shape (resize=HxW)");
  }
  if (tensors.size() == 1) return first.reshaped(dims);
  if (is_sub_byte(first.dtype()))
    unsupported_error(fmt::format("samples of {} cannot be stacked", name(first.dtype())), names[0], "use --batch 1");
  if (first.dtype() == DType::kString) {
    std::vector<std::string> texts;
    for (const Tensor& t : tensors) texts.insert(texts.end(), t.strings().begin(), t.strings().end());
    return Tensor::of_strings(dims, std::move(texts));
  }
  Tensor out(first.dtype(), dims);
  std::byte* to = out.mutable_raw();
  for (const Tensor& t : tensors) {
    if (t.bytes() > 0) std::memcpy(to, t.raw(), t.bytes());
    to += t.bytes();
  }
  return out;
}

}  // namespace mlopt
