// Convolutions by cuDNN: what describes one is made when it is met for the first time, with the algorithm.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/gpu/conv_library.h"
#include "backends/gpu/cuda/cudnn.h"
#include "backends/gpu/device/columns.h"

namespace mlopt::gpu {
namespace {

using dnn::Handle;
using dnn::library;

/// What the library makes by one function, and takes back by another.
class Described {
 public:
  Described(dnn::Code (*create)(Handle*), dnn::Code (*destroy)(Handle)) : destroy_(destroy) { create(&handle_); }
  ~Described() {
    if (handle_) destroy_(handle_);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  Handle get() const { return handle_; }

 private:
  dnn::Code (*destroy_)(Handle);
  Handle handle_ = nullptr;
};

/// How a convolution runs: with bias, addend and activation in one, or these behind.
struct Way {
  int algorithm;
  bool fused;
};

int type_of(Elem type) { return type == Elem::kF16 ? dnn::kHalf : type == Elem::kBF16 ? dnn::kBFloat16 : dnn::kFloat; }

/// Two spatial axes at least; three where the first is more than one place with one tap.
int first_axis(const Windows& w) { return w.in[0] == 1 && w.kernel[0] == 1 && w.before[0] == 0 && w.out[0] == 1; }

struct Conv {
  Described x{library().create_tensor, library().destroy_tensor};
  Described out{library().create_tensor, library().destroy_tensor};
  Described bias{library().create_tensor, library().destroy_tensor};
  Described weights{library().create_filter, library().destroy_filter};
  Described how{library().create_conv, library().destroy_conv};
  Described act{library().create_activation, library().destroy_activation};
  std::vector<Way> ways;  ///< that may run, the best first; when one has run, it alone
  bool ran = false;

