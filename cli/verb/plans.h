#pragma once
#include <memory>

#include "cli/command.h"
#include "core/exec/backend.h"
#include "core/ir/model.h"

namespace mlopt::cli {

/// Source and result compiled on the device of the session: at first use, and once for all that runs them there. The
/// models must outlive it.
class Plans {
 public:
  Plans(const Model& source, const Model& result, const Session& session);

  Executable& source();
  Executable& result();
  /// The name of the device.
  const std::string& device() const { return device_; }

 private:
  Executable& compiled(const Model& model, std::unique_ptr<Executable>& plan);

  const Model &source_model_, &result_model_;
  const Common& common_;
  std::string device_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Executable> source_, result_;
};

}  // namespace mlopt::cli
