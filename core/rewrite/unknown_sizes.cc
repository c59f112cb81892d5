#include "core/rewrite/unknown_sizes.h"

#include <fmt/core.h>

#include <string_view>

namespace mlopt {
namespace {

constexpr std::string_view kPrefix = "?size";  // no name that exporters give

void forget(Graph& graph) {
  for (Value* v : graph.values()) {
    if (!v->type.dims) continue;
    for (Dim& size : *v->type.dims)
      if (is_named_size(size)) size = Dim();
  }
  for (Node* node : graph.nodes())
    for (Graph* body : node->bodies()) forget(*body);
}

}  // namespace

void name_unknown_sizes(Model& model, TypeRule standard) {
  int64_t named = 0;
  for (Node* node : model.graph->nodes()) {
    if (named > 0) infer(model, *node, standard, false);
    for (Value* y : node->outputs()) {
      if (!y || !y->type.dims) continue;
      for (Dim& size : *y->type.dims)
        if (!size.known()) size = Dim::symbol(fmt::format("{}{}", kPrefix, named++));
    }
  }
}

void forget_named_sizes(Model& model) { forget(*model.graph); }

bool is_named_size(const Dim& size) {
  return size.known() && !size.value() && size.str().find(kPrefix) != std::string::npos;
}

}  // namespace mlopt
