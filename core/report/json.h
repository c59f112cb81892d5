#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace mlopt {

/// A JSON value. Objects keep the order in which their keys were set, so that reports read well.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;                                             ///< null
  Json(bool value) : value_(value) {}                           // NOLINT(google-explicit-constructor)
  Json(double value) : value_(value) {}                         // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Json(std::string_view value) : value_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Json(const char* value) : value_(std::string(value)) {}       // NOLINT(google-explicit-constructor)
  template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
  Json(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  Json(const std::vector<T>& items)  // NOLINT(google-explicit-constructor)
      : value_(Array(items.begin(), items.end())) {}
  static Json array() { return from(Array{}); }
  static Json object() { return from(Object{}); }
  static Json object(Object members) { return from(std::move(members)); }

  /// The member of that name, added as null when it is absent. A null becomes an object first.
  Json& operator[](std::string_view key);
  /// Appends to an array. A null becomes an array first.
  void push_back(Json item);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }

  /// The member of that name, or null when this is not an object or has none.
  const Json* find(std::string_view key) const;
  /// Empty unless this is an array or an object.
  const Array& items() const;
  const Object& members() const;
  /// Throw Error{kBadInput} when this is something else.
  double number() const;
  int64_t integer() const;
  const std::string& string() const;
  bool boolean() const;

  /// UTF-8 (broken sequences replaced), indented by two, without a final newline. Infinities and NaN become null.
  std::string dump() const;
  /// Throws Error{kBadInput} with the position of the first mistake; `where` names the file.
  static Json parse(const std::string& text, const std::string& where = {});

 private:
  template <class T>
  static Json from(T value) {
    Json json;
    json.value_ = std::move(value);
    return json;
  }

  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace mlopt
