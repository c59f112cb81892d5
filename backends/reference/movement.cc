#include "backends/reference/movement.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "core/base/parallel.h"
#include "core/tensor/cast.h"

namespace mlopt::reference {
namespace {

constexpr int64_t kTile = 32;                // rows and columns of a transposed block: both sides stay in the L1 cache
constexpr int64_t kGrainElements = 1 << 15;  // below this many elements a second thread costs more than it saves

struct Axis {
  int64_t size, from, to;
};

/// Axes of size 1 left out, neighbours that both sides walk alike merged into one.
std::vector<Axis> merged_axes(const Dims& dims, std::span<const int64_t> from, std::span<const int64_t> to) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    const Axis axis{dims[i], from[i], to[i]};
    if (!axes.empty() && axes.back().from == axis.from * axis.size && axes.back().to == axis.to * axis.size)
      axes.back() = {axes.back().size * axis.size, axis.from, axis.to};
    else
      axes.push_back(axis);
  }
  return axes;
}

/// The last two axes are walked as planes. When the source is dense along an outer axis and not along the last one,
/// that axis is the plane's other side, so that blocks of the plane are dense on both sides.
bool choose_plane(std::vector<Axis>& axes) {
  while (axes.size() < 2) axes.insert(axes.begin(), Axis{1, 0, 0});
  if (axes.back().from == 1 || axes.back().to != 1) return false;
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    if (axes[i].from != 1) continue;
    std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(i), axes.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                axes.end() - 1);
    return true;
  }
  return false;
}

template <class T>
void copy_rows(const T* from, T* to, Axis rows, Axis columns, int64_t columns_at_once) {
  for (int64_t left = 0; left < columns.size; left += columns_at_once) {
    const int64_t count = std::min(columns_at_once, columns.size - left);
    for (int64_t r = 0; r < rows.size; ++r) {
      const T* source = from + r * rows.from + left * columns.from;
      T* target = to + r * rows.to + left * columns.to;
      if (columns.from == 1 && columns.to == 1)
        std::memcpy(target, source, static_cast<size_t>(count) * sizeof(T));
      else
        for (int64_t c = 0; c < count; ++c) target[c * columns.to] = source[c * columns.from];
    }
  }
}

template <class T>
void copy_planes(const std::vector<Axis>& axes, bool transposed, const T* from, T* to) {
  const Axis rows = axes[axes.size() - 2], columns = axes.back();
  const int64_t bands = (rows.size + kTile - 1) / kTile;
  int64_t planes = 1;
  for (size_t i = 0; i + 2 < axes.size(); ++i) planes *= axes[i].size;
  const int64_t band_elements = std::min(rows.size, kTile) * columns.size;
  parallel_for(planes * bands, std::max<int64_t>(1, kGrainElements / band_elements), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % bands * kTile;
      int64_t plane = item / bands, source = first * rows.from, target = first * rows.to;
      for (size_t i = axes.size() - 2; i-- > 0; plane /= axes[i].size) {
        source += plane % axes[i].size * axes[i].from;
        target += plane % axes[i].size * axes[i].to;
      }
      const Axis band{std::min(kTile, rows.size - first), rows.from, rows.to};
      copy_rows(from + source, to + target, band, columns, transposed ? kTile : columns.size);
    }
  });
}

}  // namespace

std::vector<int> axes_of(const Call& call, std::span<const int64_t> axes, int64_t rank) {
  std::vector<int> found;
  for (const int64_t axis : axes) {
    const int place = axis_of(call, axis, rank);
    if (std::find(found.begin(), found.end(), place) != found.end())
      fail(call, fmt::format("axis {} is named twice", axis));
    found.push_back(place);
  }
  return found;
}

ElementCodec::ElementCodec(DType type) : type_(type), opened_(type) {
  if (type == DType::kString) {
    opened_ = DType::kI64;
    table_.emplace_back();
  } else if (is_sub_byte(type)) {
    opened_ = is_integer(type) && is_signed(type) ? DType::kI8 : DType::kU8;
  }
  width_ = static_cast<size_t>(bits(opened_)) / 8;
}

