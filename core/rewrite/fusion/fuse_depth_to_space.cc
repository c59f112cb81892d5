// Reshape of [N, C, H, W] to six axes, Transpose, Reshape back to four: DepthToSpace (PixelShuffle) or SpaceToDepth,
// also of PixelUnshuffle before a convolution, whose weight gets its channels in that order.
#include "core/rewrite/fusion/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

using Perm = std::vector<int64_t>;

/// x [N, C, H, W] parted by blocks of `side`, and the operator that it then is.
struct Move {
  SymDims parted, out;
  Perm perm;
  const char* op;
  const char* mode;         ///< of DepthToSpace
  bool by_channel = false;  ///< the channels of the result are in another order than the operator's
};

const Perm kUnshuffled{0, 1, 3, 5, 2, 4};

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
  if (rows && columns) {
    const SymDims parted{x[0], x[1], *rows, b, *columns, b}, out{x[0], x[1] * area, *rows, *columns};
    all.push_back({parted, out, {0, 3, 5, 1, 2, 4}, "SpaceToDepth", nullptr});
    // PixelUnshuffle has the pixels of a channel together, which is the same for one channel.
    all.push_back({parted, out, kUnshuffled, "SpaceToDepth", nullptr, !x[1].is(1)});
  }
  return all;
}

/// The move that the three operators are, and its side; the reason where they are none.
Expected<std::pair<Move, int64_t>> move_at(const Match& m, const Value& result, const Builder& builder) {
  const auto &x = m.value("x")->type.dims, &parted = m.node("part")->output(0)->type.dims, &out = result.type.dims;
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
      return std::pair(move, *side);
    }
  }
  return Decline{"blocks of pixels go elsewhere"};
}

/// Is the shape of the Reshape this constant, with zeros for axes that stay?
bool has_shape(const Node& reshape, const Perm& wanted, const Builder& builder) {
  const Value* shape = reshape.input(1);
  const Tensor* t = shape ? shape->known_constant() : nullptr;
  return t && to_ints(*t) == wanted && builder.view(reshape).get_int("allowzero", 0) == 0;
}

/// The side of the blocks of PixelUnshuffle as TorchScript's exporter writes it, whatever the sizes: rows are parted,
/// then columns, and axes of length 1 stand where they were.
std::optional<int64_t> free_side(const Match& m, const Builder& builder) {
  const auto axes = [&](const char* name) { return builder.view(*m.node(name)).ints("axes", 1); };
  const auto &x = m.value("x")->type.dims, &parted = m.node("columns")->output(0)->type.dims;
  const auto side = parted && parted->size() == 6 ? (*parted)[5].value() : std::nullopt;
  const bool fits = x && x->size() == 4 && side && *side > 1 && is_float(m.value("x")->type.dtype) &&
                    axes("one") == Perm{3} && axes("none") == Perm{2, 3} &&
                    has_shape(*m.node("rows"), {0, 0, -1, *side, 0}, builder) &&
                    has_shape(*m.node("columns"), {0, 0, 0, 0, -1, *side}, builder) &&
                    has_shape(*m.node("joined"), {0, -1, 1, 1, 0, 0}, builder) &&
                    builder.view(*m.node("turn")).get_ints("perm") == kUnshuffled;
  return fits ? side : std::nullopt;
}

Value* made(const Move& move, int64_t side, Value* x, const Type& type, Builder& builder) {
  std::vector<Attr> attrs{{"blocksize", side, ""}};
  if (move.mode) attrs.push_back({"mode", std::string(move.mode), ""});
  return builder.op(move.op, {x}, std::move(attrs), type);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Value* y = m.root->output(0);
  const auto found = move_at(m, *y, builder);
  if (!found) return found.error();
  if (found->first.by_channel) return Decline{"SpaceToDepth has the channels of a pixel together"};
  return Replacement{made(found->first, found->second, m.value("x"), y->type, builder)};
}

