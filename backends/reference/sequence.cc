#include <fmt/core.h>

#include <algorithm>

#include "backends/reference/concat.h"
#include "backends/reference/kernels.h"
#include "backends/reference/slices.h"

namespace mlopt::reference {
namespace {

const std::vector<Datum>& items_of(const Call& call, int i) {
  const Datum& sequence = call.datum(i);
  if (sequence.kind() != Datum::Kind::kSequence) fail(call, fmt::format("input {} is not a sequence", i));
  return sequence.items();
}

/// The place that input `i` names: negative ones count from `count`; below `limit`.
size_t place_in(const Call& call, int i, size_t count, size_t limit) {
  const auto length = static_cast<int64_t>(count);
  const int64_t place = int_in(call, i, -1);
  if (place < -length || place >= static_cast<int64_t>(limit))
    fail(call, fmt::format("position {} is outside a sequence of {} elements", place, count));
  return static_cast<size_t>(place < 0 ? place + length : place);
}

void sequence_construct(Call& call) {
  std::vector<Datum> items;
  for (int i = 0; i < call.input_count(); ++i) items.emplace_back(call.in(i));
  call.set(0, Datum::sequence(std::move(items)));
}

void sequence_empty(Call& call) { call.set(0, Datum::sequence({})); }

void sequence_length(Call& call) { call.set(0, Tensor::scalar(static_cast<int64_t>(items_of(call, 0).size()))); }

void sequence_at(Call& call) {
  const std::vector<Datum>& items = items_of(call, 0);
  call.set(0, items[place_in(call, 1, items.size(), items.size())]);
}

void sequence_insert(Call& call) {
  std::vector<Datum> items = items_of(call, 0);
  const size_t place = call.has(2) ? place_in(call, 2, items.size(), items.size() + 1) : items.size();
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), call.in(1));
  call.set(0, Datum::sequence(std::move(items)));
}

void sequence_erase(Call& call) {
  std::vector<Datum> items = items_of(call, 0);
  const size_t place = place_in(call, 1, items.size(), items.size());
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  call.set(0, Datum::sequence(std::move(items)));
}

/// Pieces of one length (the last may be shorter), the lengths listed, or single slices.
std::vector<int64_t> piece_lengths(const Call& call, int64_t length) {
  if (!call.has(1)) return std::vector<int64_t>(static_cast<size_t>(length), 1);
  if (call.in(1).rank() == 0) {
    const int64_t piece = int_in(call, 1, 1);
    require(call, piece > 0, "the length of a piece must be positive");
    std::vector<int64_t> lengths(static_cast<size_t>(length / piece), piece);
    if (length % piece > 0) lengths.push_back(length % piece);
    return lengths;
  }
  std::vector<int64_t> lengths = to_ints(call.in(1));
  int64_t rest = length;
  for (const int64_t piece : lengths) {
    require(call, piece >= 0 && piece <= rest, "the lengths of the pieces do not add up to the axis");
    rest -= piece;
  }
  require(call, rest == 0, "the lengths of the pieces do not add up to the axis");
  return lengths;
}

void split_to_sequence(Call& call) {
  const Tensor& data = call.in(0);
  const int axis = axis_of(call, call.view.get_int("axis", 0), data.rank());
  const bool drop_axis = !call.has(1) && call.view.get_int("keepdims", 1) == 0;
  std::vector<Datum> items;
  for (const Tensor& piece : split_along(data, axis, piece_lengths(call, data.dim(axis))))
    items.emplace_back(drop_axis ? slice_at(piece, axis, 0) : piece);
  call.set(0, Datum::sequence(std::move(items)));
}

void concat_from_sequence(Call& call) {
  std::vector<Tensor> parts;
  for (const Datum& item : items_of(call, 0)) parts.push_back(item.tensor());
  require(call, !parts.empty(), "an empty sequence cannot be joined");
  const int64_t axis = call.view.get_int("axis");
  const int rank = parts.front().rank();
  if (call.view.get_int("new_axis", 0) != 0)
    call.set(0, stacked(call, parts, axis_of(call, axis, rank + 1)));
  else
    call.set(0, concatenated(call, parts, axis_of(call, axis, rank)));
}

/// Runs the body on the elements of the sequences at one place after the other; other inputs are the same every time.
void sequence_map(Call& call) {
  const int body = body_index(call, "body");
  const size_t count = items_of(call, 0).size();
  std::vector<std::vector<Datum>> results(static_cast<size_t>(call.output_count()));
  for (size_t place = 0; place < count; ++place) {
    std::vector<Datum> inputs;
    for (int i = 0; i < call.input_count(); ++i) {
      const Datum& input = call.datum(i);
      const bool mapped = input.kind() == Datum::Kind::kSequence;
      require(call, !mapped || input.items().size() == count, "the sequences have different lengths");
      inputs.push_back(mapped ? input.items()[place] : input);
    }
    std::vector<Datum> outputs = call.run_body(body, inputs);
    require(call, outputs.size() >= results.size(), "the body has too few outputs");
    for (size_t k = 0; k < results.size(); ++k) results[k].push_back(std::move(outputs[k]));
  }
  for (size_t k = 0; k < results.size(); ++k) call.set(static_cast<int>(k), Datum::sequence(std::move(results[k])));
}

void optional(Call& call) { call.set(0, call.has(0) ? call.datum(0) : Datum()); }

void optional_has_element(Call& call) { call.set(0, Tensor::scalar(call.has(0))); }

void optional_get_element(Call& call) {
  require(call, call.has(0), "the optional is empty");
  call.set(0, call.datum(0));
}

constexpr Kernel kKernels[] = {
    {"", "SequenceConstruct", sequence_construct},
    {"", "SequenceEmpty", sequence_empty},
    {"", "SequenceLength", sequence_length},
    {"", "SequenceAt", sequence_at},
    {"", "SequenceInsert", sequence_insert},
    {"", "SequenceErase", sequence_erase},
    {"", "SplitToSequence", split_to_sequence},
    {"", "ConcatFromSequence", concat_from_sequence},
    {"", "SequenceMap", sequence_map},
    {"", "Optional", optional},
    {"", "OptionalHasElement", optional_has_element},
    {"", "OptionalGetElement", optional_get_element},
};

}  // namespace

std::span<const Kernel> sequence_kernels() { return kKernels; }

}  // namespace mlopt::reference
