#include "core/rewrite/fusion/twins.h"

#include <algorithm>
#include <cstring>

namespace mlopt::fusion {
namespace {

constexpr size_t kMostBytes = 256;  // of constants that are compared
constexpr int kMostSteps = 8;       // from a value back to what both are made of

bool are_equal(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dtype() != DType::kString && a.dims() == b.dims() && a.bytes() <= kMostBytes &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

template <class T>
bool are_equal(const AttrValue& a, const AttrValue& b) {
  const T *x = std::get_if<T>(&a), *y = std::get_if<T>(&b);
  return x && y && *x == *y;
}

bool are_equal(const AttrValue& a, const AttrValue& b) {
  return are_equal<int64_t>(a, b) || are_equal<float>(a, b) || are_equal<std::string>(a, b) ||
         are_equal<std::vector<int64_t>>(a, b) || are_equal<std::vector<float>>(a, b) ||
         are_equal<std::vector<std::string>>(a, b);
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

bool have_equal_attributes(const Node& a, const Node& b) {
  return a.attrs.size() == b.attrs.size() && std::all_of(a.attrs.begin(), a.attrs.end(), [&b](const Attr& attr) {
           const Attr* other = b.attr(attr.name);
           return other && are_equal(attr.value, other->value);
         });
}

bool are_twins(const Value* a, const Value* b) { return are_twins(a, b, kMostSteps); }

}  // namespace mlopt::fusion
