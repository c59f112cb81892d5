#include "core/report/json.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace mlopt {
namespace {

using Plain = nlohmann::ordered_json;

constexpr const char* kWritten = "give a file that --json wrote";
constexpr int kMostNesting = 200;  // of files that are read: from_plain() calls itself

Plain to_plain(const Json& json) {
  if (json.is_array()) {
    Plain array = Plain::array();
    for (const Json& item : json.items()) array.push_back(to_plain(item));
    return array;
  }
  if (json.is_object()) {
    Plain object = Plain::object();
    for (const auto& [key, member] : json.members()) object[key] = to_plain(member);
    return object;
  }
  if (json.is_null()) return nullptr;
  if (json.is_bool()) return json.boolean();
  if (json.is_string()) return json.string();
  if (json.is_integer()) return static_cast<int64_t>(json.integer());
  return json.number();
}

Json from_plain(const Plain& plain) {
  if (plain.is_array()) {
    Json array = Json::array();
    for (const Plain& item : plain) array.push_back(from_plain(item));
    return array;
  }
  if (plain.is_object()) {
    Json object = Json::object();
    for (const auto& [key, member] : plain.items()) object[key] = from_plain(member);
    return object;
  }
  if (plain.is_boolean()) return plain.get<bool>();
  if (plain.is_string()) return plain.get<std::string>();
  if (plain.is_number_unsigned() && plain.get<uint64_t>() > INT64_MAX) return plain.get<double>();
  if (plain.is_number_integer()) return plain.get<int64_t>();
  if (plain.is_number()) return plain.get<double>();
  return {};
}

}  // namespace

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object{};
  if (!is_object()) internal_error("Json: a member of something that is not an object", std::string(key));
  Object& object = std::get<Object>(value_);
  for (auto& [name, member] : object) {
    if (name == key) return member;
  }
  return object.emplace_back(std::string(key), Json{}).second;
}

void Json::push_back(Json item) {
  if (is_null()) value_ = Array{};
  if (!is_array()) internal_error("Json: an item of something that is not an array");
  std::get<Array>(value_).push_back(std::move(item));
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, member] : members()) {
    if (name == key) return &member;
  }
  return nullptr;
}

const Json::Array& Json::items() const {
  static const Array kNone;
  return is_array() ? std::get<Array>(value_) : kNone;
}

const Json::Object& Json::members() const {
  static const Object kNone;
  return is_object() ? std::get<Object>(value_) : kNone;
}

double Json::number() const {
  if (is_integer()) return static_cast<double>(integer());
  if (!is_number()) input_error("JSON: expected a number");
  return std::get<double>(value_);
}

int64_t Json::integer() const {
  if (!is_integer()) input_error("JSON: expected a whole number");
  return std::get<int64_t>(value_);
}

const std::string& Json::string() const {
  if (!is_string()) input_error("JSON: expected a string");
  return std::get<std::string>(value_);
}

bool Json::boolean() const {
  if (!is_bool()) input_error("JSON: expected true or false");
  return std::get<bool>(value_);
}

std::string Json::dump() const { return to_plain(*this).dump(2, ' ', false, Plain::error_handler_t::replace); }

Json Json::parse(const std::string& text, const std::string& where) {
  try {
    const auto shallow = [&](int depth, Plain::parse_event_t, Plain&) {
      if (depth > kMostNesting) input_error("JSON is nested too deeply", where, kWritten);
      return true;
    };
    return from_plain(Plain::parse(text, shallow));
  } catch (const Plain::exception& e) {
    input_error(std::string("not valid JSON (") + e.what() + ")", where, kWritten);
  }
}

}  // namespace mlopt
