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

StateStore::StateStore(const StateStore& other) {
  for (const auto& [name, kept] : other.values_) values_[name].value = other.at(name);
}

void StateStore::add(const std::string& name, const Tensor& value) {
  if (!values_.try_emplace(name, Kept{copied(value)}).second) internal_error("a state value is added twice", name);
}

const StateStore::Kept& StateStore::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) internal_error("not a state value", std::string(name));
  return found->second;
}

StateStore::Kept& StateStore::up_to_date(std::string_view name) {
  Kept& kept = const_cast<Kept&>(find(name));
  if (kept.copy && kept.copy->newer) {
    kept.copy->read(kept.value.mutable_raw());
    kept.copy->newer = false;
  }
  return kept;
}

const Tensor& StateStore::at(std::string_view name) const {
  return const_cast<StateStore*>(this)->up_to_date(name).value;
}

void StateStore::set(std::string_view name, const Tensor& value) {
  Kept& kept = const_cast<Kept&>(find(name));
  if (value.dtype() != kept.value.dtype() || value.dims() != kept.value.dims())
    internal_error("a state value keeps its type and shape", std::string(name));
  if (value.bytes() > 0) std::memcpy(kept.value.mutable_raw(), value.raw(), value.bytes());
  if (kept.copy) kept.copy->current = kept.copy->newer = false;
}

std::byte* StateStore::bytes(std::string_view name) {
  Kept& kept = up_to_date(name);
  if (kept.copy) kept.copy->current = false;
  return kept.value.mutable_raw();
}

void StateStore::keep_copy(std::string_view name, std::shared_ptr<StateCopy> copy) {
  up_to_date(name).copy = std::move(copy);
}

const StateUpdate* find_update(std::span<const StateUpdate> updates, std::string_view output) {
  const auto found = std::find_if(updates.begin(), updates.end(), [&](const auto& u) { return u.output == output; });
  return found == updates.end() ? nullptr : &*found;
}

}  // namespace mlopt
