#pragma once
#include <string_view>

#include "cli/train/options.h"
#include "core/report/report.h"
#include "core/train/loss_scale.h"

namespace mlopt::cli {

/// Throws Error{kUsage} where --precision or --keep-fp32 does not fit the other options.
void check_precision(const TrainOptions& options);
train::MixedPrecision mixed_precision_of(const TrainOptions& options);

/// Which products of the trained model are in half precision, and what that means on the device.
void report_products(const TrainOptions& options, const train::HalfProducts& products, std::string_view device,
                     Report& report);
/// The scale of the loss at the end, and the updates that were left out to find it.
void report_loss_scale(const train::LossScale& scale, Report& report);

}  // namespace mlopt::cli
