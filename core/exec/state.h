#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/tensor/tensor.h"

namespace mlopt {

/// Values that outlive the runs of executables and are updated in place by them: parameters, moments of an optimizer,
/// accumulated gradients. Executables compiled with the same store share them; of these, one runs at a time.
class StateStore {
 public:
  /// A new value, of which the store keeps a copy of its own. Throws Error{kInternal} when the name is taken.
  void add(const std::string& name, const Tensor& value);
  bool has(std::string_view name) const { return values_.contains(name); }
  /// The value as it is now: a copy shares its bytes until a run changes them.
  const Tensor& at(std::string_view name) const;
  /// Another value of the same type and shape; throws Error{kInternal} otherwise.
  void set(std::string_view name, const Tensor& value);
  /// Where the value lies, to be overwritten: shared by nobody.
  std::byte* bytes(std::string_view name);

 private:
  Tensor& find(std::string_view name);

  std::map<std::string, Tensor, std::less<>> values_;
};

/// After each run, a value of the store is what the graph gave as `output`; run() does not hand that output out.
struct StateUpdate {
  std::string state, output;
};
/// The one that `output` is; null: none.
const StateUpdate* find_update(std::span<const StateUpdate> updates, std::string_view output);

}  // namespace mlopt
