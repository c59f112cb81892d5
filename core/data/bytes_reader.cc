#include <fmt/core.h>

#include "core/base/error.h"
#include "core/data/reader.h"
#include "core/data/select.h"

namespace mlopt {
namespace {

constexpr int64_t kDefaultLength = 128;

/// Window i holds bytes [i * length, (i + 1) * length) of the stream; its target is the same one byte later.
class BytesReader final : public Reader {
 public:
  BytesReader(Source stream, int64_t length) : stream_(std::move(stream)), length_(length) {}

  int64_t size() const override { return std::max<int64_t>(stream_->size() - 1, 0) / length_; }
  bool labelled() const override { return true; }
  std::string name_of(int64_t i) const override { return fmt::format("{}, byte {}", stream_->where(), i * length_); }
  std::optional<int64_t> class_of(int64_t) const override { return std::nullopt; }

  RawSample read(int64_t i) const override {
    std::vector<std::byte> bytes(static_cast<size_t>(length_) + 1);
    stream_->read(i * length_, bytes);
    Tensor tokens(DType::kI64, {length_}), targets(DType::kI64, {length_});
    auto *from = tokens.mutable_data<int64_t>(), *to = targets.mutable_data<int64_t>();
    for (size_t k = 0; k < static_cast<size_t>(length_); ++k) {
      from[k] = std::to_integer<int64_t>(bytes[k]);
      to[k] = std::to_integer<int64_t>(bytes[k + 1]);
    }
    RawSample sample;
    sample.arrays.emplace_back("", std::move(tokens));
    sample.label = std::move(targets);
    return sample;
  }

 private:
  Source stream_;
  int64_t length_;
};

/// The part of the text that `split` names.
Source cut(Source whole, const std::optional<std::array<double, 2>>& split) {
  if (!split) return whole;
  const auto [begin, end] = places_of(*split, whole->size());
  std::string where = whole->where();
  return part_of(std::move(whole), begin, end - begin, std::move(where));
}

}  // namespace

ReaderPtr bytes_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs) {
  const InputSpec& input = only_input(inputs, spec.path);
  if (input.dims.empty() || input.dims.size() > 2) {
    input_error(fmt::format("a stream of tokens needs an input of rank 1 or 2; the model takes {}", to_string(inputs)),
                spec.path, "give arrays of the model's shape: an .npz archive");
  }
  const auto fixed = input.dims.back().value();
  if (fixed && spec.length && *fixed != *spec.length) {
    input_error(fmt::format("length={}, but the model's input has {} tokens", *spec.length, *fixed), spec.path,
                "leave length out");
  }
  const int64_t length = fixed.value_or(spec.length.value_or(kDefaultLength));
  if (length < 1 || length > (1 << 24))
    input_error(fmt::format("{} tokens in a sample", length), spec.path, "give another length=");
  const Source stream = cut(open_source(spec.path), spec.selection.split);
  if (stream->size() <= length) {
    input_error(fmt::format("{} bytes are too few for a sample of {} tokens and its target", stream->size(), length),
                spec.path, "give a longer text");
  }
  return std::make_unique<BytesReader>(stream, length);
}

}  // namespace mlopt
