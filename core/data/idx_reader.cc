#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/data/reader.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

// The format of MNIST's files: 0 0 TYPE RANK, RANK dimensions of 4 bytes, the elements; all big-endian.

struct IdxType {
  int code;
  DType dtype;
};
constexpr std::array kTypes = {IdxType{0x08, DType::kU8},  IdxType{0x09, DType::kI8},  IdxType{0x0b, DType::kI16},
                               IdxType{0x0c, DType::kI32}, IdxType{0x0d, DType::kF32}, IdxType{0x0e, DType::kF64}};
constexpr int64_t kMaxRow = int64_t{1} << 30;  // bytes

class IdxFile {
 public:
  explicit IdxFile(const std::string& path) : source_(open_maybe_gzip(path)) {
    std::array<std::byte, 4> head{};
    source_->read(0, head);
    for (const IdxType& type : kTypes) {
      if (std::to_integer<int>(head[2]) == type.code) dtype_ = type.dtype;
    }
    const auto rank = std::to_integer<size_t>(head[3]);
    if (head[0] != std::byte{0} || head[1] != std::byte{0} || dtype_ == DType::kUndefined || rank < 1 || rank > 8) {
      input_error("not an idx file", path, "give a file in the format of MNIST, plain or gzipped");
    }
    std::vector<std::byte> sizes(4 * rank);
    source_->read(4, sizes);
    for (size_t d = 0; d < rank; ++d) {
      int64_t size = 0;
      for (size_t b = 0; b < 4; ++b) size = size << 8 | std::to_integer<int64_t>(sizes[4 * d + b]);
      dims_.push_back(size);
    }
    offset_ = 4 + 4 * static_cast<int64_t>(rank);
    check_size(path);
  }

  int64_t rows() const { return dims_[0]; }
  DType dtype() const { return dtype_; }
  Dims row_dims() const { return {dims_.begin() + 1, dims_.end()}; }
  const std::string& where() const { return source_->where(); }

  Tensor row(int64_t i) const {
    Tensor out(dtype_, row_dims());
    std::byte* data = out.mutable_raw();
    source_->read(offset_ + i * static_cast<int64_t>(out.bytes()), {data, out.bytes()});
    const auto width = static_cast<size_t>(bits(dtype_) / 8);
    for (size_t at = 0; width > 1 && at < out.bytes(); at += width) std::reverse(data + at, data + at + width);
    return out;
  }

 private:
  void check_size(const std::string& path) const {
    int64_t row = bits(dtype_) / 8;
    for (size_t d = 1; d < dims_.size(); ++d)
      row = std::min(checked_mul(row, dims_[d]).value_or(kMaxRow + 1), kMaxRow + 1);
    if (row == 0) input_error("the samples have no elements", path, "give a file with data");
    const auto all = checked_mul(row, dims_[0]);
    const bool fits = source_->size() < 0 || (all && *all <= source_->size() - offset_);
    if (row > kMaxRow || !all || !fits) {
      input_error(fmt::format("the file is too short for {} samples", dims_[0]), path,
                  "it is truncated: fetch it again");
    }
  }

  Source source_;
  DType dtype_ = DType::kUndefined;
  Dims dims_;
  int64_t offset_ = 0;
};

class IdxReader final : public Reader {
 public:
  IdxReader(IdxFile images, std::optional<IdxFile> labels) : images_(std::move(images)), labels_(std::move(labels)) {
    if (!labels_) return;
    if (!labels_->row_dims().empty() || !is_integer(labels_->dtype())) {
      input_error(
          fmt::format("not labels: each is {} of shape {}", name(labels_->dtype()), to_string(labels_->row_dims())),
          labels_->where(), "give the file of images first, then the one of its labels");
    }
    if (labels_->rows() != images_.rows()) {
      input_error(fmt::format("{} labels for {} samples", labels_->rows(), images_.rows()), labels_->where(),
                  "give the file of labels that belongs to the images");
    }
  }

  int64_t size() const override { return images_.rows(); }
  bool labelled() const override { return labels_.has_value(); }
  std::string name_of(int64_t i) const override { return fmt::format("{}, sample {}", images_.where(), i); }
  std::optional<int64_t> class_of(int64_t i) const override {
    if (!labels_) return std::nullopt;
    return to_ints(labels_->row(i))[0];
  }

  RawSample read(int64_t i) const override {
    RawSample sample;
    Tensor row = images_.row(i);
    const bool gray = row.dtype() == DType::kU8 && row.rank() == 2;
    const bool color = row.dtype() == DType::kU8 && row.rank() == 3 && row.dim(2) == 3;
    if (gray || color) {
      check_picture_size(row.dim(1), row.dim(0), name_of(i));
      Picture picture(row.dim(0), row.dim(1), color ? 3 : 1);
      std::copy_n(row.data<uint8_t>(), row.size(), picture.pixels.begin());
      sample.picture = std::move(picture);
    } else {
      sample.arrays.emplace_back("", std::move(row));
    }
    if (labels_) sample.label = Tensor::scalar<int64_t>(*class_of(i));
    return sample;
  }

 private:
  IdxFile images_;
  std::optional<IdxFile> labels_;
};

}  // namespace

ReaderPtr idx_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs) {
  only_input(inputs, spec.path);
  std::optional<IdxFile> labels;
  if (!spec.labels.empty()) labels.emplace(spec.labels);
  return std::make_unique<IdxReader>(IdxFile(spec.path), std::move(labels));
}

}  // namespace mlopt