  /// False where the library does not take one of them.
  bool describe(const LibraryConvArgs& args);
};

/// As the library wants dims and strides: channels come second whatever the layout is.
bool describe_tensor(Handle tensor, int type, int batch, int channels, const int* places, int rank, bool last) {
  std::array<int, 5> dims{batch, channels}, strides{};
  std::copy(places, places + rank, dims.begin() + 2);
  int step = last ? channels : 1;
  for (int k = rank + 1; k >= 2; step *= dims[static_cast<size_t>(k--)]) strides[static_cast<size_t>(k)] = step;
  strides[1] = last ? 1 : step;
  strides[0] = last ? step : step * channels;
  return library().set_tensor(tensor, type, rank + 2, dims.data(), strides.data()) == 0;
}

bool Conv::describe(const LibraryConvArgs& args) {
  const dnn::Library& l = library();
  const ConvArgs& c = args.conv;
  const Windows& w = c.windows;
  const int first = first_axis(w), rank = 3 - first, type = type_of(c.type);
  const bool last = c.channels_last, turned = args.kind == ConvKind::kTransposed;
  const int channels_in = turned ? c.channels_out : c.channels_in,
            channels_out = turned ? c.channels_in : c.channels_out;
  const int ones[3] = {1, 1, 1};
  std::array<int, 5> filter{channels_out, channels_in / c.groups};
  std::copy(w.kernel + first, w.kernel + 3, filter.begin() + 2);
  const int math = type != dnn::kFloat ? dnn::kTensorOps : args.tf32 ? dnn::kDefaultMath : dnn::kFma;
  const int mode = c.act.fn == Fn::kRelu ? dnn::kRelu : dnn::kIdentity;
  return describe_tensor(x.get(), type, c.batch, channels_in, w.in + first, rank, last) &&
         describe_tensor(out.get(), type, c.batch, channels_out, w.out + first, rank, last) &&
         describe_tensor(bias.get(), type, 1, channels_out, ones, rank, last) &&
         l.set_filter(weights.get(), type, last ? dnn::kChannelsLast : dnn::kRowMajor, rank + 2, filter.data()) == 0 &&
         l.set_conv(how.get(), rank, w.before + first, w.stride + first, w.dilation + first, dnn::kCrossCorrelation,
                    dnn::kFloat) == 0 &&
         l.set_groups(how.get(), c.groups) == 0 && l.set_math(how.get(), math) == 0 &&
         l.set_activation(act.get(), mode, dnn::kPropagateNan, 0) == 0;
}

/// The library pads both sides alike: its windows are ours where as many fit.
bool pads_alike(const Windows& w) {
  for (int k = 0; k < 3; ++k) {
    const int extent = (w.kernel[k] - 1) * w.dilation[k] + 1;
    if ((w.in[k] + 2 * w.before[k] - extent) / w.stride[k] + 1 != w.out[k] || w.before[k] < 0) return false;
  }
  return true;
}

/// Tensor cores read 16 bytes at once.
bool are_aligned(const ConvArgs& c) {
  for (const void* at : {c.in, c.weights, c.bias, c.addend, static_cast<const void*>(c.out)})
    if (reinterpret_cast<uintptr_t>(at) % 16 != 0) return false;
  return true;
}

/// Bias and activation in one go: of others than ReLU one algorithm alone.
bool fuses(const LibraryConvArgs& args, int algorithm) {
  const ConvArgs& c = args.conv;
  return args.kind == ConvKind::kForward && c.bias &&
         (c.act.fn == Fn::kRelu || (c.act.fn == Fn::kNone && algorithm == dnn::kPrecomputed));
}

Status finish(Queue& queue, const LibraryConvArgs& args) {
  const ConvArgs& c = args.conv;
  if (!c.bias && !c.addend && c.act.fn == Fn::kNone) return nullptr;
  const int* made = args.kind == ConvKind::kTransposed ? c.windows.in : c.windows.out;
  const int places = made[0] * made[1] * made[2];
  return conv_end(queue, {c.type, c.act, Divider(c.channels_out), Divider(args.conv.channels_last ? 1 : places),
                          int64_t{c.batch} * c.channels_out * places, c.bias, c.addend, c.out});
}

}  // namespace

struct Convolver {
  Described handle{library().create, library().destroy};
  std::map<std::array<int64_t, 14>, std::unique_ptr<Conv>> convs;
};

namespace {

/// What tells convolutions apart.
Choice choice_of(const LibraryConvArgs& args) {
  const ConvArgs& c = args.conv;
  const Windows& w = c.windows;
  Choice made{
      {-1,
       static_cast<int64_t>(c.type) * 64 + args.conv.channels_last * 32 + args.tf32 * 16 + (c.act.fn == Fn::kRelu) * 8 +
           (c.act.fn == Fn::kNone) * 4 + (c.bias != nullptr) * 2 + (c.addend != nullptr),
       c.batch, c.channels_in, c.channels_out, c.groups},
      {}};
  for (int k = 0; k < 3; ++k) {
    made.product[6 + k] = int64_t{w.in[k]} << 32 | w.out[k];
    made.product[9 + k] =
        int64_t{w.kernel[k]} << 48 | int64_t{w.stride[k]} << 32 | int64_t{w.dilation[k]} << 16 | w.before[k];
  }
  made.product[12] = static_cast<int64_t>(args.room_bytes);
  made.product[13] = static_cast<int64_t>(args.kind);
  return made;
}

dnn::Code run(const Convolver& convolver, const Conv& conv, const Way& way, const LibraryConvArgs& args) {
  const ConvArgs& c = args.conv;
  const float one = 1, none = 0;
  const Handle handle = convolver.handle.get();
  if (args.kind == ConvKind::kTransposed)
    return library().convolve_data(handle, &one, conv.weights.get(), c.weights, conv.out.get(), c.in, conv.how.get(),
                                   way.algorithm, args.room, args.room_bytes, &none, conv.x.get(), c.out);
  if (args.kind == ConvKind::kWeightGrad)
    return library().convolve_filter(handle, &one, conv.x.get(), c.in, conv.out.get(), c.weights, conv.how.get(),
                                     way.algorithm, args.room, args.room_bytes, &none, conv.weights.get(), c.out);
  if (!way.fused)
    return library().convolve(handle, &one, conv.x.get(), c.in, conv.weights.get(), c.weights, conv.how.get(),
                              way.algorithm, args.room, args.room_bytes, &none, conv.out.get(), c.out);
  return library().convolve_fused(handle, &one, conv.x.get(), c.in, conv.weights.get(), c.weights, conv.how.get(),
                                  way.algorithm, args.room, args.room_bytes, c.addend ? &one : &none, conv.out.get(),
                                  c.addend ? c.addend : c.out, conv.bias.get(), c.bias, conv.act.get(), conv.out.get(),
                                  c.out);
}

using Proposals = std::array<dnn::Proposal, dnn::kAlgorithms>;

dnn::Code propose(const Convolver& convolver, const Conv& conv, ConvKind kind, int* found, Proposals& into) {
  const dnn::Library& l = library();
  const Handle handle = convolver.handle.get(), x = conv.x.get(), weights = conv.weights.get(), out = conv.out.get();
  if (kind == ConvKind::kTransposed)
    return l.propose_data(handle, weights, out, conv.how.get(), x, dnn::kAlgorithms, found, into.data());
  if (kind == ConvKind::kWeightGrad)
    return l.propose_filter(handle, x, out, conv.how.get(), weights, dnn::kAlgorithms, found, into.data());
  return l.propose(handle, x, weights, conv.how.get(), out, dnn::kAlgorithms, found, into.data());
}

/// Algorithms that give the same bytes every time, those first that are faster; `timed` is no more so where they cannot
/// be timed.
std::vector<Way> ways_of(const Convolver& convolver, const Conv& conv, const LibraryConvArgs& args, bool& timed) {
  Proposals proposals{};
  int found = 0;
  const ConvArgs& c = args.conv;
  timed = timed && library().time(convolver.handle.get(), conv.x.get(), c.in, conv.weights.get(), c.weights,
                                  conv.how.get(), conv.out.get(), c.out, dnn::kAlgorithms, &found, proposals.data(),
                                  args.room, args.room_bytes) == 0;
  std::vector<Way> ways;
  if (!timed && propose(convolver, conv, args.kind, &found, proposals) != 0) return ways;
  for (const dnn::Proposal& p : std::span(proposals).first(static_cast<size_t>(found))) {
    if (p.status != 0 || p.determinism != dnn::kDeterministic || p.room > args.room_bytes) continue;
    if (fuses(args, p.algorithm)) ways.push_back({p.algorithm, true});
    ways.push_back({p.algorithm, false});
  }
  return ways;
}

/// New to the queue, it gets its ways: what was chosen before in front.
Conv& conv_of(Queue& queue, Convolver& convolver, const LibraryConvArgs& args, Choice& choice, bool& timed) {
  std::array<int64_t, 14> key{};
  std::copy(std::begin(choice.product), std::end(choice.product), key.begin());
  std::unique_ptr<Conv>& conv = convolver.convs[key];
  if (conv) return *conv;
  conv = std::make_unique<Conv>();
  if (!pads_alike(args.conv.windows) || !conv->describe(args)) return *conv;
  const bool known = known_choice(queue, choice);
  timed = !known && args.kind == ConvKind::kForward && tunes_now(queue);
  conv->ways = ways_of(convolver, *conv, args, timed);
  const int before = static_cast<int>(choice.algorithm[0]) - 1;
  if (known)
    std::stable_partition(conv->ways.begin(), conv->ways.end(), [&](const Way& w) { return w.algorithm == before; });
  return *conv;
}

Convolver* convolver_in(Queue& queue) {
  Convolver*& convolver = convolver_of(queue);
  void* stream = stream_handle(queue);
  if (convolver || !library().ready) return convolver;
  auto made = std::make_unique<Convolver>();
  if (!made->handle.get() || library().set_stream(made->handle.get(), stream) != 0) return nullptr;
  return convolver = made.release();
}

}  // namespace

Status library_conv(Queue& queue, const LibraryConvArgs& args) {
  *args.declined = true;
  Convolver* convolver = are_aligned(args.conv) ? convolver_in(queue) : nullptr;
  if (!convolver) return nullptr;
  Choice choice = choice_of(args);
  bool timed = false;
  Conv& conv = conv_of(queue, *convolver, args, choice, timed);
  dnn::Code failed = 1;
  for (; !conv.ways.empty(); conv.ways.erase(conv.ways.begin())) {
    failed = run(*convolver, conv, conv.ways.front(), args);
    if (conv.ran && failed) return library().error(failed);
    if (!failed) break;
  }
  if (failed) return nullptr;
  const Way way = conv.ways.front();
  conv.ways = {way};
  conv.ran = true;
  choice.algorithm[0] = static_cast<uint64_t>(way.algorithm) + 1;  // all zeros would be no choice
  if (timed) note_choice(queue, choice);
  *args.declined = false;
  return way.fused ? nullptr : finish(queue, args);
}

void drop(Convolver* convolver) { delete convolver; }

}  // namespace mlopt::gpu
