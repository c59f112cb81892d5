// W -> codes, put together from planes of 1, 2 and 4 bits, and what they stand for: (codes - zero points) * scales, or
// Gather(table, codes) * scales, where an entry may be several numbers, or GatherElements(codebooks, codes). Standard
// operators on constants, which a runtime computes once; the file holds as many bits as the format says.
#include <algorithm>
#include <cstring>

#include "core/base/parallel.h"
#include "quantize/emit/weight_forms.h"
#include "quantize/emit/weight_writer.h"

namespace mlopt::quantize {
namespace {

constexpr int kByte = 8;
constexpr int64_t kGrain = 1 << 16;  // bytes that are worth a thread
constexpr auto kInt32 = static_cast<int64_t>(DType::kI32), kFloat = static_cast<int64_t>(DType::kF32);

std::string problem(const Weight&, const Spec&) { return {}; }
int64_t opset(const Weight&, const Spec&) { return 13; }

/// One alphabet is for `width` numbers, one after the other once each row is filled up to `filled` columns.
struct Grid2 {
  int64_t alphabets, width, filled;
};

Grid2 grid_of(const Coded& coded) {
  if (coded.per_tensor()) return {1, coded.rows * coded.columns, coded.columns};
  return {coded.rows * coded.groups(), coded.group, coded.groups() * coded.group};
}

class Unpacker {
 public:
  Unpacker(WeightWriter& out, int64_t opset) : out_(out), opset_(opset) {}

  /// int32 codes in a row.
  Value* codes(const std::vector<uint8_t>& codes, int bits) {
    const auto count = static_cast<int64_t>(codes.size()), filled = (count + kByte - 1) / kByte * kByte;
    Value* sum = nullptr;
    for (int from = 0; from < bits;) {
      const int width = widest(bits - from);
      Value* part = plane(codes, filled, from, width);
      if (from > 0) part = out_.op("Mul", {part, scalar(1 << from)});
      sum = sum ? out_.op("Add", {sum, part}) : part;
      from += width;
    }
    if (bits < kByte && filled != count)
      sum = out_.op("Slice", {sum, out_.shared("from", Tensor::ints({0})), out_.constant("to", Tensor::ints({count}))});
    return sum;
  }

 private:
  static int widest(int bits) { return bits >= 8 ? 8 : bits >= 4 ? 4 : bits >= 2 ? 2 : 1; }

  Value* scalar(int32_t x) { return out_.shared("times_" + std::to_string(x), Tensor::scalar(x)); }

  /// Bits from to from + width of each code, as int32: in byte j those of codes j, j + bytes, j + 2 bytes, ..., so that
  /// the parts of all bytes one after the other are the codes in order.
  Value* plane(const std::vector<uint8_t>& codes, int64_t filled, int from, int width) {
    if (width == kByte) {
      Tensor bytes(DType::kU8, {std::ssize(codes)});
      auto* to = bytes.mutable_data<uint8_t>();
      parallel_for(std::ssize(codes), kGrain, [&](int64_t begin, int64_t end) {
        std::memcpy(to + begin, codes.data() + begin, static_cast<size_t>(end - begin));
      });
      return out_.op("Cast", {out_.constant("codes", std::move(bytes))}, {{"to", kInt32, {}}});
    }
    const int64_t parts = kByte / width, bytes = filled / parts, count = std::ssize(codes);
    const int mask = (1 << width) - 1;
    Tensor packed = Tensor::zeros(DType::kU8, {1, bytes});
    auto* to = packed.mutable_data<uint8_t>();
    parallel_for(bytes, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t part = 0; part < parts; ++part) {
        const int64_t first = part * bytes, last = std::min(end, count - first);
        for (int64_t j = begin; j < last; ++j) {
          const int bits = (codes[static_cast<size_t>(first + j)] >> from) & mask;
          to[j] = static_cast<uint8_t>(to[j] | bits << (part * width));
        }
      }
    });
    Value* stored = out_.constant("codes", std::move(packed));
    return out_.reshaped(opset_ >= kBitwiseOpset ? shifted(stored, width, parts) : divided(stored, width, parts), {-1});
  }

  Value* shifted(Value* stored, int width, int64_t parts) {
    std::vector<uint8_t> shifts;
    for (int64_t p = 0; p < parts; ++p) shifts.push_back(static_cast<uint8_t>(p * width));
    Value* by = out_.shared("shifts_" + std::to_string(width), Tensor::of<uint8_t>({parts, 1}, shifts));
    Value* mask = out_.shared("mask_" + std::to_string(width), Tensor::scalar(static_cast<uint8_t>((1 << width) - 1)));
    Value* low = out_.op("BitShift", {stored, by}, {{"direction", std::string("RIGHT"), {}}});
    Value* bits = out_.op("BitwiseAnd", {low, mask});
    return out_.op("Cast", {bits}, {{"to", kInt32, {}}});
  }

