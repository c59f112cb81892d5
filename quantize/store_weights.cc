#include "quantize/store_weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <set>
#include <span>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/calib/features.h"
#include "core/calib/observe.h"
#include "core/rewrite/pass.h"
#include "core/tensor/kept_in_file.h"
#include "quantize/code_entropy.h"
#include "quantize/emit/weight_forms.h"
#include "quantize/encode_weight.h"
#include "quantize/methods.h"
#include "quantize/mixed.h"
#include "quantize/plan.h"
#include "quantize/reconstruct/reconstruct.h"
#include "quantize/warnings.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kLeastElements = 1024;  // smaller ones save less than what is written beside them
constexpr int kTableBits =
    8;  // at least: a table that is looked up is small beside the layers, and its errors go everywhere
constexpr int64_t kFloatBytes = 4;
constexpr size_t kSpilledBytes = size_t{1} << 16;
constexpr size_t kFreedBytes = size_t{32} << 20;  // worth a walk through what the allocator holds

/// Specs of single weights.
class OwnSpecs {
 public:
  explicit OwnSpecs(const Spec& spec) : common_(spec), plan_(spec.plan) {
    common_.budget.reset();
    common_.plan.clear();
  }

  Spec of(const Weight& weight) const {
    Spec own = common_;
    const auto planned = plan_.find(weight.layer);
    if (planned != plan_.end())
      own.weights = planned->second;
    else if (weight.op == "Gather" && own.weights.bits < kTableBits * own.weights.vector)
      own.weights = {Family::kUniform, kTableBits, 0};
    if (weight.op == "Gather") own.sparse_outliers = 0;
    return own;
  }

 private:
  Spec common_;
  const std::map<std::string, WeightFormat>& plan_;
};

bool saves_nothing(const Weight& w, const Spec& own) {
  return own.emit == Emit::kAuto && packed_bytes(own.scheme(), w.rows, w.columns) >= w.size() * kFloatBytes;
}

/// Nothing but planes of bits, which are put together by shifts that TensorRT lacks.
bool has_no_form(const Weight& w, const Spec& own) {
  constexpr int kByte = 8;
  return own.target.runtime == Runtime::kTensorrt && own.emit == Emit::kAuto && own.weights.bits < kByte &&
         form_of(w, own).emit == Emit::kGather;
}

/// Those that are worth it; the others are left with a reason.
Found chosen_weights(const Model& model, const Spec& spec) {
  Found found = find_weights(
      model, {.only = spec.only, .skip = spec.skip, .verb = "quantize", .done = "quantized", .stored_only = true});
  const OwnSpecs specs(spec);
  std::erase_if(found.weights, [&](const Weight& w) {
    const char* reason = w.size() < kLeastElements                   ? "its weight is small"
                         : w.value->constant->dtype() != DType::kF32 ? "its weight is not float32"
                         : !w.value->known_constant()                ? "its weight may be overridden by the caller"
                         : saves_nothing(w, specs.of(w)) ? "its scales and tables take as much as its codes save"
                         : has_no_form(w, specs.of(w))
                             ? "the target runs no form of it: choose groups that divide its inputs, or channel"
                             : nullptr;
    if (reason) found.left.emplace(w.layer, reason);
    return reason != nullptr;
  });
  return found;
}

void require_a_form(std::span<const Weight> weights, const Spec& spec) {
  for (const Weight& w : weights)
    if (form_problem(w, spec).empty()) return;
  if (weights.empty()) return;
  unsupported_error(fmt::format("no weight in {} can be written as {}: {}", name(spec), name(spec.emit),
                                form_problem(weights[0], spec)),
                    weights[0].layer, "leave --emit out: each weight gets the form that suits it");
}

/// Is what the layers multiply the weight by a Relu's or the like, perhaps moved or pooled since?
bool reads_rectified(const Model& model, const Weight& weight) {
  static const std::set<std::string_view> kZero = {"Relu", "Sigmoid", "Softmax"};
  static const std::set<std::string_view> kKeeps = {"MaxPool",   "AveragePool", "GlobalAveragePool", "Flatten",
                                                    "Transpose", "Reshape",     "Identity"};
  const auto rectified = [&](const Node* reader) {
    const Node* node = reader->input(data_operand(weight))->producer;
    while (node && node->domain.empty() && kKeeps.contains(node->op)) node = node->input(0)->producer;
    return node && node->domain.empty() && (kZero.contains(node->op) || clamps_at_zero(NodeView(*node, model.opset())));
  };
  return weight.op != "Gather" && std::all_of(weight.readers.begin(), weight.readers.end(), rectified);
}

