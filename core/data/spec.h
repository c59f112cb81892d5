#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlopt {

/// Preprocessing, in the order of application; absent members do nothing.
struct Transforms {
  std::optional<std::array<int64_t, 2>> resize;  ///< height, width; {S, 0}: the short side becomes S
  std::optional<int64_t> crop;                   ///< centre square
  bool gray = false, bgr = false;
  std::optional<double> scale;          ///< factor; absent: 1/255 for images into float inputs, 1 otherwise
  std::vector<double> mean, deviation;  ///< one number, or one for each channel (column)
  std::string layout;                   ///< "nchw", "nhwc" or "": as the model's shape says

  bool operator==(const Transforms&) const = default;
};

/// Which samples, in the order of application.
struct Selection {
  std::optional<int64_t> limit = std::nullopt;      ///< so many, evenly over the classes
  std::optional<int64_t> per_class = std::nullopt;  ///< the first so many of each class
  std::optional<int64_t> every = std::nullopt;      ///< one of so many: the 1st, the (K+1)th, ...
  bool shuffle = false;
  /// From a to b: shares of the whole when both are at most 1, else indices. Of `bytes` it cuts the text, before the
  /// rest.
  std::optional<std::array<double, 2>> split = std::nullopt;

  bool operator==(const Selection&) const = default;
};

enum class DataKind { kRandom, kArrays, kImages, kIdx, kCsv, kBytes, kText };

/// What --data says: where samples come from, what is done to them, and which are used.
struct DataSpec {
  DataKind kind = DataKind::kRandom;
  std::string path;
  std::string labels;                     ///< idx: the labels' file; images: labels=
  std::optional<int64_t> count;           ///< random: batches
  std::string label_column;               ///< csv, text: label=; a name, or an index from 0 (negative: from the end)
  std::vector<std::string> ignore;        ///< csv: columns that are no features, by name or index
  std::optional<int64_t> length;          ///< bytes: tokens of a sample where the model leaves that open
  std::vector<std::string> text_columns;  ///< text: text=; as label_column, joined with a space
  std::string vocab;                      ///< text: the vocabulary's file
  std::optional<int64_t> max_len;         ///< text: tokens of a sample where the model leaves that open
  std::string special;  ///< text: special tokens around texts, "" (as the vocabulary says) or a value of special=
  std::string ids;      ///< text: how ids are counted, "" (as the model's table says), "model" or "fairseq"
  Transforms transforms;
  Selection selection;

  bool operator==(const DataSpec&) const = default;
};

/// Parses what --data takes (a comma in a path is written "\,"). Throws Error{kUsage}, with a suggestion for a mistyped
/// word.
DataSpec parse_data_spec(std::string_view text);
/// The spec in its shortest form; parse_data_spec(print(s)) == s.
std::string print(const DataSpec& spec);

}  // namespace mlopt
