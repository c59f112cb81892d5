#include "core/ir/view.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/tensor/cast.h"

namespace mlopt {

const Attr* NodeView::find(std::string_view attr, bool required) const {
  const Attr* found = node_->attr(attr);
  if (!found && required) input_error(fmt::format("attribute '{}' is missing", attr), node_->label());
  return found;
}

void NodeView::wrong_kind(std::string_view attr, std::string_view wanted) const {
  const Attr* found = node_->attr(attr);
  if (found && std::holds_alternative<RefAttr>(found->value)) {
    unsupported_error(fmt::format("attribute '{}' is given by the caller of a function", attr), node_->label(),
                      "inline the model's functions first");
  }
  input_error(fmt::format("attribute '{}' is not {}", attr, wanted), node_->label());
}

int64_t NodeView::get_int(std::string_view attr, int64_t otherwise) const {
  return find(attr, false) ? get_int(attr) : otherwise;
}

int64_t NodeView::get_int(std::string_view attr) const {
  if (const auto* value = std::get_if<int64_t>(&find(attr, true)->value)) return *value;
  wrong_kind(attr, "an integer");
}

float NodeView::get_float(std::string_view attr, float otherwise) const {
  const Attr* found = find(attr, false);
  if (!found) return otherwise;
  if (const auto* value = std::get_if<float>(&found->value)) return *value;
  wrong_kind(attr, "a number");
}

std::string NodeView::get_string(std::string_view attr, std::string_view otherwise) const {
  const Attr* found = find(attr, false);
  if (!found) return std::string(otherwise);
  if (const auto* value = std::get_if<std::string>(&found->value)) return *value;
  wrong_kind(attr, "a string");
}

std::vector<int64_t> NodeView::get_ints(std::string_view attr, std::vector<int64_t> otherwise) const {
  const Attr* found = find(attr, false);
  if (!found) return otherwise;
  if (const auto* value = std::get_if<std::vector<int64_t>>(&found->value)) return *value;
  wrong_kind(attr, "a list of integers");
}

std::vector<float> NodeView::get_floats(std::string_view attr) const {
  const Attr* found = find(attr, false);
  if (!found) return {};
  if (const auto* value = std::get_if<std::vector<float>>(&found->value)) return *value;
  wrong_kind(attr, "a list of numbers");
}

std::vector<std::string> NodeView::get_strings(std::string_view attr) const {
  const Attr* found = find(attr, false);
  if (!found) return {};
  if (const auto* value = std::get_if<std::vector<std::string>>(&found->value)) return *value;
  wrong_kind(attr, "a list of strings");
}

const Tensor* NodeView::get_tensor(std::string_view attr) const {
  const Attr* found = find(attr, false);
  if (!found) return nullptr;
  if (const auto* value = std::get_if<Tensor>(&found->value)) return value;
  wrong_kind(attr, "a tensor");
}

const Tensor* NodeView::constant(int i) const {
  const Value* value = node_->input(i);
  return value ? value->known_constant() : nullptr;
}

std::optional<std::vector<int64_t>> NodeView::ints(std::string_view attr, int i, std::vector<int64_t> otherwise) const {
  if (node_->input(i)) {
    const Tensor* tensor = constant(i);
    if (!tensor) return std::nullopt;
    return to_ints(*tensor);
  }
  const Attr* found = find(attr, false);
  if (!found) return otherwise;
  if (const auto* value = std::get_if<int64_t>(&found->value)) return std::vector<int64_t>{*value};
  return get_ints(attr);
}

std::optional<double> NodeView::number(std::string_view attr, int i, double otherwise) const {
  if (node_->input(i)) {
    const Tensor* tensor = constant(i);
    if (!tensor || tensor->size() != 1) return std::nullopt;
    return number_at(*tensor, 0);
  }
  const Attr* found = find(attr, false);
  if (!found) return otherwise;
  if (const auto* value = std::get_if<int64_t>(&found->value)) return static_cast<double>(*value);
  return get_float(attr, 0);
}

}  // namespace mlopt
