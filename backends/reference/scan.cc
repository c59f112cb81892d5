#include <fmt/core.h>

#include <algorithm>

#include "backends/reference/concat.h"
#include "backends/reference/growth.h"
#include "backends/reference/kernels.h"
#include "backends/reference/slices.h"

namespace mlopt::reference {
namespace {

/// How one scanned input or collected output runs through its axis.
struct Track {
  int64_t axis = 0;
  bool backward = false;
};

std::vector<Track> tracks(const Call& call, size_t count, std::string_view axes, std::string_view directions) {
  const std::vector<int64_t> axis = call.view.get_ints(axes), direction = call.view.get_ints(directions);
  require(call, axis.size() <= count && direction.size() <= count, "more axes or directions than scanned values");
  std::vector<Track> found(count);
  for (size_t i = 0; i < axis.size(); ++i) found[i].axis = axis[i];
  for (size_t i = 0; i < direction.size(); ++i) found[i].backward = direction[i] != 0;
  return found;
}

/// One pass of the body over `scanned`, whose axes have `length` elements.
struct Pass {
  int body;
  std::vector<Datum> states;  ///< before, and after the pass behind it
  std::vector<Tensor> scanned;
  std::vector<Track> in;  ///< of each of `scanned`; the axis counted from the front
  int64_t length;
  std::vector<std::vector<Tensor>> collected;  ///< slices of each collected output, in order of iterations
};

void run_pass(const Call& call, Pass& pass) {
  Growth growth;
  for (int64_t i = 0; i < pass.length; ++i) {
    std::vector<Datum> inputs = pass.states;
    for (size_t k = 0; k < pass.scanned.size(); ++k) {
      const Tensor& data = pass.scanned[k];
      const auto axis = static_cast<int>(pass.in[k].axis);
      inputs.emplace_back(slice_at(data, axis, pass.in[k].backward ? pass.length - 1 - i : i));
    }
    std::vector<Datum> outputs = call.run_body(pass.body, inputs);
    for (size_t k = 0; k < pass.states.size(); ++k) pass.states[k] = std::move(outputs[k]);
    growth.check(call, pass.states);
    for (size_t k = 0; k < pass.collected.size(); ++k)
      pass.collected[k].push_back(outputs[pass.states.size() + k].tensor());
  }
}

const Graph& checked_body(const Call& call, int body, size_t states, size_t scanned) {
  const Graph& graph = *call.view.node().bodies()[static_cast<size_t>(body)];
  if (graph.inputs().size() != states + scanned || graph.outputs().size() < states)
    fail(call, fmt::format("the body does not take {} states and {} scanned values", states, scanned));
  return graph;
}

int64_t scanned_count(const Call& call, int inputs) {
  const int64_t count = call.view.get_int("num_scan_inputs");
  require(call, count >= 1 && count <= inputs, "num_scan_inputs is out of range");
  return count;
}

void scan(Call& call) {
  const auto scanned = static_cast<int>(scanned_count(call, call.input_count()));
  const int states = call.input_count() - scanned;
  Pass pass{body_index(call, "body"), {}, {}, {}, 0, {}};
  const Graph& body = checked_body(call, pass.body, static_cast<size_t>(states), static_cast<size_t>(scanned));
  pass.in = tracks(call, static_cast<size_t>(scanned), "scan_input_axes", "scan_input_directions");
  for (int i = 0; i < states; ++i) pass.states.push_back(call.datum(i));
  for (int i = 0; i < scanned; ++i) {
    const Tensor& data = call.in(states + i);
    Track& track = pass.in[static_cast<size_t>(i)];
    track.axis = axis_of(call, track.axis, data.rank());
    const int64_t length = data.dim(static_cast<int>(track.axis));
    require(call, i == 0 || length == pass.length, "the scanned values have different lengths");
    pass.length = length;
    pass.scanned.push_back(data);
  }
  pass.collected.resize(body.outputs().size() - static_cast<size_t>(states));
  const std::vector<Track> out = tracks(call, pass.collected.size(), "scan_output_axes", "scan_output_directions");
  run_pass(call, pass);
  for (int i = 0; i < states; ++i) call.set(i, std::move(pass.states[static_cast<size_t>(i)]));
  for (size_t k = 0; k < pass.collected.size(); ++k) {
    std::vector<Tensor>& slices = pass.collected[k];
    if (out[k].backward) std::reverse(slices.begin(), slices.end());
    const int at = states + static_cast<int>(k);
    if (slices.empty())
      call.set(at, stacked_nothing(call, *body.outputs()[static_cast<size_t>(at)], out[k].axis,
                                   call.view.node().output(at)));
    else
      call.set(at, stacked(call, slices, axis_of(call, out[k].axis, slices.front().rank() + 1)));
  }
}

/// `slices` stacked on axis 0 and filled up with zeros to `length`.
Tensor stacked_and_filled(const Call& call, const std::vector<Tensor>& slices, const Value& declared, int64_t length) {
  Tensor front = slices.empty() ? stacked_nothing(call, declared, 0) : stacked(call, slices, 0);
  if (front.dim(0) == length) return front;
  Dims dims = front.dims();
  dims[0] = length - front.dim(0);
  const Tensor parts[] = {front, Tensor::zeros(front.dtype(), std::move(dims))};
  return concatenated(call, parts, 0);
}

/// The lengths of the sequences of a batch, and how many steps the longest may have.
struct Batch {
  std::vector<int64_t> lengths;
  int64_t longest;
};

Batch batch_of(const Call& call, int states) {
  const Tensor& first = call.in(1 + states);
  require(call, first.rank() >= 2, "the scanned values need a batch and a time axis");
  const int64_t size = first.dim(0), longest = first.dim(1);
  for (int i = 1; i < call.input_count(); ++i) {
    const Tensor& data = call.in(i);
    require(call, data.rank() >= 1 && data.dim(0) == size, "the batch axes differ");
    require(call, i <= states || (data.rank() >= 2 && data.dim(1) == longest),
            "the scanned values have different lengths");
  }
  Batch b{call.has(0) ? to_ints(call.in(0)) : std::vector<int64_t>(static_cast<size_t>(size), longest), longest};
  require(call, static_cast<int64_t>(b.lengths.size()) == size, "there must be one length for each sequence");
  require(call, size > 0, "the batch is empty");
  for (const int64_t length : b.lengths)
    require(call, length >= 0 && length <= longest, "a length is outside the time axis");
  return b;
}

/// Opset 8: everything has a batch axis in front, time is axis 1, and input 0 gives the length of each sequence.
void scan_batched(Call& call) {
  const auto scanned = static_cast<int>(scanned_count(call, call.input_count() - 1));
  const int states = call.input_count() - 1 - scanned, body_at = body_index(call, "body");
  const Graph& body = checked_body(call, body_at, static_cast<size_t>(states), static_cast<size_t>(scanned));
  const Batch batch = batch_of(call, states);
  const std::vector<Track> in = tracks(call, static_cast<size_t>(scanned), "", "directions");

  std::vector<std::vector<Tensor>> results(body.outputs().size());
  for (size_t b = 0; b < batch.lengths.size(); ++b) {
    const auto at = static_cast<int64_t>(b);
    Pass pass{body_at, {}, {}, in, batch.lengths[b], {}};
    for (int i = 0; i < states; ++i) pass.states.emplace_back(slice_at(call.in(1 + i), 0, at));
    for (int i = 0; i < scanned; ++i) {
      const int64_t kept[] = {pass.length};
      pass.scanned.push_back(split_along(slice_at(call.in(1 + states + i), 0, at), 0, kept)[0]);
    }
    pass.collected.resize(results.size() - static_cast<size_t>(states));
    run_pass(call, pass);
    for (size_t k = 0; k < results.size(); ++k) {
      if (k < pass.states.size())
        results[k].push_back(pass.states[k].tensor());
      else
        results[k].push_back(
            stacked_and_filled(call, pass.collected[k - pass.states.size()], *body.outputs()[k], batch.longest));
    }
  }
  for (size_t k = 0; k < results.size(); ++k) call.set(static_cast<int>(k), stacked(call, results[k], 0));
}

void scan_any(Call& call) { call.view.opset() < 9 ? scan_batched(call) : scan(call); }

constexpr Kernel kKernels[] = {
    {"", "Scan", scan_any},
};

}  // namespace

std::span<const Kernel> scan_kernels() { return kKernels; }

}  // namespace mlopt::reference