Tensor ElementCodec::open(const Tensor& tensor) {
  if (tensor.dtype() != type_)
    input_error(fmt::format("inputs of types {} and {} cannot be mixed", name(type_), name(tensor.dtype())));
  if (type_ == DType::kString) {
    Tensor numbers(opened_, tensor.dims());
    int64_t* number = numbers.mutable_data<int64_t>();
    for (const std::string& text : tensor.strings()) {
      *number++ = static_cast<int64_t>(table_.size());
      table_.push_back(text);
    }
    return numbers;
  }
  return is_sub_byte(type_) ? unpack(tensor) : tensor;
}

Tensor ElementCodec::close(Tensor opened) const {
  if (type_ == DType::kString) {
    std::vector<std::string> texts;
    texts.reserve(static_cast<size_t>(opened.size()));
    for (const int64_t number : opened.span<int64_t>()) texts.push_back(table_[static_cast<size_t>(number)]);
    return Tensor::of_strings(opened.dims(), std::move(texts));
  }
  if (is_sub_byte(type_)) return pack(opened, type_);
  return opened;
}

void copy_strided(const Dims& dims, size_t width, const std::byte* from, std::span<const int64_t> from_strides,
                  std::byte* to, std::span<const int64_t> to_strides) {
  if (element_count(dims) == 0) return;
  std::vector<Axis> axes = merged_axes(dims, from_strides, to_strides);
  const bool transposed = choose_plane(axes);
  by_width(width, [&](auto sample) {
    using T = decltype(sample);
    copy_planes(axes, transposed, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
  });
}

Tensor gather_strided(const Tensor& tensor, const Dims& dims, std::span<const int64_t> strides, int64_t offset) {
  ElementCodec codec(tensor.dtype());
  const Tensor from = codec.open(tensor);
  Tensor to = codec.blank(dims);
  if (to.size() > 0)
    copy_strided(dims, codec.width(), from.raw() + offset * static_cast<int64_t>(codec.width()), strides,
                 to.mutable_raw(), row_major_strides(dims));
  return codec.close(std::move(to));
}

Tensor gather_mapped(const ElementCodec& codec, const Tensor& opened, const std::vector<std::vector<int64_t>>& maps,
                     const std::byte* fill) {
  Dims dims;
  for (const std::vector<int64_t>& map : maps) dims.push_back(static_cast<int64_t>(map.size()));
  Tensor out = codec.blank(dims);
  if (out.size() == 0) return out;
  static const std::vector<int64_t> kOne{0};
  const std::vector<int64_t>& last = maps.empty() ? kOne : maps.back();
  const auto columns = static_cast<int64_t>(last.size());
  const Dims strides = row_major_strides(opened.dims());
  by_width(codec.width(), [&](auto sample) {
    using T = decltype(sample);
    T empty{};
    if (fill) std::memcpy(&empty, fill, sizeof(T));
    const T* from = reinterpret_cast<const T*>(opened.raw());
    T* to = reinterpret_cast<T*>(out.mutable_raw());
    parallel_for(out.size() / columns, std::max<int64_t>(1, kGrainElements / columns), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t rest = row, offset = 0;
        bool outside = false;
        for (size_t axis = maps.size(); axis-- > 1;) {
          const std::vector<int64_t>& map = maps[axis - 1];
          const int64_t place = map[static_cast<size_t>(rest) % map.size()];
          rest /= static_cast<int64_t>(map.size());
          outside |= place < 0;
          offset += place * strides[axis - 1];
        }
        T* target = to + row * columns;
        if (outside)
          std::fill_n(target, columns, empty);
        else
          for (const int64_t place : last) *target++ = place < 0 ? empty : from[offset + place];
      }
    });
  });
  return out;
}

}  // namespace mlopt::reference