class Storer {
 public:
  Storer(Model& model, const Spec& spec, const Means& means)
      : model_(model), spec_(spec), own_(spec), means_(means), method_(find_method(spec.method)) {}

  Emitted run() {
    Found found = chosen_weights(model_, spec_);
    done_.left = std::move(found.left);
    if (method_.look == Look::kProducts && !looks())
      usage_error(fmt::format("{} looks at what layers are given", method_.name), "--data",
                  "give inputs of the kind that the model will see, or use --method mse or hqq, which need none");
    if (spec_.plan.empty()) require_a_form(found.weights, spec_);
    const std::span<const Weight> weights = found.weights;
    if (method_.blocks) learn_blocks(weights);
    for (size_t first = 0; first < weights.size();) {
      const bool products = looks() && method_.look == Look::kProducts;  // all observed before the first is changed
      const size_t end = products ? stage_end(weights, first, means_.product_bytes) : weights.size();
      store_stage(weights.subspan(first, end - first), std::ssize(weights));
      first = end;
    }
    finish_spilling();
    remove_dead(model_);
    return std::move(done_);
  }

 private:
  bool looks() const { return method_.look != Look::kNothing && means_.data && !means_.generated; }
  Looking looking() const { return {means_.runner, means_.data, means_.calibration_samples, means_.progress}; }

  /// Codes of the weights of blocks, before any is stored.
  void learn_blocks(std::span<const Weight> weights) {
    std::vector<Weight> open;
    std::copy_if(weights.begin(), weights.end(), std::back_inserter(open),
                 [](const Weight& w) { return features_problem(w).empty(); });
    std::vector<Observed> seen;
    if (!open.empty()) seen = observe(model_, open, {}, looking());
    std::vector<SoftWeight> soft;
    size_t next = 0;
    for (const Weight& w : weights) {
      const Observed* given = next < open.size() && open[next].value == w.value ? &seen[next++] : nullptr;
      const Spec spec = own_.of(w);
      if (w.op == "Gather" || spec.scheme().levels == Levels::kVectors) continue;
      soft.emplace_back(w,
                        encode_weight(w, find_method("mse"), spec.scheme(), given, reads_rectified(model_, w)).coded);
    }
    Model student = clone(model_);
    const Reconstructed done = reconstruct(model_, student, soft, {}, looking(), means_.passes.standard_types);
    for (const SoftWeight& w : soft)
      if (std::find(done.weights.begin(), done.weights.end(), w.name()) != done.weights.end())
        learned_.emplace(w.name(), w.coded());
    for (const Weight& w : weights)
      if (const auto at = done.left.find(w.name()); at != done.left.end())
        done_.fell_back.emplace(w.layer, "by itself, for " + at->second);
  }

  /// Those whose inputs can be looked at.
  std::vector<Weight> observable(std::span<const Weight> stage) {
    std::vector<Weight> open;
    if (!looks()) return open;
    for (const Weight& w : stage) {
      if (learned_.contains(w.name())) continue;
      const std::string problem = features_problem(w);
      if (problem.empty())
        open.push_back(w);
      else if (method_.look == Look::kProducts)
        done_.fell_back.insert_or_assign(w.layer, "to nearest, for " + problem);
    }
    return open;
  }

  void store_stage(std::span<const Weight> stage, int64_t all) {
    const std::vector<Weight> open = observable(stage);
    std::vector<Observed> seen;
    finish_spilling();  // what prepares a method may change what is being written
    way_.next.clear();
    for (const Weight& w : stage) way_.next.push_back(w.name());
    if (!open.empty())  // and values before the weights
      seen = observe(model_, open, {.products = method_.look == Look::kProducts}, looking(),
                     method_.prepare ? nullptr : &way_);
    if (method_.prepare && !seen.empty()) {
      std::vector<Spec> specs;
      for (const Weight& w : open) specs.push_back(own_.of(w));
      method_.prepare(open, seen, specs);
    }
    size_t next = 0;
    for (const Weight& w : stage) {
      put(w, next < open.size() && open[next].value == w.value ? &seen[next++] : nullptr);
      if (means_.progress) means_.progress("storing weights", ++stored_, all);
    }
  }