  Value* divided(Value* stored, int width, int64_t parts) {
    std::vector<int32_t> divisors;
    for (int64_t p = 0; p < parts; ++p) divisors.push_back(1 << (p * width));
    Value* wide = out_.op("Cast", {stored}, {{"to", kInt32, {}}});
    Value* low = out_.op(
        "Div", {wide, out_.shared("divisors_" + std::to_string(width), Tensor::of<int32_t>({parts, 1}, divisors))});
    return out_.op("Mod", {low, scalar(1 << width)});
  }

  static constexpr int64_t kBitwiseOpset = 18;
  WeightWriter& out_;
  int64_t opset_;
};

/// The first columns of a matrix.
Value* cut(WeightWriter& out, Value* matrix, int64_t columns) {
  return out.op("Slice", {matrix, out.shared("from", Tensor::ints({0})),
                          out.shared("to_" + std::to_string(columns), Tensor::ints({columns})),
                          out.shared("axis", Tensor::ints({1}))});
}

/// Numbers [alphabets, width] of codes, int32 or, of uniform levels, bytes.
Value* looked_up(WeightWriter& out, Value* codes, const Coded& coded, const Spec& spec, int64_t alphabets) {
  const auto size = static_cast<int64_t>(coded.table.size());
  if (coded.levels == Levels::kCodebook) {
    Value* books = out.constant("codebook", Tensor::of<float>({alphabets, size / alphabets}, coded.table));
    return out.op("GatherElements", {books, codes}, {{"axis", int64_t{1}, {}}});
  }
  Value* levels = nullptr;
  if (coded.levels == Levels::kTable) {
    levels = out.op("Gather", {out.constant("table", Tensor::of<float>({size}, coded.table)), codes});
  } else {
    const bool symmetric = spec.scheme().symmetric;
    Value* zero = out.constant("zero_point", symmetric ? Tensor::scalar(static_cast<float>(1 << (coded.bits - 1)))
                                                       : Tensor::of<uint8_t>({alphabets, 1}, coded.zero));
    if (!symmetric) zero = out.op("Cast", {zero}, {{"to", kFloat, {}}});
    levels = out.op("Sub", {out.op("Cast", {codes}, {{"to", kFloat, {}}}), zero});
  }
  return out.op("Mul", {levels, out.constant("scale", Tensor::of<float>({alphabets, 1}, coded.scale))});
}

/// Rows of int32 codes, each for several numbers, as [rows, columns].
Value* vectors_of(WeightWriter& out, Value* codes, const Coded& coded) {
  const int64_t width = coded.code_columns(), entries = int64_t{1} << coded.bits;
  Value* book = out.constant("codebook", Tensor::of<float>({entries, coded.vector}, coded.table));
  Value* numbers = out.op("Gather", {book, out.reshaped(codes, {coded.rows, width})});
  numbers = out.reshaped(numbers, {coded.rows, width * coded.vector});
  if (width * coded.vector != coded.columns) numbers = cut(out, numbers, coded.columns);
  const Dims scales = coded.per_tensor() ? Dims{} : Dims{coded.rows, 1};
  return out.op("Mul", {numbers, out.constant("scale", Tensor::of<float>(scales, coded.scale))});
}

int64_t write(Model& model, const Weight& weight, const Coded& coded, const Spec& spec) {
  WeightWriter out(weight);
  if (coded.levels == Levels::kVectors) {
    Value* numbers = vectors_of(out, Unpacker(out, model.opset()).codes(coded.codes, coded.bits), coded);
    out.replace_by(out.with_kept(out.restored(numbers), coded.kept));
    return out.bytes();
  }
  const Grid2 grid = grid_of(coded);
  const int64_t more = grid.filled - coded.columns;
  Value* codes = nullptr;
  if (more == 0 && coded.bits == kByte && coded.levels == Levels::kUniform) {
    codes = out.constant("codes", Tensor::of<uint8_t>({grid.alphabets, grid.width}, coded.codes));
  } else {
    codes = Unpacker(out, model.opset()).codes(coded.codes, coded.bits);
    if (more > 0) {
      codes = out.reshaped(codes, {coded.rows, coded.columns});
      codes = out.op("Pad", {codes, out.shared("more_" + std::to_string(more), Tensor::ints({0, 0, 0, more}))});
    }
    codes = out.reshaped(codes, {grid.alphabets, grid.width});
  }
  Value* numbers = looked_up(out, codes, coded, spec, grid.alphabets);
  if (grid.width != grid.filled) numbers = out.reshaped(numbers, {coded.rows, grid.filled});
  if (more > 0) numbers = cut(out, numbers, coded.columns);
  out.replace_by(out.with_kept(out.restored(numbers), coded.kept));
  return out.bytes();
}

}  // namespace

const WeightForm kGatherForm = {Emit::kGather, problem, opset, write};

}  // namespace mlopt::quantize
