#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "backends/reference/kernels.h"
#include "backends/reference/matmul.h"
#include "backends/reference/spatial.h"

namespace mlopt::reference {
namespace {

/// Subscripts: letters by their code, the axes that an ellipsis stands for by kEllipsis + their number from the right.
using Labels = std::vector<int>;
constexpr int kEllipsis = 256;

/// A tensor whose axes have distinct labels.
struct Term {
  Tensor value;
  Labels labels;
};

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The elements of `x` at the corners of a grid: element index of the result is sum(index[i] * strides[i]) of x.
Tensor strided(const Call& call, const Tensor& x, const Dims& dims, const Dims& strides) {
  Tensor out(x.dtype(), dims);
  if (out.size() == 0) return out;
  with_number(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* in = x.data<T>();
    T* o = out.mutable_data<T>();
    const int64_t row = dims.empty() ? 1 : dims.back(), step = dims.empty() ? 0 : strides.back();
    const Dims outer(dims.begin(), dims.empty() ? dims.end() : dims.end() - 1);
    Dims index(outer.size(), 0);
    do {
      int64_t offset = 0;
      for (size_t i = 0; i < outer.size(); ++i) offset += index[i] * strides[i];
      for (int64_t j = 0; j < row; ++j) *o++ = in[offset + j * step];
    } while (advance(index, outer));
  });
  return out;
}

/// The same term with its axes in the order of `labels`.
Term arranged(const Call& call, const Term& term, const Labels& labels) {
  if (term.labels == labels) return term;
  const Dims strides = row_major_strides(term.value.dims());
  Dims dims, steps;
  for (const int label : labels) {
    const auto at = static_cast<size_t>(std::find(term.labels.begin(), term.labels.end(), label) - term.labels.begin());
    dims.push_back(term.value.dims()[at]);
    steps.push_back(strides[at]);
  }
  return {strided(call, term.value, dims, steps), labels};
}

/// The term summed over the labels that are not in `keep`.
Term summed(const Call& call, const Term& term, const Labels& keep) {
  Labels kept, gone;
  for (const int label : term.labels) (contains(keep, label) ? kept : gone).push_back(label);
  if (gone.empty()) return term;
  Labels order = kept;
  order.insert(order.end(), gone.begin(), gone.end());
  const Term sorted = arranged(call, term, order);
  const Dims dims(sorted.value.dims().begin(), sorted.value.dims().begin() + static_cast<std::ptrdiff_t>(kept.size()));
  const int64_t rows = element_count(dims), columns = rows == 0 ? 0 : sorted.value.size() / rows;
  Tensor out(term.value.dtype(), dims);
  with_number(call, out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* in = sorted.value.data<T>();
    T* o = out.mutable_data<T>();
    for (int64_t r = 0; r < rows; ++r) {
      o[r] = 0;
      for (int64_t c = 0; c < columns; ++c) o[r] += *in++;
    }
  });
  return {out, kept};
}

/// The product of two terms, summed over the labels that are not in `keep`, as a batch of matrix products.
Term product(const Call& call, const Term& left, const Term& right, const Labels& keep) {
  Labels needed_left = keep, needed_right = keep;
  needed_left.insert(needed_left.end(), right.labels.begin(), right.labels.end());
  needed_right.insert(needed_right.end(), left.labels.begin(), left.labels.end());
  const Term a = summed(call, left, needed_left), b = summed(call, right, needed_right);
  Labels batch, rows, columns, inner;
  for (const int label : a.labels)
    (contains(b.labels, label) ? contains(keep, label) ? batch : inner : rows).push_back(label);
  for (const int label : b.labels)
    if (!contains(a.labels, label)) columns.push_back(label);
  const auto join = [](Labels x, const Labels& y, const Labels& z) {
    x.insert(x.end(), y.begin(), y.end());
    x.insert(x.end(), z.begin(), z.end());
    return x;
  };
  const Term at = arranged(call, a, join(batch, rows, inner)), bt = arranged(call, b, join(batch, inner, columns));
  Term out{{}, join(batch, rows, columns)};
  const Dims &da = at.value.dims(), &db = bt.value.dims();
  const auto count = [](const Dims& dims, size_t from, size_t n) {
    return element_count(
        Dims(dims.begin() + static_cast<std::ptrdiff_t>(from), dims.begin() + static_cast<std::ptrdiff_t>(from + n)));
  };
  MatMulShape s;
  s.m = count(da, batch.size(), rows.size());
  s.k = count(da, batch.size() + rows.size(), inner.size());
  s.n = count(db, batch.size() + inner.size(), columns.size());
  s.batch = s.a_batch = s.b_batch = {count(da, 0, batch.size())};
  s.out.assign(da.begin(), da.begin() + static_cast<std::ptrdiff_t>(batch.size() + rows.size()));
  s.out.insert(s.out.end(), db.end() - static_cast<std::ptrdiff_t>(columns.size()), db.end());
  out.value = batched_product(call, s, at.value, bt.value);
  return out;
}

