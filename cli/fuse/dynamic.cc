#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "cli/describe.h"
#include "cli/fuse/flags.h"
#include "cli/runner.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"
#include "core/rewrite/free_axes.h"

namespace mlopt::cli {
namespace {

constexpr const char* kFix = "export the model with this axis free";

std::set<std::string> symbols_of(const Model& model) {
  std::set<std::string> symbols;
  for (const Value* v : model.graph->values())
    for (const Dim& d : v->type.dims.value_or(SymDims()))
      if (auto name = d.symbol_name()) symbols.insert(*std::move(name));
  return symbols;
}

/// Axes that are freed together share a name, but none with what is free already, which need not be as long.
std::vector<FreeAxis> axes_of(const FuseFlags& flags, const Model& source) {
  std::vector<FreeAxis> axes;
  std::set<std::string> taken = symbols_of(source);
  std::map<std::string, std::string> names;
  for (const std::string& item : list_items(flags.dynamic)) {
    const size_t at = item.rfind('=');
    const auto axis = at == std::string::npos ? std::nullopt : parse_int(item.substr(at + 1));
    if (at == 0 || !axis) usage_error(fmt::format("'{}' is not INPUT=AXIS", item), "--dynamic", "as in images=0");
    const std::string input = item.substr(0, at);
    const std::string plain = *axis == 0 ? "batch" : fmt::format("{}_{}", input, *axis);
    const auto [name, is_new] = names.try_emplace(plain, plain);
    for (int k = 1; is_new && !taken.insert(name->second).second; ++k) name->second = fmt::format("{}_{}", plain, k);
    axes.push_back({input, *axis, name->second});
  }
  return axes;
}

[[noreturn]] void refuse(const std::string& why) {
  unsupported_error("constants of the model hold the axis to its size: " + why, "--dynamic", kFix);
}

/// The second behind the first.
Tensor behind(const Tensor& a, const Tensor& b) {
  Dims dims = a.dims();
  const auto row = [](const Tensor& t) { return t.rank() == 0 ? Dims{} : Dims(t.dims().begin() + 1, t.dims().end()); };
  if (a.dtype() != b.dtype() || a.rank() != b.rank() || row(a) != row(b) || a.dtype() == DType::kString)
    refuse("sizes that depend on data, and strings, cannot be compared");
  dims[0] += b.dim(0);
  Tensor both(a.dtype(), dims);
  std::memcpy(both.mutable_raw(), a.raw(), a.bytes());
  std::memcpy(both.mutable_raw() + a.bytes(), b.raw(), b.bytes());
  return both;
}

void require_same(const std::vector<Datum>& actual, const std::vector<Datum>& expected, const char* when) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].is_tensor()) continue;
    if (const auto differs = mismatch(actual[i].tensor(), expected[i].tensor(), 1e-4, 1e-5))
      refuse(fmt::format("{} the outputs differ: {}", when, *differs));
  }
}

/// Samples of two runs, one behind the other where the axis is the first.
class Trials {
 public:
  Trials(const FuseFlags& flags, const Model& source, Backend& judge, const Session& session)
      : runner_(make_runner(judge, session.common)), plan_(runner_.compile(source)) {
    const auto data =
        open_data(flags.verb.data.spec.empty() ? DataFlags{"random:2", flags.verb.data.shapes, flags.verb.data.ranges}
                                               : flags.verb.data,
                  source, {.seed = session.common.seed});
    first_ = data->batch(0, 1).inputs;
    second_ = data->batch(std::min<int64_t>(1, data->size() - 1), 1).inputs;
  }

  void same_size(const Model& freed) {
    require_same(runner_.compile(freed)->run(first_), plan_->run(first_), "at its own size");
  }

  void twice(const Model& freed, const std::vector<FreeAxis>& axes) {
    std::vector<Datum> both = first_, other = first_;
    const std::vector<std::string>& names = plan_->input_names();
    for (const FreeAxis& axis : axes) {
      const auto i = static_cast<size_t>(std::find(names.begin(), names.end(), axis.input) - names.begin());
      other[i] = second_[i];
      both[i] = behind(first_[i].tensor(), second_[i].tensor());
    }
    std::vector<Datum> expected = plan_->run(first_);
    const std::vector<Datum> rest = plan_->run(other);
    for (size_t i = 0; i < expected.size(); ++i)
      if (expected[i].is_tensor() && expected[i].tensor().rank() > 0)
        expected[i] = behind(expected[i].tensor(), rest[i].tensor());
    require_same(runner_.compile(freed)->run(both), expected, "of two samples at once");
  }

 private:
  Runner runner_;
  std::unique_ptr<Executable> plan_;
  std::vector<Datum> first_, second_;
};

/// Runs it with free axes at sizes that are not the source's.
void require_runs(const FuseFlags& flags, const Model& freed, Backend& judge, const Session& session) {
  const auto data =
      open_data({"random:1", {}, flags.verb.data.ranges}, freed, {.seed = session.common.seed, .distinct = true});
  make_runner(judge, session.common).compile(freed)->run(data->batch(0, 1).inputs);
}

}  // namespace

std::vector<std::string> free_axes(const FuseFlags& flags, Model& source, Backend& judge, const Session& session) {
  const std::vector<FreeAxis> axes = axes_of(flags, source);
  if (axes.empty()) return {};
  inline_functions(source);
  infer(source, standard_types);
  Model freed = clone(source);
  mlopt::free_axes(freed, axes, standard_types);
  Trials trials(flags, source, judge, session);
  const bool batch = std::all_of(axes.begin(), axes.end(), [](const FreeAxis& a) { return a.axis == 0; });
  try {
    trials.same_size(freed);
    if (batch)
      trials.twice(freed, axes);
    else
      require_runs(flags, freed, judge, session);
  } catch (const Error& e) {
    if (e.code == Code::kInternal || e.where == "--dynamic") throw;
    refuse(in_words(e));
  }
  source = std::move(freed);
  if (batch) return {};
  return {"sizes of the axes that are free now: the source has only its own, with which the result was compared"};
}

}  // namespace mlopt::cli