/// The weight [M, C * pixels, ...] for channels of pixels, [M, pixels * C, ...].
std::optional<Tensor> turned(const Tensor& weight, int64_t pixels) {
  if (weight.rank() != 4 || weight.size() == 0 || weight.dim(1) % pixels != 0 || !is_float(weight.dtype()))
    return std::nullopt;
  const std::vector<double> old = to_doubles(weight);
  const int64_t channels = weight.dim(1) / pixels, length = weight.dim(2) * weight.dim(3);
  std::vector<double> numbers;
  for (int64_t row = 0; row < weight.dim(0); ++row)
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      for (int64_t channel = 0; channel < channels; ++channel) {
        const auto from = old.begin() + ((row * channels + channel) * pixels + pixel) * length;
        numbers.insert(numbers.end(), from, from + length);
      }
  return cast(Tensor::of<double>(weight.dims(), numbers), weight.dtype());
}

/// What reads PixelUnshuffle has its weight in SpaceToDepth's order.
Expected<Replacement> with_weight(const Match& m, int64_t side, Builder& builder) {
  if (builder.view(*m.root).get_int("group", 1) != 1) return Decline{"the convolution has groups of channels"};
  if (!m.value("weight")->single_use()) return Decline{"the weight of the convolution is used elsewhere too"};
  const auto weight = turned(m.constant("weight"), side * side);
  if (!weight) return Decline{"the weight does not fit"};
  std::vector<Value*> inputs = m.root->inputs();
  inputs[0] = made({{}, {}, {}, "SpaceToDepth", nullptr}, side, m.value("x"), m.root->input(0)->type, builder);
  inputs[1] = builder.successor(m.value("weight"), *weight);
  return Replacement{builder.op("Conv", std::move(inputs), m.root->attrs, m.root->output(0)->type)};
}

Expected<Replacement> rewrite_convolution(const Match& m, Builder& builder) {
  const auto found = move_at(m, *m.node("pixels")->output(0), builder);
  if (!found) return found.error();
  return found->first.by_channel ? with_weight(m, found->second, builder) : Expected<Replacement>(Decline{});
}

Expected<Replacement> rewrite_free(const Match& m, Builder& builder) {
  const auto side = free_side(m, builder);
  if (!side) return Decline{};
  if (!(*m.value("x")->type.dims)[1].is(1)) return Decline{"SpaceToDepth has the channels of a pixel together"};
  const Move move{{}, {}, {}, "SpaceToDepth", nullptr};
  return Replacement{made(move, *side, m.value("x"), m.root->output(0)->type, builder)};
}

Expected<Replacement> rewrite_free_convolution(const Match& m, Builder& builder) {
  const auto side = free_side(m, builder);
  return side ? with_weight(m, *side, builder) : Expected<Replacement>(Decline{});
}

std::vector<Rule> rules() {
  const auto moved = [] {
    Pattern part = Pattern::op("Reshape", {Pattern::any("x"), Pattern::any("first")}).as("part").single_use();
    Pattern turn = Pattern::op("Transpose", {std::move(part)}).as("turn").single_use();
    return Pattern::op("Reshape", {std::move(turn), Pattern::any("second")});
  };
  const auto free = [] {
    Pattern one = Pattern::op("Unsqueeze", {Pattern::any("x")}).open().as("one").single_use();
    Pattern rows = Pattern::op("Reshape", {std::move(one)}).open().as("rows").single_use();
    Pattern columns = Pattern::op("Reshape", {std::move(rows)}).open().as("columns").single_use();
    Pattern turn = Pattern::op("Transpose", {std::move(columns)}).as("turn").single_use();
    Pattern joined = Pattern::op("Reshape", {std::move(turn)}).open().as("joined").single_use();
    return Pattern::op("Squeeze", {std::move(joined)}).open();
  };
  return {{moved(), rewrite},
          {free().as("none"), rewrite_free},
          {Pattern::op("Conv", {free().as("none").single_use(), Pattern::constant("weight")}).open(),
           rewrite_free_convolution},
          {Pattern::op("Conv", {moved().as("pixels").single_use(), Pattern::constant("weight")}).open(),
           rewrite_convolution}};
}

}  // namespace

const Pass fuse_depth_to_space = {"fuse_depth_to_space", "blocks of pixels to channels and back (PixelShuffle) as one",
                                  rules};

}  // namespace mlopt::fusion
