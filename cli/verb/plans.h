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
  /// `in_parts`: each is run part by part where it is large.
  Plans(const Model& source, const Model& result, const Session& session, bool in_parts = false);

  /// Another result beside the same source, which stays compiled.
  void replace_result(const Model& result) { result_ = {&result}; }

  Executable& source() { return *compiled(source_).plan; }
  Executable& result() { return *compiled(result_).plan; }
  /// What compiling them took.
  double source_compile_ms() { return compiled(source_).compile_ms; }
  double result_compile_ms() { return compiled(result_).compile_ms; }
  /// The name of the device.
  const std::string& device() const { return device_; }
  int threads() const { return common_.threads; }
  /// They are run in a way that says nothing about their speed.
  bool in_parts() const { return in_parts_; }

 private:
  struct Compiled {
    const Model* model;
    std::unique_ptr<Executable> plan = nullptr;
    double compile_ms = 0;
  };
  Compiled& compiled(Compiled& one);

  const Common& common_;
  std::string device_;
  bool in_parts_;
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<WeightCache> weights_;
  Compiled source_, result_;
};

}  // namespace mlopt::cli
