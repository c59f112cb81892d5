#pragma once
#include <optional>
#include <span>
#include <string>

#include "core/data/input_spec.h"
#include "core/tensor/tensor.h"

namespace mlopt {

/// Do concrete dims fit symbolic ones (free dimensions take anything)?
bool fits(const Dims& dims, std::span<const Dim> wanted);
/// `dims`, or the same elements with dimensions of 1 added or removed (and, when `flatten`, any shape of as many
/// elements) so that they fit; nothing when they cannot.
std::optional<Dims> fitted_dims(const Dims& dims, std::span<const Dim> wanted, bool flatten);

/// What an integer type or bool can hold, as near as doubles tell; not beyond the largest int64.
ValueRange integers_of(DType type);

/// The tensor in the element type that the model takes. Numbers that the type cannot hold are an Error{kBadInput}
/// naming `where`; fractions are rounded when `round`, else an error too where the type holds integers.
Tensor to_input_type(const Tensor& tensor, DType type, bool round, const std::string& where);

/// Tensors of equal type and dims along a new first axis; throws when they differ, naming the sample `names` gives for
/// each.
Tensor stack(std::span<const Tensor> tensors, std::span<const std::string> names);

}  // namespace mlopt
