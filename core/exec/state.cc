#include "core/exec/state.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"

namespace mlopt {
namespace {

Tensor copied(const Tensor& value) {
  Tensor copy(value.dtype(), value.dims());
  if (value.bytes() > 0) std::memcpy(copy.mutable_raw(), value.raw(), value.bytes());
  return copy;
}

}  // namespace

void StateStore::add(const std::string& name, const Tensor& value) {
  if (!values_.emplace(name, copied(value)).second) internal_error("a state value is added twice", name);
}

Tensor& StateStore::find(std::string_view name) {
  const auto found = values_.find(name);
  if (found == values_.end()) internal_error("not a state value", std::string(name));
  return found->second;
}

const Tensor& StateStore::at(std::string_view name) const { return const_cast<StateStore*>(this)->find(name); }

void StateStore::set(std::string_view name, const Tensor& value) {
  Tensor& kept = find(name);
  if (value.dtype() != kept.dtype() || value.dims() != kept.dims())
    internal_error("a state value keeps its type and shape", std::string(name));
  if (value.bytes() > 0) std::memcpy(kept.mutable_raw(), value.raw(), value.bytes());
}

std::byte* StateStore::bytes(std::string_view name) { return find(name).mutable_raw(); }

const StateUpdate* find_update(std::span<const StateUpdate> updates, std::string_view output) {
  const auto found = std::find_if(updates.begin(), updates.end(), [&](const auto& u) { return u.output == output; });
  return found == updates.end() ? nullptr : &*found;
}

}  // namespace mlopt
