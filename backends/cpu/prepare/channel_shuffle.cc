// Reshape [N, g c, ...] to [N, g, c, ...], Transpose of g and c, Reshape back -> Gather of channels: one copy instead
// of a row-major one, in any layout.
#include <numeric>
#include <utility>

#include "backends/cpu/prepare/prepare.h"

namespace mlopt::cpu {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto &in = m.value("x")->type.dims, &out = m.root->output(0)->type.dims;
  const auto& parted = m.node("part")->output(0)->type.dims;
  if (!in || !out || !parted || in->size() < 3 || *in != *out) return Decline{"the channels may not be the same"};
  const auto all = (*in)[1].value(), groups = parted->size() > 2 ? (*parted)[1].value() : std::nullopt;
  if (!all || !groups || *groups < 1 || *all % *groups != 0) return Decline{"the channels are not known"};
  SymDims expected = *in;
  expected[1] = *groups;
  expected.insert(expected.begin() + 2, *all / *groups);
  if (*parted != expected) return Decline{"other axes than the channels are parted"};
  std::vector<int64_t> perm(parted->size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[1], perm[2]);
  if (builder.view(*m.node("turn")).get_ints("perm") != perm) return Decline{"other axes are turned"};
  std::vector<int64_t> places;
  for (int64_t i = 0; i < *all / *groups; ++i)
    for (int64_t g = 0; g < *groups; ++g) places.push_back(g * (*all / *groups) + i);
  Value* order = builder.constant("channels", Tensor::ints(places));
  return Replacement{builder.op("Gather", {m.value("x"), order}, {{"axis", int64_t{1}, ""}})};
}

std::vector<Rule> rules() {
  Pattern part = Pattern::op("Reshape", {Pattern::any("x"), Pattern::any("first")}).as("part").single_use();
  Pattern turn = Pattern::op("Transpose", {std::move(part)}).as("turn").single_use();
  return {{Pattern::op("Reshape", {std::move(turn), Pattern::any("second")}), rewrite}};
}

}  // namespace

const Pass channel_shuffle = {"channel_shuffle", "channels of groups that are interleaved as one Gather", rules};

}  // namespace mlopt::cpu
