// Reshape of [N, C, H, W] to six axes, Transpose, Reshape back to four: DepthToSpace (PixelShuffle) or SpaceToDepth.
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

using Perm = std::vector<int64_t>;

/// x [N, C, H, W] parted by blocks of `side`, and the operator that it then is.
struct Move {
  SymDims parted, out;
  Perm perm;
  const char* op;
  const char* mode;  ///< of DepthToSpace
};

/// The moves there are for these shapes; none where the channels or sizes are no multiples.
std::vector<Move> moves_of(const SymDims& x, int64_t side) {
  const Dim b = side, area = side * side;
  std::vector<Move> all;
  if (const auto c = Dim::divide(x[1], area)) {
    const SymDims out{x[0], *c, x[2] * b, x[3] * b};
    all.push_back({{x[0], *c, b, b, x[2], x[3]}, out, {0, 1, 4, 2, 5, 3}, "DepthToSpace", "CRD"});
    all.push_back({{x[0], b, b, *c, x[2], x[3]}, out, {0, 3, 4, 1, 5, 2}, "DepthToSpace", "DCR"});
  }
  // Where sizes are free, the Reshape runs for those that are made of whole blocks only.
  const auto blocks = [&](const Dim& d) { return d.value() ? Dim::divide(d, b) : Dim::floor_divide(d, b); };
  const auto rows = blocks(x[2]), columns = blocks(x[3]);
  if (rows && columns)
    all.push_back({{x[0], x[1], *rows, b, *columns, b},
                   {x[0], x[1] * area, *rows, *columns},
                   {0, 3, 5, 1, 2, 4},
                   "SpaceToDepth",
                   nullptr});
  return all;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto &x = m.value("x")->type.dims, &parted = m.node("part")->output(0)->type.dims,
             &out = m.root->output(0)->type.dims;
  if (!x || x->size() != 4 || !parted || parted->size() != 6 || !out || out->size() != 4)
    return Decline{"not four axes as six"};
  if (!is_float(m.value("x")->type.dtype)) return Decline{"runtimes shuffle only pixels that are floats"};
  const Perm perm = builder.view(*m.node("turn")).get_ints("perm");
  for (const size_t axis : {2, 1, 3}) {
    const auto side = (*parted)[axis].value();
    if (!side || *side < 2) continue;
    for (const Move& move : moves_of(*x, *side)) {
      if (move.parted != *parted || move.perm != perm || move.out != *out) continue;
      if (move.mode && builder.opset() < 11) return Decline{"DepthToSpace has one mode before opset 11"};
      std::vector<Attr> attrs{{"blocksize", *side, ""}};
      if (move.mode) attrs.push_back({"mode", std::string(move.mode), ""});
      return Replacement{builder.op(move.op, {m.value("x")}, std::move(attrs), m.root->output(0)->type)};
    }
  }
  return Decline{"blocks of pixels go elsewhere"};
}

std::vector<Rule> rules() {
  Pattern part = Pattern::op("Reshape", {Pattern::any("x"), Pattern::any("first")}).as("part").single_use();
  Pattern turn = Pattern::op("Transpose", {std::move(part)}).as("turn").single_use();
  return {{Pattern::op("Reshape", {std::move(turn), Pattern::any("second")}), rewrite}};
}

}  // namespace

const Pass depth_to_space = {"fuse_depth_to_space", "blocks of pixels to channels and back (PixelShuffle) as one",
                             rules};

}  // namespace mlopt::fusion
