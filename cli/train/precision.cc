#include "cli/train/precision.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {

void check_precision(const TrainOptions& o) {
  if (o.precision == "fp32" && !o.keep_fp32.empty())
    usage_error("all is float32 anyway", "--keep-fp32", "add --precision bf16 or fp16");
  if (o.precision != "fp32" && !o.qat.empty())
    usage_error("half precision would round once more what is rounded as the integers round", "--precision",
                "leave out --precision: then --qat trains what the integers will compute");
}

train::MixedPrecision mixed_precision_of(const TrainOptions& o) {
  return {o.precision == "bf16"   ? DType::kBF16
          : o.precision == "fp16" ? DType::kF16
                                  : DType::kF32,
          list_items(o.keep_fp32)};
}

void report_products(const TrainOptions& o, const train::HalfProducts& products, std::string_view device,
                     Report& report) {
  std::string kept;
  Json reasons = Json::object();
  for (const auto& [reason, count] : products.kept) {
    kept += fmt::format("{}{} in float32 ({})", kept.empty() ? "; " : ", ", count, reason);
    reasons[reason] = count;
  }
  report.line(fmt::format("{} matrix products and convolutions in {}, forward and backward{}", products.half,
                          o.precision, kept));
  if (device != "gpu")
    report.line(
        fmt::format("the {} backend widens {} to float32 to compute: the rounding is real, the time is not less",
                    device, o.precision));
  report.data["precision"] = o.precision;
  report.data["products"] = Json::object({{"half", products.half}, {"float32", std::move(reasons)}});
}

void report_loss_scale(const train::LossScale& scale, Report& report) {
  report.line(fmt::format("loss scale {:.0f} at the end, {} updates skipped for gradients that were not finite",
                          scale.value, scale.skipped));
  report.data["loss_scale"] = Json::object({{"value", scale.value}, {"skipped_updates", scale.skipped}});
}

}  // namespace mlopt::cli
