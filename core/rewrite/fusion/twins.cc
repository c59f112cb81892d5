#include "core/rewrite/fusion/twins.h"

#include <cstring>

namespace mlopt::fusion {
namespace {

constexpr size_t kMostBytes = 256;  // of constants that are compared
constexpr int kMostSteps = 8;       // from a value back to what both are made of

bool are_equal(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dtype() != DType::kString && a.dims() == b.dims() && a.bytes() <= kMostBytes &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// Of integers, which the operators have that positions and angles go through; not of others.
bool are_equal(const Attr& a, const Attr& b) {
  const auto *x = std::get_if<int64_t>(&a.value), *y = std::get_if<int64_t>(&b.value);
  const auto *list = std::get_if<std::vector<int64_t>>(&a.value), *other = std::get_if<std::vector<int64_t>>(&b.value);
  return (x && y && *x == *y) || (list && other && *list == *other);
}

bool have_equal_attributes(const Node& a, const Node& b) {
  if (a.attrs.size() != b.attrs.size()) return false;
  for (const Attr& attr : a.attrs) {
    const Attr* other = b.attr(attr.name);
    if (!other || !are_equal(attr, *other)) return false;
  }
  return true;
}

bool are_twins(const Value* a, const Value* b, int steps) {
  if (a == b) return true;
  if (!a || !b) return false;
  if (a->known_constant() && b->known_constant()) return are_equal(*a->known_constant(), *b->known_constant());
  const Node *m = a->producer, *n = b->producer;
  if (!m || !n || steps == 0 || m->op != n->op || m->domain != n->domain || a->output_index != b->output_index ||
      m->inputs().size() != n->inputs().size() || m->inputs().empty() || !have_equal_attributes(*m, *n))
    return false;
  for (size_t i = 0; i < m->inputs().size(); ++i)
    if (!are_twins(m->inputs()[i], n->inputs()[i], steps - 1)) return false;
  // Each of these draws numbers of its own.
  return !m->op.starts_with("Random") && m->op != "Bernoulli" && m->op != "Dropout" && m->op != "Multinomial";
}

}  // namespace

bool are_twins(const Value* a, const Value* b) { return are_twins(a, b, kMostSteps); }

}  // namespace mlopt::fusion
