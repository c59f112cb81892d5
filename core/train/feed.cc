#include "core/train/feed.h"

#include <fmt/core.h>

#include <numeric>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/data/gather.h"
#include "core/tensor/cast.h"
#include "core/train/dropout.h"
#include "core/train/mixup.h"

namespace mlopt::train {
namespace {

/// 1 at the class of each row.
Tensor one_hot(std::span<const int64_t> classes, int64_t count) {
  Tensor rows = Tensor::zeros(DType::kF32, {static_cast<int64_t>(classes.size()), count});
  float* at = rows.mutable_data<float>();
  for (const int64_t label : classes) {
    at[label] = 1;
    at += count;
  }
  return rows;
}

/// Do labels of samples have the axes of what is taken, but for those of size 1? A row of numbers may be of any axes,
/// and samples of several rows each are told apart by their number alone.
bool fit(const Dims& given, const Dims& taken, int64_t samples) {
  const auto axes = [](const Dims& dims) {
    Dims found;
    for (size_t i = 1; i < dims.size(); ++i)
      if (dims[i] != 1) found.push_back(dims[i]);
    return found;
  };
  if (element_count(given) != element_count(taken)) return false;
  return axes(given).size() < 2 || taken[0] != samples || axes(given) == axes(taken);
}

}  // namespace

Feed::Feed(const Dataset& data, const FeedSettings& settings, int64_t first)
    : data_(data), settings_(settings), next_(first) {
  if (settings.labels && !data.labelled())
    input_error("the data have no labels", "--data", "training needs them: see the data spec");
  if (data.size() < update())
    input_error(fmt::format("{} samples are no batch of {}", data.size(), update()), "--data",
                "give more data or a smaller --batch-size");
}

Feed::~Feed() {
  if (ahead_.valid()) ahead_.wait();
}

/// Fisher and Yates's shuffle, seeded by the epoch.
void Feed::shuffle(int64_t epoch) {
  if (epoch == shuffled_) return;
  shuffled_ = epoch;
  order_.resize(static_cast<size_t>(data_.size()));
  std::iota(order_.begin(), order_.end(), 0);
  Rng rng(settings_.seed * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(epoch));
  for (size_t i = order_.size() - 1; i > 0; --i)
    std::swap(order_[i], order_[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(i)))]);
}

Tensor Feed::labels_of(const Batch& batch, const std::vector<int64_t>& samples) const {
  Dims dims = *settings_.labels->static_dims();
  dims[0] = dims[0] / part() * static_cast<int64_t>(samples.size());
  const bool shares = settings_.classes > 0 && settings_.augmentation.mixup > 0;
  if (shares) dims.pop_back();
  if (!batch.labels || !fit(batch.labels->dims(), dims, static_cast<int64_t>(samples.size())))
    input_error(fmt::format("labels of shape {}, where the loss takes {}",
                            batch.labels ? to_string(batch.labels->dims()) : "none", to_string(*settings_.labels)),
                data_.name_of(samples[0]), "choose another --loss, or other data");
  Tensor labels = cast(*batch.labels, shares ? DType::kI64 : settings_.labels->dtype).reshaped(dims);
  if (settings_.within_one) require_within_one(*batch.labels, samples);
  if (settings_.classes == 0) return labels;
  const auto values = labels.span<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const double given = number_at(*batch.labels, static_cast<int64_t>(i));  // may be no whole number
    if (values[i] < 0 || values[i] >= settings_.classes || static_cast<double>(values[i]) != given)
      input_error(fmt::format("the label {} is none of {} classes", given, settings_.classes),
                  data_.name_of(samples[i * samples.size() / values.size()]),
                  "mend the labels, or choose another model");
  }
  return shares ? cast(one_hot(values, settings_.classes), settings_.labels->dtype) : labels;
}

void Feed::require_within_one(const Tensor& labels, const std::vector<int64_t>& samples) const {
  const auto count = static_cast<size_t>(labels.size());
  for (size_t i = 0; i < count; ++i)
    if (const double given = number_at(labels, static_cast<int64_t>(i)); !(given >= 0 && given <= 1))
      input_error(fmt::format("the label {} is not from 0 to 1", given),
                  data_.name_of(samples[i * samples.size() / count]), "mend the labels, or choose another --loss");
}

/// Of batch `index`, in the order of its epoch; with mixup one more.
std::vector<int64_t> Feed::samples_of(int64_t index) const {
  const int64_t first = index % batches_in_epoch() * settings_.batch + settings_.rank * part();
  const int64_t count = part() + (settings_.augmentation.mixup > 0 ? 1 : 0);
  std::vector<int64_t> samples;
  for (int64_t i = first; i < first + count; ++i) samples.push_back(order_[static_cast<size_t>(i % data_.size())]);
  return samples;
}

std::vector<Datum> Feed::load(int64_t index) {
  const Augmentation& how = settings_.augmentation;
  const int64_t epoch = index / batches_in_epoch();
  shuffle(epoch);
  const std::vector<int64_t> samples = samples_of(index);
  Batch batch = gather(data_, samples);
  for (const auto& [k, value] : settings_.fixed)
    require_same_setting(batch.inputs[k].tensor(), value, data_.name_of(samples[0]));
  if (how.changes_pictures()) batch.inputs[0] = augment(how, batch.inputs[0].tensor(), samples, epoch, settings_.seed);
  if (settings_.labels) batch.inputs.emplace_back(labels_of(batch, samples));
  if (how.mixup > 0) {
    const std::span<const int64_t> mixed = std::span(samples).first(samples.size() - 1);
    const std::vector<double> shares = mixup_shares(how.mixup, mixed, epoch, settings_.seed);
    for (Datum& input : batch.inputs)
      if (input.tensor().rank() > 0) input = mix_with_next(input.tensor(), shares);
  }
  if (settings_.dropout_keys) {
    const auto own = std::span(samples).first(static_cast<size_t>(part()));
    batch.inputs.emplace_back(dropout_keys(own, epoch, index / settings_.portions, settings_.seed));
  }
  return std::move(batch.inputs);
}

std::vector<Datum> Feed::next() {
  std::vector<Datum> now = ahead_.valid() ? ahead_.get() : load(next_);
  ++next_;
  ahead_ = std::async(std::launch::async, [this, index = next_] { return load(index); });
  return now;
}

}  // namespace mlopt::train
