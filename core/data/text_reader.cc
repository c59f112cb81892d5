#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/reader.h"
#include "core/data/table.h"
#include "core/data/tokenizer.h"

namespace mlopt {
namespace {

constexpr int64_t kDefaultLength = 128;

enum class Role { kIds, kMask, kTypes };

struct RoleName {
  std::string_view name;
  Role role;
};
/// As PyTorch's exports and, in the second place, TensorFlow's call them.
constexpr RoleName kRoles[] = {{"input_ids", Role::kIds},
                               {"attention_mask", Role::kMask},
                               {"input_mask", Role::kMask},
                               {"token_type_ids", Role::kTypes},
                               {"segment_ids", Role::kTypes}};

std::optional<Role> named_role(std::string_view name) {
  if (name.ends_with(":0")) name.remove_suffix(2);  // TensorFlow's first output of a node
  for (const RoleName& role : kRoles) {
    if (role.name == name) return role.role;
  }
  return std::nullopt;
}

/// What each input takes: by name, or the ids where it is the only other one of integers.
std::vector<Role> roles_of(const std::vector<InputSpec>& inputs, const std::string& where) {
  std::vector<std::optional<Role>> roles;
  for (const InputSpec& input : inputs) roles.push_back(named_role(input.name));
  const bool ids = std::find(roles.begin(), roles.end(), Role::kIds) != roles.end();
  const auto open = std::count(roles.begin(), roles.end(), std::nullopt);
  std::vector<Role> found;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool integers = !is_float(inputs[i].dtype) && inputs[i].dtype != DType::kString;
    if (!roles[i] && !ids && open == 1 && integers) roles[i] = Role::kIds;
    if (!roles[i]) {
      input_error(
          fmt::format("texts give input_ids, attention_mask and token_type_ids; the model takes {}", to_string(inputs)),
          where, fmt::format("give arrays: an .npz archive with '{}' among them", inputs[i].name));
    }
    if (*roles[i] == Role::kIds && !integers) {
      input_error(fmt::format("texts give integers; the model takes {}", to_string({inputs[i]})), where,
                  "export the model with its ids as integers");
    }
    found.push_back(*roles[i]);
  }
  if (std::find(found.begin(), found.end(), Role::kIds) == found.end()) {
    input_error(fmt::format("no input takes the ids of a text's tokens: {}", to_string(inputs)), where,
                "name the input of the model 'input_ids'");
  }
  return found;
}

/// The rows of the table that the ids index, where the model says.
std::optional<int64_t> table_rows(const std::vector<InputSpec>& inputs, const std::vector<Role>& roles) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& range = inputs[i].range;
    if (roles[i] == Role::kIds && range && !range->high_dim && range->high < 0x1p40)
      return static_cast<int64_t>(range->high) + 1;
  }
  return std::nullopt;
}

/// Tokens of a sample: the model's, where its shape tells.
int64_t row_length(const DataSpec& spec, const std::vector<InputSpec>& inputs) {
  std::optional<int64_t> fixed;
  for (const InputSpec& input : inputs) {
    if (input.tensor && (input.dims.empty() || input.dims.size() > 2)) {
      input_error(fmt::format("texts need inputs of rank 1 or 2; the model takes {}", to_string(inputs)), spec.path,
                  "give arrays of the model's shape: an .npz archive");
    }
    if (const auto size = input.dims.empty() ? std::nullopt : input.dims.back().value()) fixed = *size;
  }
  if (fixed && spec.max_len && *fixed != *spec.max_len) {
    input_error(fmt::format("max-len={}, but the model's inputs have {} tokens", *spec.max_len, *fixed), spec.path,
                "leave max-len out");
  }
  const int64_t length = fixed.value_or(spec.max_len.value_or(kDefaultLength));
  if (length < 1 || length > (1 << 24))
    input_error(fmt::format("{} tokens in a sample", length), spec.path, "give another max-len=");
  return length;
}

Tokenizer tokenizer_of(const DataSpec& spec, std::optional<int64_t> rows, int64_t length) {
  const auto layout = spec.ids.empty()      ? std::optional<IdLayout>()
                      : spec.ids == "model" ? IdLayout::kModel
                                            : IdLayout::kFairseq;
  Tokenizer tokenizer = open_tokenizer(spec.vocab, layout, rows);
  if (!spec.special.empty()) {
    tokenizer.adds_begin = spec.special.starts_with("begin");
    tokenizer.adds_end = spec.special.ends_with("end");
    const bool lacks_begin = tokenizer.adds_begin && !tokenizer.begin, lacks_end = tokenizer.adds_end && !tokenizer.end;
    if (lacks_begin || lacks_end) {
      input_error(fmt::format("the vocabulary has no token for the {} of a text", lacks_begin ? "begin" : "end"),
                  spec.vocab, "give another special=, or leave it out");
    }
  }
  if (rows && tokenizer.size > *rows) {
    input_error(fmt::format("the vocabulary has {} tokens, the model's table of them {} rows", tokenizer.size, *rows),
                spec.vocab, "give the vocabulary that the model was trained with");
  }
  if (const int64_t special = int64_t{tokenizer.adds_begin} + int64_t{tokenizer.adds_end}; length <= special) {
    input_error(fmt::format("{} tokens of a sample leave no room beside {} special ones", length, special), spec.path,
                "give a larger max-len=, or special=none");
  }
  return tokenizer;
}