/// One side of the equation between commas: letters, and -1 for an ellipsis.
Labels parse_term(const Call& call, std::string_view text) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      labels.push_back(c);
    else if (text.substr(i, 3) == "..." && !contains(labels, -1))
      labels.push_back(-1), i += 2;
    else
      fail(call, fmt::format("unexpected '{}' in the equation", c));
  }
  return labels;
}

/// `labels` with an ellipsis replaced by the labels of `axes` axes.
Labels spread_ellipsis(const Labels& labels, int64_t axes) {
  Labels all;
  for (const int label : labels) {
    if (label != -1)
      all.push_back(label);
    else
      for (int64_t i = axes; i-- > 0;) all.push_back(kEllipsis + static_cast<int>(i));
  }
  return all;
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

Equation read_equation(const Call& call) {
  const std::string text = call.view.get_string("equation", "");
  const size_t arrow = text.find("->");
  Equation e;
  std::string_view left(text.data(), arrow == std::string::npos ? text.size() : arrow);
  int64_t widest = 0;
  for (int i = 0; i < call.input_count(); ++i) {
    const size_t comma = left.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == call.input_count()))
      fail(call, "one term for each input is needed");
    const Labels raw = parse_term(call, left.substr(0, comma));
    const int64_t named = static_cast<int64_t>(raw.size()) - contains(raw, -1), rank = call.in(i).rank();
    if (contains(raw, -1) ? named > rank : named != rank)
      fail(call, fmt::format("input {} of rank {} has {} subscripts", i, rank, named));
    widest = std::max(widest, rank - named);
    e.inputs.push_back(spread_ellipsis(raw, rank - named));
    if (comma != std::string_view::npos) left.remove_prefix(comma + 1);
  }
  if (arrow != std::string::npos) {
    e.output = spread_ellipsis(parse_term(call, std::string_view(text).substr(arrow + 2)), widest);
    return e;
  }
  // Without an arrow: the ellipsis, then the letters that occur once, sorted.
  e.output = spread_ellipsis({-1}, widest);
  std::map<int, int> times;
  for (const Labels& labels : e.inputs)
    for (const int label : labels) times[label] += label < kEllipsis ? 1 : 2;
  for (const auto& [label, count] : times)
    if (count == 1) e.output.push_back(label);
  return e;
}

/// Input i with each label once: repeated ones give the diagonal, and axes of 1 that others broadcast are dropped.
Term read_term(const Call& call, int i, const Labels& labels, const std::map<int, int64_t>& sizes) {
  const Tensor x = widened(call.in(i));
  const Dims strides = row_major_strides(x.dims());
  Term term;
  Dims dims, steps;
  for (size_t axis = 0; axis < labels.size(); ++axis) {
    const int64_t size = sizes.at(labels[axis]);
    if (x.dims()[axis] == 1 && size != 1) continue;
    if (x.dims()[axis] != size)
      fail(call, fmt::format("input {} of shape {} does not fit the equation", i, to_string(x.dims())));
    const auto at = std::find(term.labels.begin(), term.labels.end(), labels[axis]);
    if (at != term.labels.end()) {
      steps[static_cast<size_t>(at - term.labels.begin())] += strides[axis];
      continue;
    }
    term.labels.push_back(labels[axis]);
    dims.push_back(size);
    steps.push_back(strides[axis]);
  }
  term.value = strided(call, x, dims, steps);
  return term;
}

void einsum_op(Call& call) {
  const Equation e = read_equation(call);
  std::map<int, int64_t> sizes;
  for (size_t i = 0; i < e.inputs.size(); ++i) {
    for (size_t axis = 0; axis < e.inputs[i].size(); ++axis) {
      int64_t& size = sizes.emplace(e.inputs[i][axis], 1).first->second;
      if (size == 1) size = call.in(static_cast<int>(i)).dims()[axis];
    }
  }
  Labels seen;
  for (const int label : e.output) {
    if (contains(seen, label) || sizes.count(label) == 0)
      fail(call, "an output subscript is repeated or is in no input");
    seen.push_back(label);
  }
  Term result = read_term(call, 0, e.inputs[0], sizes);
  for (size_t i = 1; i < e.inputs.size(); ++i) {
    Labels keep = e.output;
    for (size_t later = i + 1; later < e.inputs.size(); ++later)
      keep.insert(keep.end(), e.inputs[later].begin(), e.inputs[later].end());
    const Term next = read_term(call, static_cast<int>(i), e.inputs[i], sizes);
    if (next.value.dtype() != result.value.dtype()) fail(call, "the inputs have different types");
    result = product(call, result, next, keep);
  }
  result = arranged(call, summed(call, result, e.output), e.output);
  call.set(0, as(result.value, call.in(0).dtype()));
}

constexpr Kernel kKernels[] = {{"", "Einsum", einsum_op}};

}  // namespace

std::span<const Kernel> einsum_kernels() { return kKernels; }

}  // namespace mlopt::reference
