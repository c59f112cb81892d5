#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/calib/calibrate.h"
#include "core/data/array_file.h"
#include "core/ir/model.h"

namespace mlopt {

/// A digest of all that a calibration follows from: the graph, its bodies and all constants, the values that are
/// observed, what the samples hold, and `rest` (the device). Reads all samples.
std::string calibration_key(const Model& model, const std::vector<std::string>& values, const Dataset& data,
                            std::string_view rest);

/// A calibration as arrays, for each value "NAME.limits" (float64) and "NAME.counts" (int64), and the numbers of
/// "samples" and of "values".
NamedTensors to_arrays(const Calibration& calibration);
/// The way back; nothing for arrays that are none.
std::optional<Calibration> from_arrays(const NamedTensors& arrays);

/// Calibrations under FOLDER/KEY.npz, which numpy.load reads. One that cannot be read is as if there were none.
std::optional<Calibration> load_calibration(const std::string& folder, const std::string& key);
/// Makes the folder where there is none. Throws Error{kBadInput} where it cannot be written.
void save_calibration(const std::string& folder, const std::string& key, const Calibration& calibration);

}  // namespace mlopt
