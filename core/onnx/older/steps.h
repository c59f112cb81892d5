#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

/// What the rules are made of. Reasons are "" where there is nothing against it.
namespace mlopt::proto::older {

using Ints = std::vector<int64_t>;

/// The reason that older opsets lack an attribute.
std::string lacks(std::string_view attr);
/// Takes away an attribute that means something only for types that came with it.
std::string drop(Node& node, std::string_view attr);
/// Takes away one that says what older opsets do all the same, else gives a reason.
template <class T>
std::string drop(Node& node, std::string_view attr, const T& usual) {
  const Attr* found = node.attr(attr);
  const T* value = found ? std::get_if<T>(&found->value) : nullptr;
  if (found && !(value && *value == usual)) return lacks(attr);
  return drop(node, attr);
}
/// The same for a list of ones.
std::string drop_ones(Node& node, std::string_view attr);
/// The reason where the attribute is one of these, which older opsets do not know.
std::string refuse(const Node& node, std::string_view attr, std::initializer_list<std::string_view> values);
/// The integer that the attribute is.
int64_t number(const Node& node, std::string_view attr, int64_t otherwise);
/// The numbers of an input, also of one that is computed from constants and sizes; nothing for others.
std::optional<Ints> numbers(const Node& node, int input);
/// Takes away the last input, and what computes it as far as nothing else reads that.
void drop_input(Node& node, int input);
/// The input reads these numbers from now on; what computed it goes as far as nothing else reads it.
void give_ints(Node& node, int input, const std::string& what, const Ints& values);

}  // namespace mlopt::proto::older
