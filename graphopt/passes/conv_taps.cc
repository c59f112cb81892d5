#include "graphopt/passes/conv_taps.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/tensor/cast.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// Where the taps of a kernel lie in a larger one: nothing where they do not, else a place for each, row-major.
std::optional<std::vector<size_t>> places_in(const ConvTaps& larger, const ConvTaps& other) {
  std::vector<size_t> places{0};
  for (size_t axis = 0; axis < other.strides.size(); ++axis) {
    const int64_t size = larger.dims[axis + 2], step = larger.dilations[axis];
    std::vector<size_t> next;
    for (const size_t before : places)
      for (int64_t k = 0; k < other.dims[axis + 2]; ++k) {
        const int64_t offset = k * other.dilations[axis] - other.begins[axis] + larger.begins[axis];
        if (offset < 0 || offset % step != 0 || offset / step >= size) return std::nullopt;
        next.push_back(before * static_cast<size_t>(size) + static_cast<size_t>(offset / step));
      }
    places = std::move(next);
  }
  return places;
}

size_t taps(const Dims& dims) {
  return static_cast<size_t>(std::accumulate(dims.begin() + 2, dims.end(), int64_t{1}, std::multiplies<>()));
}

Expected<Replacement> rewrite_sum(const Match& m, Builder& builder) {
  const Node *first = m.node("first"), *second = m.node("second");
  if (first->input(0) != second->input(0)) return Decline{};
  if (aligns_axes(*m.root)) return Decline{"it aligns axes"};
  auto a = ConvTaps::of(*first, builder), b = ConvTaps::of(*second, builder);
  if (!a) return a.error();
  if (!b) return b.error();
  if (m.root->is("Sub")) b->scale(-1);
  if (a->add(*b)) return a->written(builder);
  if (b->add(*a)) return b->written(builder);
  return Decline{"neither kernel has taps wherever the other has"};
}

}  // namespace

Expected<ConvTaps> ConvTaps::of(const Node& conv, const Builder& builder) {
  const auto layout = ConvWeight::of(conv, builder);
  if (!layout) return layout.error();
  const NodeView view = builder.view(conv);
  if (view.get_string("auto_pad", "NOTSET") != "NOTSET") return Decline{"its pads are not written out"};
  ConvTaps all{&conv, layout->weight.dims(), {}, {}, {}, {}, layout->group, to_doubles(layout->weight), {}};
  const size_t spatial = all.dims.size() - 2;
  all.strides = view.get_ints("strides", std::vector<int64_t>(spatial, 1));
  all.dilations = view.get_ints("dilations", std::vector<int64_t>(spatial, 1));
  const std::vector<int64_t> pads = view.get_ints("pads", std::vector<int64_t>(2 * spatial, 0));
  constexpr int64_t kFar = 1 << 24;  // no kernel reaches beyond, and sums of such places are integers
  const auto steps = [](int64_t n) { return n > 0 && n < kFar; };
  const auto near = [](int64_t n) { return n > -kFar && n < kFar; };
  if (all.strides.size() != spatial || all.dilations.size() != spatial || pads.size() != 2 * spatial ||
      !std::ranges::all_of(all.dilations, steps) || !std::ranges::all_of(pads, near) ||
      !std::ranges::all_of(all.dims, near))
    return Decline{"its attributes are not valid"};
  for (size_t i = 0; i < spatial; ++i) {
    all.begins.push_back(pads[i]);
    all.spans.push_back(pads[i] + pads[spatial + i] - all.dilations[i] * (all.dims[i + 2] - 1));
  }
  all.b = conv.input(2) ? to_doubles(*conv.input(2)->known_constant())
                        : std::vector<double>(static_cast<size_t>(all.dims[0]));
  return all;
}

std::optional<ConvTaps> ConvTaps::of_channels(const std::vector<double>& scale,
                                              const std::vector<double>& shift) const {
  const std::vector<int64_t> ones(strides.size(), 1), none(strides.size(), 0);
  const auto channels = static_cast<size_t>(dims[0]), width = static_cast<size_t>(dims[1]);
  if (dims[0] != dims[1] * group || scale.size() != channels || strides != ones || spans != none) return std::nullopt;
  ConvTaps made{nullptr, Dims(dims.size(), 1), ones, ones, none, none, group, {}, shift};
  made.dims[0] = dims[0], made.dims[1] = dims[1];
  made.w.assign(channels * width, 0);
  for (size_t c = 0; c < channels; ++c) made.w[c * width + c % width] = scale[c];
  return made;
}

void ConvTaps::scale(double factor) {
  for (std::vector<double>* numbers : {&w, &b})
    for (double& x : *numbers) x *= factor;
}

bool ConvTaps::add(const ConvTaps& other) {
  const bool alike = dims.size() == other.dims.size() && dims[0] == other.dims[0] && dims[1] == other.dims[1] &&
                     group == other.group && strides == other.strides && spans == other.spans;
  const auto places = alike ? places_in(*this, other) : std::nullopt;
  if (!places) return false;
  const size_t own = taps(dims), others = places->size();
  for (size_t i = 0; i < other.w.size(); ++i) w[i / others * own + (*places)[i % others]] += other.w[i];
  for (size_t c = 0; c < b.size(); ++c) b[c] += other.b[c];
  return true;
}

Expected<Replacement> ConvTaps::written(Builder& builder) const {
  const auto made = convolution_with(*conv, conv->input(0), w, b, builder);
  if (!made) return made.error();
  return Replacement{*made};
}

Rule sum_of_convs() {
  return {Pattern::op("Add|Sub", {constant_convolution("Conv", "first"), constant_convolution("Conv", "second")}),
          rewrite_sum};
}

}  // namespace mlopt::graphopt
