#include "core/exec/graph_input.h"

#include <fmt/core.h>

#include <map>

#include "core/base/error.h"
#include "core/exec/listed.h"

namespace mlopt {

void check_input(const GraphInput& of, const Datum& input) {
  const Type& type = of.type;
  if (!type.is_tensor()) return;
  if (!input.is_tensor()) input_error("input is not a tensor", fmt::format("'{}'", of.name), kGiveWhatItTakes);
  const Tensor& t = input.tensor();
  const auto wrong = [&] {
    input_error(
        "input does not fit the model",
        fmt::format("'{}' is {} {}, the model has {}", of.name, name(t.dtype()), to_string(t.dims()), to_string(type)),
        kGiveWhatItTakes);
  };
  if (type.dtype != DType::kUndefined && t.dtype() != type.dtype) wrong();
  if (!type.dims) return;
  if (type.dims->size() != t.dims().size()) wrong();
  for (size_t k = 0; k < type.dims->size(); ++k)
    if (const auto fixed = (*type.dims)[k].value(); fixed && *fixed != t.dims()[k]) wrong();
}

void check_names(std::span<const GraphInput> inputs, std::span<const Datum> given) {
  struct Size {
    int64_t length;
    const GraphInput* of;
  };
  std::map<std::string, Size> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& dims = inputs[i].type.dims;
    if (!dims || !given[i].is_tensor()) continue;
    for (size_t k = 0; k < dims->size(); ++k) {
      const auto name = (*dims)[k].symbol_name();
      if (!name) continue;
      const int64_t length = given[i].tensor().dims()[k];
      const auto [known, fresh] = sizes.try_emplace(*name, Size{length, &inputs[i]});
      if (!fresh && known->second.length != length)
        input_error(
            "a free dimension has two sizes",
            fmt::format("'{}' is {} in '{}' and {} in '{}'", *name, known->second.length, known->second.of->name,
                        length, inputs[i].name),
            "give equal sizes; where the model's axes only share a name, run and bench take it as it stands with "
            "--no-prepare");
    }
  }
}

void refuse_unplanned(const Graph& graph, std::span<const GraphInput> inputs, std::span<const Datum> given,
                      std::string_view backend) {
  constexpr const char* kFix = "use --device cpu for this model";
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].is_tensor() && inputs[i].type.is_tensor()) continue;
    std::vector<std::string> readers;
    for (const Use& use : graph.find(inputs[i].name)->uses) readers.push_back(use.node->label());
    unsupported_error(fmt::format("the {} backend takes tensors only, and {} reads another input", backend,
                                  readers.empty() ? "the model" : listed(readers)),
                      inputs[i].name, kFix);
  }
  unsupported_error("its shapes are known only when it has run", {}, kFix);
}

}  // namespace mlopt
