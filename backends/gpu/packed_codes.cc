// Products and convolutions of 8-bit codes with constant weights, as products of signed codes that fit tensor cores.
#include "backends/gpu/packed_codes.h"

#include <algorithm>
#include <cstring>

#include "backends/gpu/conv_product.h"
#include "backends/gpu/device/geometry.h"
#include "core/base/align.h"
#include "core/exec/weight_cache.h"
#include "core/tensor/cast.h"

namespace mlopt::gpu {
namespace {

constexpr int64_t kLeast = 16, kMostLength = int64_t{1} << 17;

std::vector<std::byte> packed(const Tensor& codes, int64_t rows, int64_t length, bool turned) {
  const int64_t pitch = round_up(length, PackedCodes::kMultiple), all = round_up(rows, PackedCodes::kMultiple);
  std::vector<std::byte> bytes(static_cast<size_t>(all * pitch) + static_cast<size_t>(all) * sizeof(int32_t));
  const auto* in = reinterpret_cast<const uint8_t*>(codes.raw());
  const uint8_t flip = codes.dtype() == DType::kU8 ? 0x80 : 0;
  std::vector<int32_t> sums(static_cast<size_t>(all));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < length; ++k) {
      const auto code = static_cast<uint8_t>(in[turned ? k * rows + r : r * length + k] ^ flip);
      bytes[static_cast<size_t>(r * pitch + k)] = static_cast<std::byte>(code);
      sums[static_cast<size_t>(r)] += static_cast<int8_t>(code);
    }
  std::memcpy(bytes.data() + all * pitch, sums.data(), sums.size() * sizeof(int32_t));
  return bytes;
}

/// Are zero points such that packed weights have none?
bool has_middle_zero(const Site& site, int codes, int zero) {
  const bool is_signed = site.desc(codes).dtype == DType::kI8;
  if (zero < 0 || !site.has(zero)) return is_signed;
  const Tensor* points = site.constant(zero);
  if (!points) return false;
  const std::vector<int64_t> all = to_ints(*points);
  return std::all_of(all.begin(), all.end(), [&](int64_t z) { return z == (is_signed ? 0 : 128); });
}

struct ConvRun {
  IntegerConvArgs args;
  ConvColumns columns;
  std::shared_ptr<PackedCodes> weights;
  int64_t rows, plane;  ///< of the columns of an image, rounded up; of the input
  size_t columns_at;    ///< in the scratch, behind the sums

  CodeSums operator()(const Buffers& b, const void* codes, const void* zero, std::byte* scratch) const {
    const ConvArgs& conv = args.conv;
    auto* sums = reinterpret_cast<int32_t*>(scratch);
    for (int64_t first = 0; first < conv.batch; first += columns.images) {
      const int64_t images = std::min<int64_t>(columns.images, conv.batch - first);
      const std::byte* in = static_cast<const std::byte*>(codes) + first * conv.channels_in * plane;
      for (int group = 0; group < conv.groups; ++group) {
        launch(b, &Kernels::code_columns,
               CodeColumnsArgs{conv, args.x.is_signed, static_cast<int>(images), group, static_cast<int>(rows),
                               static_cast<int>(weights->pitch), in, zero, scratch + columns_at});
        launch(
            b, &Kernels::codes_product,
            CodesProductArgs{images, columns.m, rows, weights->pitch, 0, rows * weights->pitch,
                             conv.channels_out * rows, weights->codes(queue_of(b)) + group * columns.m * weights->pitch,
                             scratch + columns_at, sums + (first * conv.channels_out + group * columns.m) * rows});
      }
    }
    return {sums, Divider(columns.n), static_cast<int32_t>(rows), weights->sums(queue_of(b)), args.x.is_signed, zero};
  }
};

}  // namespace

