#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Four heads of four elements, and two of keys and values, of two samples of five rows: the operator's other inputs
/// and its attributes.
Model model(const std::string& more = "", const std::string& attrs = "", const std::string& last = "4, 4",
            const std::string& heads = "q, k, v") {
  Model made = test::fixture(
      "g (float[2,5,16] q, float[2,5,8] k, float[2,5,8] v, float[2,5,32] all, float[9,2] c, float[9,1] h, "
      "float[1,1,5,5] m, float[2,2,3,4] past, int64[2,5] ids, float[4] sinks) => (float[2,5,16] y) <int32[2] last = {" +
          last + "}, int32 total = {5}> { y = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2" +
          attrs + "> (" + heads + ", , , last, total" + more + ") }",
      23);
  made.set_opset("com.microsoft", 1);
  return made;
}

std::string lowered(const Model& source) { return test::rewritten(lower::group_query, source, 1e-5, Target::kKernels); }

std::string kept(Model source) {
  PassContext context = test::pass_context();
  context.target = Target::kKernels;
  infer(source, context.standard_types);
  const PassTally tally = run_pass(source, lower::group_query, context);
  CHECK(tally.applied == 0);
  return tally.declined.empty() ? "" : tally.declined.begin()->first;
}

}  // namespace

TEST_CASE("groups of queries become attention of them, behind the rotation") {
  CHECK(lowered(model()) == "Attention");
  CHECK(lowered(model("", ", scale = 0.3, softcap = 0.5")) == "Attention");
  CHECK(lowered(model("", ", local_window_size = 2")) == "Attention");
  CHECK(lowered(model(", c, c", ", do_rotary = 1")) == "RotaryEmbedding RotaryEmbedding Attention");
  CHECK(lowered(model(", h, h", ", do_rotary = 1, rotary_interleaved = 1")) ==
        "RotaryEmbedding RotaryEmbedding Attention");
  CHECK(lowered(model(", , , , m")) == "Add Attention");
  CHECK(lowered(model("", "", "4, 4", "all, , ")) == "Slice Slice Slice Attention");
}

TEST_CASE("what the two operators do not say stays") {
  CHECK(kept(model("", "", "4, 3")) == "samples may be shorter");
  CHECK(kept(model(", c, c, ids", ", do_rotary = 1")) == "positions or sinks are given");
  CHECK(kept(model(", , , , , sinks")) == "positions or sinks are given");
  CHECK(kept(model("", ", smooth_softmax = 1")) == "positions or sinks are given");
}
