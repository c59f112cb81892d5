// STFT -> its frames, gathered, times the window, and their DFT.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

struct Frames {
  int64_t batch, samples, parts, step, length, count;
};

Expected<Frames> frames_of(const NodeView& view, const Dims& signal) {
  const auto step = view.ints("", 1), length = view.ints("", 3, {0});
  if (!step || !length || step->size() != 1 || length->size() != 1) return Decline{"its frames are not constant"};
  const Value* window = view.node().input(2);
  const auto window_dims = window ? window->type.static_dims() : std::nullopt;
  if ((window && !window_dims) || signal.size() < 2 || signal.size() > 3) return Decline{"its shape is not known"};
  Frames f{signal[0], signal[1], signal.size() == 3 ? signal[2] : 1, step->front(), length->front(), 0};
  if (!view.node().input(3)) f.length = window ? element_count(*window_dims) : f.samples;
  if (f.step < 1 || f.length < 1 || f.length > f.samples || (window && element_count(*window_dims) != f.length))
    return Decline{"it is malformed"};
  f.count = (f.samples - f.length) / f.step + 1;
  return f;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int64_t kMostElements = int64_t{1} << 24;
  const NodeView view = builder.view(*m.root);
  Value *signal = m.root->input(0), *window = m.root->input(2);
  const auto dims = signal->type.static_dims();
  if (!dims) return Decline{"its shape is not known"};
  const auto frames = frames_of(view, *dims);
  if (!frames) return frames.error();
  const auto& [batch, samples, parts, step, length, count] = *frames;
  if (count > kMostElements / length) return Decline{"its frames are many"};
  std::vector<int64_t> places;
  for (int64_t f = 0; f < count; ++f)
    for (int64_t i = 0; i < length; ++i) places.push_back(f * step + i);
  const auto constant = [&](const char* hint, Dims of, std::vector<int64_t> values) {
    return builder.constant(hint, Tensor::of<int64_t>(std::move(of), values));
  };
  Value* x = builder.op("Reshape", {signal, constant("dims", {3}, {batch, samples, parts})});
  x = builder.op("Gather", {x, constant("places", {count, length}, places)}, {{"axis", int64_t{1}, ""}});
  if (window) {
    Value* factors = builder.op("Reshape", {window, constant("dims", {4}, {1, 1, length, 1})});
    x = builder.op("Mul", {x, factors});
  }
  const int64_t onesided = view.get_int("onesided", 1);
  Value* axis = builder.constant("axis", Tensor::scalar<int64_t>(2));
  std::vector<Attr> attrs{{"onesided", onesided, ""}};
  if (view.opset() < 20) attrs.push_back({"axis", int64_t{2}, ""});
  std::vector<Value*> inputs{x};
  if (view.opset() >= 20) inputs.insert(inputs.end(), {nullptr, axis});
  return Replacement{builder.op("DFT", std::move(inputs), std::move(attrs), m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("STFT", {}).open(), rewrite}}; }

}  // namespace

const Pass stft = {"stft", "STFT as the DFT of frames", rules};

}  // namespace mlopt::lower
