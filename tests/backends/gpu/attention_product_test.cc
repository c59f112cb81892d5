#include "backends/gpu/attention_product.h"

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {
namespace {

Tensor part(Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, DType::kF32, seed); }

/// With --precision tf32, by which the host rounds nothing and a GPU to 10 bits; `products`: by which it runs.
void require_tf32(const std::vector<Datum>& inputs, const OpOptions& options = {}, bool products = true) {
  const Tensor expected = run_op("Attention", inputs, options);
  std::vector<Datum> given;
  for (const Datum& input : inputs)
    if (!input.is_none()) given.push_back(input);
  CompileOptions how;
  how.precision = Precision::kTF32;
  const Model model = one_node("Attention", inputs, options, inputs.size());
  const auto plan = gpu_on_host()->compile(model, how);
  CHECK((plan->plan_info(given)->steps.back().kernel == "cublas, attention") == products);
  require_close(plan->run(given)[0].tensor(), expected, 1e-5);
  if (const auto gpu = real_gpu()) require_close(gpu->compile(model, how)->run(given)[0].tensor(), expected, 5e-3);
}

}  // namespace

TEST_CASE("attention by products on a GPU gives what tiles give") {
  const Tensor q = part({2, 3, 40, 8}, 1), k = part({2, 3, 45, 8}, 2), v = part({2, 3, 45, 12}, 3);
  require_tf32({q, k, v});
  require_tf32({q, k, v}, {.attrs = {attr("scale", 0.7f), attr("softcap", 2.0f)}});
  for (const Dims& dims : {Dims{40, 45}, Dims{2, 1, 40, 45}, Dims{3, 1, 45}, Dims{1, 45}})
    require_tf32({q, k, v, part(dims, 4)}, {.attrs = {attr("is_causal", 1)}});
  require_tf32({q, k, v, run_op("Less", {uniform({40, 45}, 0, 1), tensor({}, {0.5})})});
  require_tf32({q, k, v, tensor({1, 1}, {0}, DType::kBool)});
  for (const int outputs : {1, 3})
    require_tf32(
        {part({2, 33, 24}, 1), part({2, 33, 24}, 2), part({2, 33, 24}, 3), Datum(), part({2, 4, 50, 6}, 4),
         part({2, 4, 50, 6}, 5)},
        {.attrs = {attr("is_causal", 1), attr("q_num_heads", 4), attr("kv_num_heads", 4)}, .outputs = outputs});
  require_tf32({part({2, 4, 40, 8}, 1), part({2, 2, 40, 8}, 2), part({2, 2, 40, 8}, 3)}, {}, false);
  require_tf32({part({1, 4, 8, 8}, 1), part({1, 4, 40, 8}, 2), part({1, 4, 40, 8}, 3)}, {}, false);
}

TEST_CASE("attention by products takes as many heads at once as their scores leave room for") {
  gpu::AttentionArgs args{};
  args.type = gpu::Elem::kF16;
  args.batch = 4, args.heads = args.kv_heads = 12, args.queries = args.keys = 1024, args.depth = args.value_depth = 64;
  const gpu::HeadsAt dense{12 * 1024 * 64, 1024 * 64, 64}, packed{12 * 1024 * 64, 64, 12 * 64};
  args.q_at = args.k_at = args.v_at = dense;
  args.out_at = packed;
  const auto how = gpu::attention_products(args, false);
  REQUIRE(how);
  CHECK(how->heads == 8);
  CHECK((!how->copies_q && !how->copies_k && !how->copies_v && how->copies_out));
  CHECK(how->bytes == 8 * 1024 * 1024 * (4 + 2) + 48 * 1024 * 64 * 2);
  args.queries = args.keys = 8192;
  CHECK_FALSE(gpu::attention_products(args, false));
  args.queries = args.keys = 64;
  args.type = gpu::Elem::kF32;
  CHECK_FALSE(gpu::attention_products(args, false));
  CHECK(gpu::attention_products(args, true));
}

TEST_CASE("attention by products in half precision on a GPU") {
  const auto half = [](Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, DType::kF16, seed); };
  require_on_gpu("Attention", {half({2, 36, 64}, 1), half({2, 50, 64}, 2), half({2, 50, 64}, 3), half({36, 50}, 4)},
                 {.attrs = {attr("q_num_heads", 4), attr("kv_num_heads", 4)}}, 1e-2);
}

}  // namespace mlopt::test
