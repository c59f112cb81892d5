#include "distill/cache.h"

#include <filesystem>

#include "backends/reference/backend.h"
#include "core/data/gather.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/net.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// Twice the input, as "hidden", and its sum over the features.
Net doubling() {
  Net net;
  Value* h = net.op("Mul", {net.input({4, 3}), net.constant(tensor({1}, {2}))});
  net.graph().rename(h, "hidden");
  net.output(net.op("MatMul", {h, net.graph().add_constant("w", tensor({3, 2}, {1, 1, 1, 1, 1, 1}))}));
  infer(net.model, standard_types);
  return net;
}

struct Setup {
  TempDir folder;
  Net net = doubling();
  distill::Wiring wiring;
  distill::CacheSettings settings;
  Tensor samples = uniform({10, 3}, -1, 1);
  int64_t computed = 0;

  explicit Setup(const char* match = "t=hidden,loss=mse") {
    distill::Settings follow;
    follow.matches = {distill::parse_match(match)};
    std::vector<distill::Teacher> teachers;
    teachers.push_back(distill::make_teacher(net.model, net.model, {{4, 3}}, standard_types));
    wiring = distill::wire(net.model, std::move(teachers), {{4, 3}}, follow, standard_types);
    PassContext context;
    context.standard_types = standard_types;
    distill::tap(wiring.teachers[0], context);
    settings.folder = folder / "cache";
    settings.models = {"teacher"};
    settings.data = "data";
    settings.progress = [this](int64_t) { ++computed; };
  }

  std::unique_ptr<Dataset> open() {
    return distill::with_cached_teachers(std::make_unique<MemoryData>(samples, std::nullopt), wiring,
                                         *reference_backend(), settings);
  }
};

}  // namespace

TEST_CASE("batches hold what the teacher gives for their samples, also for the last few") {
  Setup s;
  const auto data = s.open();
  CHECK(s.computed == 3);  // 10 samples by 4
  const std::vector<int64_t> which = {9, 0, 4};
  const Batch batch = gather(*data, which);
  REQUIRE(batch.inputs.size() == 3);
  const auto x = to_doubles(batch.inputs[0].tensor()), scores = to_doubles(batch.inputs[1].tensor()),
             hidden = to_doubles(batch.inputs[2].tensor());
  REQUIRE(hidden.size() == 9);
  for (size_t i = 0; i < 9; ++i) CHECK(hidden[i] == Approx(2 * x[i]));
  for (size_t i = 0; i < 3; ++i)
    CHECK(scores[2 * i] == Approx(hidden[3 * i] + hidden[3 * i + 1] + hidden[3 * i + 2]).epsilon(1e-5));
}

TEST_CASE("what is kept is used again, for the same teacher, data and samples alone") {
  Setup s;
  s.open();
  s.computed = 0;
  s.open();
  CHECK(s.computed == 0);
  s.settings.models = {"another"};
  s.open();
  CHECK(s.computed == 3);
  s.settings.data = "other data";
  s.open();
  CHECK(s.computed == 6);
  s.samples = uniform({10, 3}, -1, 1, DType::kF32, 5);  // the files changed behind the same spec
  s.open();
  CHECK(s.computed == 9);
  for (int64_t i = 0; i < s.samples.size(); i += 3) {  // one sample after the other
    s.samples.mutable_data<float>()[i] += 1;
    s.open();
  }
  CHECK(s.computed == 9 + 3 * 10);
}

TEST_CASE("a run that ends half-way leaves nothing that would be used") {
  Setup s;
  s.settings.progress = [](int64_t done) {
    if (done > 4) throw Error(Code::kBadInput, "interrupted");
  };
  CHECK(says(thrown_by([&] { s.open(); }), "interrupted"));
  CHECK(std::filesystem::is_empty(s.settings.folder));
}

TEST_CASE("what has no row for each sample cannot be kept, nor where nothing can be written") {
  Setup scalar;
  distill::Teacher& teacher = scalar.wiring.teachers[0];
  teacher.model.graph->find(teacher.taps[0])->type = Type::tensor(DType::kF32, Dims{});
  CHECK(says(thrown_by([&] { scalar.open(); }), "has no row for each sample"));
  Setup s;
  s.settings.folder = "/proc/nowhere";
  CHECK(thrown_by([&] { s.open(); }).code == Code::kBadInput);
}

}  // namespace mlopt::test
