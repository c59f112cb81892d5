#include "prune/structure/refit.h"

#include "backends/reference/backend.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/onnx/infer.h"
#include "prune/structure/propagate.h"
#include "prune/structure/prove.h"
#include "prune/structure/remove.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("layers that lost channels are fitted to what they gave, and lose the channels all the same") {
  Model model = test::fixture(R"(g (float[N,3,8,8] x, float[12,3,3,3] U, float[12] A, float[12,12,1,1] V,
        float[10,432] W) => (float[N,10] y) {
      a = Conv (x, U, A)
      r = Relu (a)
      b = Conv (r, V)
      f = Flatten (b)
      y = Gemm <transB = 1> (f, W)
    })");
  infer(model, standard_types);
  const Model source = clone(model);
  const prune::Relations all = prune::relate_axes(model, prune::SplitBy::kInner);
  const std::vector<prune::Group> groups = prune::find_groups(all).groups;
  REQUIRE(groups.size() == 2);
  const prune::Removed removed = {{0, 4, 7}, {2, 3}};
  const auto data = random_dataset(model_inputs(source), {.count = 24, .seed = 3});
  const auto backend = reference_backend();
  const Runner runner{*backend, [](Model&) {}};
  prune::Means means;
  means.runner = &runner;
  means.data = data.get();
  const auto sqnr = [&](const Model& pruned) {
    return prune::pruned_from_masked(source, pruned, runner, data.get(), 1).sqnr_db;
  };
  const double plain = sqnr(prune::remove_channels(model, all, groups, removed, standard_types));
  prune::clear_channels(all, groups, removed);
  prune::refit(model, source, means);
  CHECK(model.graph->find("U")->constant->dims() == Dims{12, 3, 3, 3});
  CHECK(model.graph->find("U")->constant->span<float>()[4 * 27] == 0);
  const Model fitted = prune::remove_channels(model, all, groups, removed, standard_types);
  CHECK(fitted.graph->find("U")->constant->dims() == Dims{9, 3, 3, 3});
  CHECK(sqnr(fitted) > plain + 3);
}