/// Without named columns a first row is a header when its label is unlike all others: a word before numbers, or a word
/// that no other row has, beside cells of few words.
bool looks_like_header(const std::vector<std::string>& first, const std::vector<std::string>& labels) {
  if (labels.size() < 2 || cell_number(labels[0])) return false;
  const auto rest = std::span(labels).subspan(1);
  if (std::all_of(rest.begin(), rest.end(), [](const std::string& l) { return cell_number(l).has_value(); }))
    return true;
  const bool few_words = std::all_of(first.begin(), first.end(), [](const std::string& cell) {
    return std::count(cell.begin(), cell.end(), ' ') < 3;
  });
  return few_words && std::find(rest.begin(), rest.end(), labels[0]) == rest.end();
}

class TextReader final : public Reader {
 public:
  TextReader(const DataSpec& spec, const std::vector<InputSpec>& inputs)
      : inputs_(inputs),
        roles_(roles_of(inputs, spec.path)),
        length_(row_length(spec, inputs)),
        tokenizer_(tokenizer_of(spec, table_rows(inputs, roles_), length_)),
        table_(
            spec.path, [&](const std::vector<std::string>& first) { return choose_columns(first, spec); },
            looks_like_header) {}

  int64_t size() const override { return table_.size(); }
  bool labelled() const override { return table_.columns().label.has_value(); }
  std::string name_of(int64_t i) const override { return table_.name_of(i); }
  std::optional<int64_t> class_of(int64_t i) const override { return table_.class_of(i); }

  RawSample read(int64_t i) const override {
    const std::vector<std::string> cells = table_.cells(i);
    std::vector<std::string> texts;
    for (const size_t column : texts_) texts.push_back(cells[column]);
    const TokenRow row = token_row(tokenizer_, join(texts, " "), length_);
    RawSample sample;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      std::vector<int64_t> values(static_cast<size_t>(length_), 0);
      if (roles_[k] == Role::kIds) values = row.ids;
      if (roles_[k] == Role::kMask) std::fill_n(values.begin(), row.used, 1);
      sample.arrays.emplace_back(inputs_[k].name, Tensor::ints(values));
    }
    if (labelled()) sample.label = table_.label(i);
    return sample;
  }

 private:
  /// Labels are in the last column that is no text, texts in all that are no label, unless said.
  TableColumns choose_columns(const std::vector<std::string>& first, const DataSpec& spec) {
    TableColumns columns{.names = {}, .count = first.size(), .label = {}};
    std::vector<std::string> given = spec.text_columns;
    if (!spec.label_column.empty() && spec.label_column != "none") given.push_back(spec.label_column);
    const bool named = std::any_of(given.begin(), given.end(), [](const std::string& c) { return !parse_int(c); });
    if (named) columns.names = first;
    for (const std::string& text : spec.text_columns) texts_.push_back(find_column(columns, text, spec.path));
    const auto is_text = [&](size_t i) { return std::find(texts_.begin(), texts_.end(), i) != texts_.end(); };
    if (!spec.label_column.empty() && spec.label_column != "none") {
      columns.label = find_column(columns, spec.label_column, spec.path);
      if (is_text(*columns.label)) {
        input_error(fmt::format("column '{}' is given as a text and as the label", spec.label_column), spec.path,
                    "give text= or label= another column");
      }
    } else if (spec.label_column.empty() && first.size() > 1) {
      for (size_t i = 0; i < first.size(); ++i) {
        if (!is_text(i)) columns.label = i;
      }
    }
    for (size_t i = 0; i < first.size() && spec.text_columns.empty(); ++i) {
      if (columns.label != i) texts_.push_back(i);
    }
    if (texts_.empty()) input_error("no column of texts is left", spec.path, "give text=COLUMN/COLUMN or label=none");
    return columns;
  }

  std::vector<InputSpec> inputs_;
  std::vector<Role> roles_;
  int64_t length_;
  Tokenizer tokenizer_;
  std::vector<size_t> texts_;  // columns, joined with a space
  CsvTable table_;             // the last, as it calls choose_columns()
};

}  // namespace

ReaderPtr text_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs) {
  return std::make_unique<TextReader>(spec, inputs);
}

}  // namespace mlopt