PlannedStep step_of(TensorDesc out, const SumsMaker& sums) {
  PlannedStep step{.out = {std::move(out)}};
  step.scratch_bytes = sums.bytes;
  step.packed = sums.unread;
  step.label = sums.label;
  step.packed_bytes = sums.weight_bytes;
  return step;
}

PackedCodes::PackedCodes(const Tensor& codes, int64_t rows, int64_t length, bool turned)
    : rows(round_up(rows, kMultiple)), pitch(round_up(length, kMultiple)), blob_(packed(codes, rows, length, turned)) {}

std::shared_ptr<PackedCodes> packed_codes(const Site& site, int codes, int zero, int64_t rows, int64_t length,
                                          bool turned) {
  const Tensor* constant = site.constant(codes);
  if (!constant || rows < kLeast || length < kLeast || length >= kMostLength) return nullptr;
  if (constant->size() != rows * length || !has_middle_zero(site, codes, zero)) return nullptr;
  return shared_weights<PackedCodes>(site.context.weights, *constant, turned ? "gpu codes, turned" : "gpu codes",
                                     [&] { return std::make_shared<PackedCodes>(*constant, rows, length, turned); });
}

std::optional<SumsMaker> packed_product(const Site& site, const IntegerProductArgs& args, int b, int bz) {
  const bool is_signed = args.a.is_signed;
  const int64_t rows = args.batches.count * args.m, k = args.k, n = args.n;
  const auto weights = packed_codes(site, b, bz, n, k, !args.x_transposed);
  if (!weights || rows * std::max(weights->rows, weights->pitch) >= int64_t{1} << 31) return std::nullopt;
  const size_t codes_at = device_aligned(static_cast<size_t>(rows * weights->rows) * sizeof(int32_t));
  SumsMaker made;
  made.bytes = codes_at + device_aligned(static_cast<size_t>(rows * weights->pitch));
  made.packed = true;
  made.weight_bytes = weights->bytes();
  made.unread = {b};
  made.label = "cublas int8";
  made.run = [=](const Buffers& buffers, const void* codes, const void* zero, std::byte* scratch) -> CodeSums {
    const bool as_it_is = is_signed && weights->pitch == k && reinterpret_cast<uintptr_t>(codes) % 16 == 0;
    if (!as_it_is)
      launch(buffers, &Kernels::pack_codes,
             PackCodesArgs{is_signed, rows, k, static_cast<int>(weights->pitch), codes, scratch + codes_at});
    auto* sums = reinterpret_cast<int32_t*>(scratch);
    launch(buffers, &Kernels::codes_product,
           CodesProductArgs{1, rows, weights->rows, weights->pitch, 0, 0, 0, as_it_is ? codes : scratch + codes_at,
                            weights->codes(queue_of(buffers)), sums});
    return {sums, Divider(n), static_cast<int32_t>(weights->rows), weights->sums(queue_of(buffers)), is_signed, zero};
  };
  return made;
}

std::optional<SumsMaker> packed_conv(const Site& site, const IntegerConvArgs& args, int w, int wz) {
  const auto columns = conv_columns(args.conv, 1, PackedCodes::kMultiple, PackedCodes::kMultiple);
  if (!columns) return std::nullopt;
  const auto weights = packed_codes(site, w, wz, args.conv.channels_out, columns->k, false);
  const int64_t rows = round_up(columns->n, PackedCodes::kMultiple);
  const int64_t sums = args.conv.batch * int64_t{args.conv.channels_out} * rows;
  if (!weights || sums >= int64_t{1} << 31) return std::nullopt;
  const size_t columns_at = device_aligned(static_cast<size_t>(sums) * sizeof(int32_t));
  SumsMaker made;
  made.bytes = columns_at + columns->bytes;
  made.packed = true;
  made.weight_bytes = weights->bytes();
  made.unread = {w};
  made.label = "columns, cublas int8";
  made.run = ConvRun{args, *columns, weights, rows, Geometry(args.conv).plane, columns_at};
  return made;
}

}  // namespace mlopt::gpu
