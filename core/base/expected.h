#pragma once
#include <string>
#include <utility>
#include <variant>

namespace mlopt {

/// An expected "no": the reason in one sentence without a full stop, counted and shown by --explain.
struct Decline {
  std::string reason;
};

/// Either a value or a reason why there is none.
template <class T, class E = Decline>
class Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Expected(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const E& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, E> state_;
};

}  // namespace mlopt
