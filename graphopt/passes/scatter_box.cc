#include "graphopt/passes/scatter_box.h"

#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/counting.h"
#include "core/tensor/cast.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {
namespace {

/// What one column of indices says, and the axis of the indices along which it counts; none: it is one place.
struct Column {
  Span span;
  std::optional<size_t> axis;
};

std::optional<Column> column_of(const std::optional<double>& number, const std::optional<fusion::Count>& count,
                                const SymDims& dims) {
  if (number) return Column{{Dim(static_cast<int64_t>(*number)), 1}, std::nullopt};
  if (!count || count->axis >= dims.size()) return std::nullopt;
  return Column{{count->from, dims[count->axis]}, count->axis};
}

constexpr const char* kNoBox = "its indices do not count along the axes";

std::optional<Column> column_of(const Value* v, const SymDims& dims, const Builder& builder) {
  return column_of(fusion::only_number(v), fusion::count_of(v, builder), dims);
}

/// The columns of constant indices [..., count].
std::vector<Tensor> columns_in(const Tensor& indices, size_t count) {
  const std::vector<int64_t> all = to_ints(indices);
  Dims dims = indices.dims();
  dims.pop_back();
  std::vector<Tensor> columns;
  for (size_t i = 0; i < count; ++i) {
    std::vector<int64_t> one;
    for (size_t at = i; at < all.size(); at += count) one.push_back(all[at]);
    columns.push_back(Tensor::ints(one).reshaped(dims));
  }
  return columns;
}

/// The columns of indices [..., columns], which stand apart in a Concat, or are one, or constant.
std::optional<std::vector<Column>> columns_of(const Value* indices, size_t count, const Builder& builder) {
  SymDims dims = *indices->type.dims;
  dims.pop_back();
  std::vector<Column> columns;
  const auto add = [&](const std::optional<Column>& column) {
    if (column) columns.push_back(*column);
    return column.has_value();
  };
  if (const Tensor* t = indices->known_constant()) {
    if (t->size() / static_cast<int64_t>(std::max<size_t>(count, 1)) > fusion::kMostNumbers) return std::nullopt;
    for (const Tensor& column : columns_in(*t, count))
      if (!add(column_of(fusion::only_number(column), fusion::count_in(column), dims))) return std::nullopt;
    return columns;
  }
  if (count == 1) return add(column_of(indices, dims, builder)) ? std::optional(columns) : std::nullopt;
  const Node* joined = producer_of(indices, "Concat");
  if (!joined || joined->inputs().size() != count ||
      !is_last_axis(builder.view(*joined).get_int("axis", 0), dims.size() + 1))
    return std::nullopt;
  for (const Value* v : joined->inputs())
    if (!add(column_of(v, dims, builder))) return std::nullopt;
  return columns;
}

/// What ScatterND fills, along each of x's first axes.
Expected<std::vector<Span>> box_of_nd(const Value* indices, const Builder& builder) {
  const auto& dims = indices->type.dims;
  const auto count = dims && !dims->empty() ? dims->back().value() : std::nullopt;
  if (!count) return Decline{"the shapes are not known"};
  const auto columns = columns_of(indices, static_cast<size_t>(*count), builder);
  if (!columns) return Decline{kNoBox};
  std::vector<Span> box;
  size_t next = 0;  // of the indices' axes
  for (const Column& column : *columns) {
    box.push_back(column.span);
    if (!column.axis) continue;
    for (; next < *column.axis; ++next)
      if (!(*dims)[next].is(1)) return Decline{kNoBox};
    if (next++ != *column.axis) return Decline{kNoBox};
  }
  for (; next + 1 < dims->size(); ++next)
    if (!(*dims)[next].is(1)) return Decline{kNoBox};
  return box;
}

/// What ScatterElements fills: all of x along other axes than its own.
Expected<std::vector<Span>> box_of_elements(const Node& scatter, const SymDims& x, const Builder& builder) {
  const Value* indices = scatter.input(1);
  const auto& dims = indices->type.dims;
  if (!dims || dims->size() != x.size()) return Decline{"the shapes are not known"};
  const auto axis = place_in(builder.view(scatter).get_int("axis", 0), x.size());
  if (!axis) return Decline{kNoBox};
  std::vector<Span> box;
  for (size_t i = 0; i < x.size(); ++i) {
    box.push_back({0, (*dims)[i]});
    if (i != *axis && !((*dims)[i] == x[i])) return Decline{"it does not fill all along the other axes"};
  }
  const auto column = column_of(indices, *dims, builder);
  if (!column || !(column->axis ? *column->axis == *axis : (*dims)[*axis].is(1))) return Decline{kNoBox};
  box[*axis] = column->span;
  return box;
}

}  // namespace

Expected<std::vector<Span>> scatter_box(const Node& scatter, const SymDims& dims, const Builder& builder) {
  if (!scatter.is("ScatterND")) return box_of_elements(scatter, dims, builder);
  auto box = box_of_nd(scatter.input(1), builder);
  if (box && box->size() > dims.size()) return Decline{kNoBox};
  return box;
}

}  // namespace mlopt::graphopt
