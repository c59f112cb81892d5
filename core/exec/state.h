#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt {

/// A state value in a device's own memory, where it stays between runs. It goes to the device again when the host has
/// written it, and comes back when the host looks at it.
class StateCopy {
 public:
  virtual ~StateCopy() = default;
  /// Writes the value to `bytes` of the host.
  virtual void read(std::byte* bytes) = 0;
  /// Whether all numbers of these copies of floats, which are of one device as this one is, are finite: found there.
  virtual bool all_finite(std::span<StateCopy* const> copies) = 0;

  bool current = false;  ///< not older than the host's
  bool newer = false;    ///< the host's is out of date
};

/// Values that outlive the runs of executables and are updated in place by them: parameters, moments of an optimizer,
/// accumulated gradients. Executables compiled with the same store share them; of these, one runs at a time.
class StateStore {
 public:
  StateStore() = default;
  /// The same values; what devices have of them stays the other's.
  StateStore(const StateStore& other);
  StateStore& operator=(const StateStore&) = delete;

  /// A new value, of which the store keeps a copy of its own. Throws Error{kInternal} when the name is taken.
  void add(const std::string& name, const Tensor& value);
  bool has(std::string_view name) const { return values_.contains(name); }
  /// The value as it is now: a copy shares its bytes until a run changes them.
  const Tensor& at(std::string_view name) const;
  /// Another value of the same type and shape; throws Error{kInternal} otherwise.
  void set(std::string_view name, const Tensor& value);
  /// Where the value lies, to be overwritten: shared by nobody.
  std::byte* bytes(std::string_view name);

  /// The host's bytes, which may be out of date: for type and shape.
  const Tensor& on_host(std::string_view name) const { return find(name).value; }
  /// A device's copy; null: there is none. The store keeps it as long as it lives.
  const std::shared_ptr<StateCopy>& copy(std::string_view name) const { return find(name).copy; }
  void keep_copy(std::string_view name, std::shared_ptr<StateCopy> copy);

 private:
  struct Kept {
    Tensor value;
    std::shared_ptr<StateCopy> copy = {};
  };
  const Kept& find(std::string_view name) const;
  Kept& up_to_date(std::string_view name);

  std::map<std::string, Kept, std::less<>> values_;
};

/// What adds up values of a store over the ranks of a parallel run where a device keeps them, handed to a run that
/// makes them (RunHooks::sums): how is between that device's communicator and its plans.
class StateSums {
 public:
  /// `names`: of values that the run updates. Some are added up at once as soon as they make `bucket_bytes`.
  StateSums(std::vector<std::string> names, int64_t bucket_bytes)
      : names_(std::move(names)), bucket_bytes_(bucket_bytes) {}
  virtual ~StateSums() = default;

  const std::vector<std::string>& names() const { return names_; }
  int64_t bucket_bytes() const { return bucket_bytes_; }

  bool done = false;  ///< set by a run that has left sums in the store; one that cannot leaves it as it is

 private:
  std::vector<std::string> names_;
  int64_t bucket_bytes_;
};

/// After each run, a value of the store is what the graph gave as `output`; run() does not hand that output out.
struct StateUpdate {
  std::string state, output;
};
/// The one that `output` is; null: none.
const StateUpdate* find_update(std::span<const StateUpdate> updates, std::string_view output);

}  // namespace mlopt
