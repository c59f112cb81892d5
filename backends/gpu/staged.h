#pragma once
#include <functional>
#include <memory>

#include "core/exec/backend.h"
#include "core/ir/infer.h"

namespace mlopt::gpu {

/// The model with operators in two parts whose results are as many as the data say (core/rewrite/lower/counted.cc),
/// types inferred, by `types` as infer() does; nothing where it has none such.
std::optional<Model> with_counts(const Model& model, TypeRule types);

using CompileStage = std::function<std::unique_ptr<Executable>(const Model&)>;

/// A model with nodes mlopt.FirstRows(all, count), whose shapes only a run tells, as several that follow each other:
/// each is compiled by `compile` and planned for what the one before made, whose first rows are taken on the host in
/// between. A stage with such nodes in the branches of an If waits for its inputs, by which one is taken. Types of
/// values are inferred, by `types` too. The profile is that of all, one after the other; values cannot be watched.
std::unique_ptr<Executable> compile_staged(const Model& model, TypeRule types, const CompileStage& compile);

}  // namespace mlopt::gpu
