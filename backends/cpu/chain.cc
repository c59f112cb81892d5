// A chain of elementwise operators, tile by tile, so that what one makes is in the cache for the next.
#include "backends/cpu/activation.h"
#include "backends/cpu/arithmetic.h"
#include "backends/cpu/kernels.h"

namespace mlopt::cpu {
namespace {

/// One operator of the chain, on what the one before it made.
struct Link {
  Activation act;   ///< where it has no other operand
  Arithmetic op{};  ///< with the operand
  int operand;      ///< its input; 0: none
  bool left;        ///< is what the operator before made the left operand?
  Paired pairing;   ///< of the left and the right operand
};

Expected<Link> read_link(const Site& site, const TensorDesc& out, size_t i) {
  const std::string op = site.view.get_strings("ops")[i];
  const std::vector<float> params = site.view.get_floats("params");
  const int64_t operand = site.view.get_ints("operands")[i];
  Link link;
  link.operand = static_cast<int>(std::abs(operand));
  link.left = operand >= 0;
  if (operand == 0) {
    const auto act = activation_of(op, {params[2 * i], params[2 * i + 1]});
    if (!act) return act.error();
    link.act = *act;
    return link;
  }
  link.op = arithmetic_of(op);
  const auto dims = memory_dims(site.desc(link.operand), out);
  if (!dims) return dims.error();
  const Dims whole = out.memory_dims();
  link.pairing = link.left ? paired(whole, whole, *dims) : paired(whole, *dims, whole);
  return link;
}

/// The elements from `begin` to `end`. The tile of `out` holds what the operator before made, for the first one `x`.
void run_tile(const std::vector<Link>& links, const Buffers& b, int64_t begin, int64_t end) {
  const float* made = b.in<float>(0);
  float* const out = b.out<float>(0);
  for (const Link& link : links) {
    if (link.operand == 0) {
      apply_here(link.act, made + begin, out + begin, end - begin);
    } else {
      const float* other = b.in<float>(link.operand);
      run_arithmetic_between(link.op, link.pairing, begin, end, link.left ? made : other, link.left ? other : made,
                             out);
    }
    made = out;
  }
}

Expected<PlannedStep> plan(const Site& site) {
  TensorDesc out{DType::kF32, site.desc(0).dims, site.layout};
  if (out.dims.size() < 3) out.layout = mlopt::Layout::kRowMajor;
  std::vector<Link> links;
  bool read_again = false;
  for (size_t i = 0; i < site.view.get_strings("ops").size(); ++i) {
    const auto link = read_link(site, out, i);
    if (!link) return link.error();
    read_again |= link->operand > 0 && site.view.node().input(link->operand) == site.view.node().input(0);
    links.push_back(*link);
  }
  PlannedStep step{.out = {out}};
  step.in_place = read_again ? -1 : 0;
  step.run = [links, count = out.size()](const Buffers& b) {
    constexpr int64_t kTile = 2048, kGrain = 8192;  // elements: two tiles lie in the first cache; one thread's least
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      for (; begin < end; begin += kTile) run_tile(links, b, begin, std::min(end, begin + kTile));
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "Chain", .plan = plan, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> chain_kernels() { return kKernels; }

}  // namespace mlopt::cpu
