#include <fmt/core.h>

#include <algorithm>
#include <clocale>
#include <cwctype>
#include <memory>

#include "backends/reference/broadcast.h"
#include "backends/reference/kernels.h"
#include "backends/reference/regex.h"
#include "core/data/unicode/utf8.h"

namespace mlopt::reference {
namespace {

const std::vector<std::string>& texts(const Call& call, int i) {
  if (call.in(i).dtype() != DType::kString) wrong_type(call, call.in(i).dtype());
  return call.in(i).strings();
}

void string_concat(Call& call) {
  const std::vector<std::string>&a = texts(call, 0), &b = texts(call, 1);
  const Dims dims = broadcast_dims(call, {call.in(0).dims(), call.in(1).dims()});
  std::vector<std::string> joined(static_cast<size_t>(element_count(dims)));
  const auto run = [&](int64_t start, int64_t count, const auto& at, const auto& step) {
    for (int64_t i = 0; i < count; ++i)
      joined[static_cast<size_t>(start + i)] =
          a[static_cast<size_t>(at[0] + i * step[0])] + b[static_cast<size_t>(at[1] + i * step[1])];
  };
  Broadcast<2>(dims, {call.in(0).dims(), call.in(1).dims()}).for_runs(run);
  call.set(0, Tensor::of_strings(dims, std::move(joined)));
}

/// Splits at runs of white space (an empty delimiter) or at each delimiter; at most `most` times when that is not
/// negative.
std::vector<std::string> pieces(std::string_view text, std::string_view delimiter, int64_t most) {
  constexpr std::string_view kSpace = " \t\n\r\v\f";
  const bool space = delimiter.empty();
  const auto skip = [&] { text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size())); };
  std::vector<std::string> found;
  if (space) skip();
  while (!(space && text.empty())) {
    const bool stop = most >= 0 && static_cast<int64_t>(found.size()) == most;
    const size_t end = stop ? std::string_view::npos : space ? text.find_first_of(kSpace) : text.find(delimiter);
    found.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + delimiter.size());
    if (space) skip();
  }
  return found;
}

void string_split(Call& call) {
  const std::vector<std::string>& all = texts(call, 0);
  const std::string delimiter = call.view.get_string("delimiter", "");
  const int64_t most = call.view.get_int("maxsplit", -1);
  std::vector<std::vector<std::string>> split;
  std::vector<int64_t> counts;
  size_t widest = 0;
  for (const std::string& text : all) {
    split.push_back(pieces(text, delimiter, most));
    counts.push_back(static_cast<int64_t>(split.back().size()));
    widest = std::max(widest, split.back().size());
  }
  Dims dims = call.in(0).dims();
  dims.push_back(static_cast<int64_t>(widest));
  std::vector<std::string> cells(static_cast<size_t>(element_count(dims)));
  for (size_t i = 0; i < split.size(); ++i)
    std::move(split[i].begin(), split[i].end(), cells.begin() + static_cast<std::ptrdiff_t>(i * widest));
  call.set(0, Tensor::of_strings(std::move(dims), std::move(cells)));
  call.set(1, Tensor::of(call.in(0).dims(), counts));
}

void regex_full_match(Call& call) {
  const std::vector<std::string>& all = texts(call, 0);
  const Regex regex(call.view.get_string("pattern", ""));
  Tensor out(DType::kBool, call.in(0).dims());
  std::transform(all.begin(), all.end(), out.mutable_data<bool>(),
                 [&](const std::string& text) { return regex.full_match(text); });
  call.set(0, std::move(out));
}

enum class Letters { kAsTheyAre, kLower, kUpper };

/// Changes case letter by letter, by the tables of C.UTF-8 whatever the user's locale is.
class CaseChanger {
 public:
  CaseChanger() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}

  std::string operator()(const std::string& text, Letters to) const {
    if (to == Letters::kAsTheyAre) return text;
    std::string changed;
    for (const uint32_t code : unicode::code_points(text))
      unicode::append_utf8(changed, to == Letters::kLower ? lower(code) : upper(code));
    return changed;
  }

 private:
  uint32_t lower(uint32_t code) const {
    if (!locale_) return code >= 'A' && code <= 'Z' ? code + 32 : code;
    return static_cast<uint32_t>(towlower_l(static_cast<wint_t>(code), locale_.get()));
  }
  uint32_t upper(uint32_t code) const {
    if (!locale_) return code >= 'a' && code <= 'z' ? code - 32 : code;
    return static_cast<uint32_t>(towupper_l(static_cast<wint_t>(code), locale_.get()));
  }
  struct Free {
    void operator()(locale_t locale) const { freelocale(locale); }
  };
  std::unique_ptr<std::remove_pointer_t<locale_t>, Free> locale_;
};

Letters case_action(const Call& call) {
  const std::string action = call.view.get_string("case_change_action", "NONE");
  if (action == "NONE") return Letters::kAsTheyAre;
  if (action == "LOWER") return Letters::kLower;
  if (action == "UPPER") return Letters::kUpper;
  fail(call, fmt::format("case_change_action '{}' is unknown", action));
}

void string_normalizer(Call& call) {
  const Tensor& data = call.in(0);
  require(call, data.rank() == 1 || (data.rank() == 2 && data.dim(0) == 1), "the input must be a list or one row");
  const Letters action = case_action(call);
  const bool sensitive = call.view.get_int("is_case_sensitive", 0) != 0;
  const CaseChanger change;
  const Letters compared = sensitive ? Letters::kAsTheyAre : Letters::kLower;
  std::vector<std::string> stops =
      call.view.has("stopwords") ? call.view.get_strings("stopwords") : std::vector<std::string>{};
  for (std::string& word : stops) word = change(word, compared);
  std::vector<std::string> kept;
  for (const std::string& text : texts(call, 0)) {
    const bool stopped = !stops.empty() && std::find(stops.begin(), stops.end(), change(text, compared)) != stops.end();
    if (!stopped) kept.push_back(change(text, action));
  }
  if (kept.empty()) kept.emplace_back();
  const auto count = static_cast<int64_t>(kept.size());
  call.set(0, Tensor::of_strings(data.rank() == 1 ? Dims{count} : Dims{1, count}, std::move(kept)));
}

constexpr Kernel kKernels[] = {
    {"", "StringConcat", string_concat},
    {"", "StringSplit", string_split},
    {"", "RegexFullMatch", regex_full_match},
    {"", "StringNormalizer", string_normalizer},
};

}  // namespace

std::span<const Kernel> strings_kernels() { return kKernels; }

}  // namespace mlopt::reference
