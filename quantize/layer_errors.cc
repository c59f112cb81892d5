#include "quantize/layer_errors.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"

namespace mlopt::quantize {
namespace {

using Values = std::map<std::string, Tensor>;

/// A plan that keeps the named values of its last run.
class Watched {
 public:
  Watched(Backend& backend, CompileOptions options, const Model& model, std::vector<std::string> names) {
    options.taps = std::move(names);
    plan_ = backend.compile(model, options);
  }

  Values run(const std::vector<Datum>& inputs) {
    Values seen;
    RunHooks hooks;
    hooks.on_tap = [&](std::string_view name, const Datum& value) {
      if (value.is_tensor()) seen.insert_or_assign(std::string(name), value.tensor());
    };
    plan_->run(inputs, hooks);
    return seen;
  }

 private:
  std::unique_ptr<Executable> plan_;
};

/// The source ran on these inputs: if the result does not, it is wrong.
Values run_result(Watched& result, const std::vector<Datum>& inputs) {
  try {
    return result.run(inputs);
  } catch (const Error& e) {
    internal_error("the quantized model does not run: " + e.message, e.where);
  }
}

}  // namespace

std::vector<LayerError> layer_errors(Backend& backend, const CompileOptions& options, const Model& source,
                                     const Model& result, const std::vector<LayerValue>& layers, const Dataset& data,
                                     const std::function<void(int64_t done, int64_t total)>& progress) {
  std::vector<std::string> before, after;
  for (const LayerValue& layer : layers) before.push_back(layer.source), after.push_back(layer.result);
  Watched expected(backend, options, source, before), actual(backend, options, result, after);
  std::vector<DifferenceSum> sums(layers.size());
  const int64_t step = std::max<int64_t>(1, data.batch_size());
  for (int64_t first = 0; first + step <= data.size(); first += step) {
    const Batch batch = data.batch(first, step);
    const Values e = expected.run(batch.inputs), a = run_result(actual, batch.inputs);
    for (size_t i = 0; i < layers.size(); ++i) {
      const auto right = e.find(layers[i].source), found = a.find(layers[i].result);
      const bool comparable = right != e.end() && found != a.end() && right->second.dims() == found->second.dims();
      if (comparable) sums[i].add(found->second, right->second);
    }
    if (progress) progress(first + step, data.size());
  }
  std::vector<LayerError> errors;
  for (size_t i = 0; i < layers.size(); ++i) errors.push_back({layers[i].layer, layers[i].op, sums[i].result()});
  std::stable_sort(errors.begin(), errors.end(), [](const LayerError& a, const LayerError& b) {
    return a.difference.sqnr_db < b.difference.sqnr_db;
  });
  return errors;
}

}  // namespace mlopt::quantize
