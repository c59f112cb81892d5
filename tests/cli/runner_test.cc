#include "cli/runner.h"

#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"

using namespace mlopt;

namespace {

/// Keeps how many nodes it is asked to compile.
class Recorder : public Backend {
 public:
  explicit Recorder(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Executable> compile(const Model& model, const CompileOptions&) override {
    nodes = model.graph->node_count();
    return nullptr;
  }

  size_t nodes = 0;

 private:
  std::string_view name_;
};

}  // namespace

TEST_CASE("models are fused before they run, but not for the judge, and not when they are to run as they stand") {
  const test::TempDir folder;
  const Model model = read_model(write_text_model(
      folder, "m.onnx",
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2] x) => (float[2] y) { a = Identity (x) y = Relu (a) }"));
  Recorder cpu("cpu"), judge("reference");
  cli::make_preparing_runner(cpu, {}).compile(model);
  CHECK(cpu.nodes == 1);
  cli::make_runner(cpu, {}).compile(model);
  CHECK(cpu.nodes == 2);
  cli::make_preparing_runner(judge, {}).compile(model);
  CHECK(judge.nodes == 2);
}