  void put(const Weight& weight, const Observed* seen) {
    const Spec spec = own_.of(weight);
    const WeightForm& form = form_of(weight, spec);
    const auto learned = learned_.find(weight.name());
    const EncodedWeight made = learned != learned_.end() ? with_sqnr(weight, learned->second)
                                                         : encode_weight(weight, method_, spec.scheme(), seen,
                                                                         reads_rectified(model_, weight));
    if (!made.finite) {
      done_.left.emplace(weight.layer, kNotFinite);
      return;
    }
    for (const Node* reader : weight.readers)
      if (listed_.insert(reader).second) done_.layers.push_back(layer_of(*reader));
    weight.value->constant->release_pages();
    StoredWeight& stored = done_.weights.emplace_back();
    stored = {weight.layer, weight.name(), name(spec), std::string(name(form.emit)), weight.size(), 0,
              made.sqnr_db, made.coverage};
    stored.bytes = form.write(model_, weight, made.coded, spec);
    stored.rows = weight.rows;
    stored.entropy_coded_bytes = entropy_coded_bytes(made.coded);
    if (!means_.spill.empty()) spill();
  }

  /// What was added since is kept in a file, which is written beside the work on the next weight.
  void spill() {
    finish_spilling();
    for (Value* v : model_.graph->initializers())
      if (v->constant->bytes() >= kSpilledBytes && spilled_.insert(v).second) spilling_.push_back(v);
    std::vector<Tensor> tensors;
    for (const Value* v : spilling_) tensors.push_back(*v->constant);
    const auto keep = [tensors = std::move(tensors), folder = means_.spill] {
      std::vector<Tensor> kept;
      for (const Tensor& tensor : tensors) kept.push_back(kept_in_file(tensor, folder));
      return kept;
    };
    kept_ = std::async(max_threads() > 1 ? std::launch::async : std::launch::deferred, keep);
  }
  void finish_spilling() {
    if (!kept_.valid()) return;
    std::vector<Tensor> kept = kept_.get();
    for (size_t i = 0; i < kept.size(); ++i) {
      freed_ += spilling_[i]->constant->bytes();
      spilling_[i]->constant = std::move(kept[i]);
    }
    spilling_.clear();
    if (freed_ < kFreedBytes) return;
    give_back_memory();  // blocks of many sizes leave holes
    freed_ = 0;
  }

  Model& model_;
  const Spec& spec_;
  OwnSpecs own_;
  const Means& means_;
  const Method& method_;
  std::map<std::string, Coded> learned_;  ///< by weight
  std::unordered_set<const Node*> listed_;
  std::unordered_set<const Value*> spilled_;
  std::vector<Value*> spilling_;           ///< whose numbers are being written
  std::future<std::vector<Tensor>> kept_;  ///< what they will be
  size_t freed_ = 0;                       ///< bytes of memory since it was last given back
  int64_t stored_ = 0;
  OnTheWay way_;
  Emitted done_;
};

}  // namespace

Emitted store_weights(Model& model, const Spec& spec, const Means& means) { return Storer(model, spec, means).run(); }

std::vector<PlannedWeight> planned_weights(const Model& model, const Spec& spec) {
  std::vector<PlannedWeight> planned;
  const OwnSpecs specs(spec);
  for (const Weight& w : chosen_weights(model, spec).weights)
    planned.push_back({w, specs.of(w), reads_rectified(model, w)});
  return planned;
}

int64_t opset_of_weights(const Model& model, const Spec& spec) {
  int64_t least = 1;
  const OwnSpecs specs(spec);
  for (const Weight& w : chosen_weights(model, spec).weights) {
    Spec own = specs.of(w);
    const auto formats = spec.budget ? mixed_formats(w) : std::vector<WeightFormat>{own.weights};
    for (const WeightFormat& format : formats) {
      own.weights = format;
      least = std::max(least, form_of(w, own).opset(w, own));
    }
  }
  return least;
}

}  // namespace mlopt::quantize
