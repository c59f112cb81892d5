#include "core/train/reducer.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/tensor/cast.h"

namespace mlopt::train {

Reducer::Reducer(Communicator& ranks, StateStore& state, std::vector<std::string> names, int64_t bucket_bytes,
                 const Compression& compression)
    : ranks_(ranks), state_(state), bucket_bytes_(bucket_bytes), compression_(compression) {
  std::reverse(names.begin(), names.end());  // the last layers' gradients come first
  make_buckets(names);
}

void Reducer::make_buckets(const std::vector<std::string>& names) {
  items_.clear();
  places_.clear();
  std::vector<size_t> counts;  // of elements
  missing_.clear();
  for (const std::string& name : names) {
    if (counts.empty() || static_cast<int64_t>(counts.back() * sizeof(float)) >= bucket_bytes_) {
      counts.push_back(0);
      missing_.push_back(0);
    }
    places_[name] = items_.size();
    items_.push_back({name, counts.size() - 1, counts.back()});
    counts.back() += static_cast<size_t>(state_.at(name).size());
    ++missing_.back();
  }
  buckets_.clear();
  for (const size_t count : counts) buckets_.emplace_back(count, ordered_ ? compression_ : Compression());
}

void Reducer::ready(std::string_view name, const Tensor& value) {
  const auto place = places_.find(name);
  if (place == places_.end()) return;
  if (Item& item = items_[place->second]; !item.ready) put(item, value);
  begin_complete();
  ranks_.poll();
}

void Reducer::put(Item& item, const Tensor& value) {
  const auto to = buckets_[item.bucket].values().subspan(item.offset, static_cast<size_t>(value.size()));
  if (value.dtype() == DType::kF32) {
    std::copy_n(value.data<float>(), to.size(), to.begin());
  } else {
    const std::vector<float> from = to_floats(value);
    std::copy(from.begin(), from.end(), to.begin());
  }
  item.ready = true;
  --missing_[item.bucket];
  if (!ordered_) order_.push_back(item.name);
}

/// Buckets are begun in their order, which is the same on all ranks.
void Reducer::begin_complete() {
  for (; begun_ < buckets_.size() && missing_[begun_] == 0; ++begun_) buckets_[begun_].begin(ranks_);
}

void Reducer::put_back(const Item& item) {
  const Tensor& value = state_.at(item.name);
  const auto sums = buckets_[item.bucket].values().subspan(item.offset, static_cast<size_t>(value.size()));
  state_.set(item.name, cast(Tensor::view(DType::kF32, value.dims(), std::as_bytes(sums), nullptr), value.dtype()));
}

/// From now on, buckets are filled (and compressed: what codes lose must find its place again) as rank 0's values got
/// ready.
void Reducer::take_order() {
  ordered_ = true;
  make_buckets(split(gather(ranks_, join(order_, "\n"))[0], '\n'));
}

NamedTensors Reducer::residuals() const {
  NamedTensors all;
  if (!compression_.kind || !ordered_) return all;
  for (const Item& item : items_) {
    const Dims dims = state_.at(item.name).dims();
    const std::span<const float> lost = buckets_[item.bucket].residual();
    Tensor value = Tensor::zeros(DType::kF32, dims);
    if (!lost.empty())
      std::copy_n(lost.begin() + static_cast<std::ptrdiff_t>(item.offset), value.size(), value.mutable_data<float>());
    all.emplace_back(item.name, std::move(value));
  }
  return all;
}

void Reducer::set_residuals(const NamedTensors& residuals) {
  std::vector<std::string> names;
  for (const auto& [name, value] : residuals) names.push_back(name);
  ordered_ = true;
  make_buckets(names);
  std::vector<std::vector<float>> lost(buckets_.size());
  for (const auto& [name, value] : residuals) {  // in the order of their offsets
    std::vector<float>& of_bucket = lost[items_[places_.at(name)].bucket];
    of_bucket.insert(of_bucket.end(), value.data<float>(), value.data<float>() + value.size());
  }
  for (size_t b = 0; b < buckets_.size(); ++b) buckets_[b].set_residual(std::move(lost[b]));
}

void Reducer::finish(std::span<float> more) {
  for (Item& item : items_)
    if (!item.ready) put(item, state_.at(item.name));
  begin_complete();
  const auto request = ranks_.begin_all_reduce(std::as_writable_bytes(more), DType::kF32);
  for (Bucket& bucket : buckets_) bucket.finish(ranks_);
  ranks_.wait(request);
  begun_ = 0;
  for (Item& item : items_) {
    put_back(item);
    item.ready = false;
    ++missing_[item.bucket];
  }
  for (Bucket& bucket : buckets_) bucket.taken();
  if (!ordered_) take_order();
}

}  // namespace mlopt::train
