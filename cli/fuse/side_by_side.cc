#include "cli/fuse/side_by_side.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"
#include "core/report/markup.h"

namespace mlopt::cli {
namespace {

using Kind = Beside::Kind;
constexpr size_t kContext = 2;  // lines that stayed are shown around those that did not

template <class T>
std::string numbers(const std::vector<T>& values) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kMost); ++i) text += fmt::format("{}{}", i ? "," : "", values[i]);
  return text + (values.size() > kMost ? ",..." : "");
}

struct Shown {
  std::string operator()(int64_t v) const { return fmt::format("{}", v); }
  std::string operator()(float v) const { return fmt::format("{:g}", v); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const std::vector<int64_t>& v) const { return numbers(v); }
  std::string operator()(const std::vector<float>& v) const { return numbers(v); }
  template <class T>
  std::string operator()(const T&) const {
    return "...";
  }
};

std::string names(const std::vector<Value*>& values) {
  std::vector<std::string> all;
  for (const Value* v : values) all.push_back(v ? v->name : "_");
  return join(all, ", ");
}

void add_lines(const Graph& graph, const std::string& indent, std::vector<std::string>& lines) {
  for (const Node* node : graph.nodes()) {
    std::vector<std::string> attrs;
    for (const Attr& attr : node->attrs) attrs.push_back(attr.name + "=" + std::visit(Shown{}, attr.value));
    std::sort(attrs.begin(), attrs.end());
    lines.push_back(fmt::format("{}{} = {}{}({}){}", indent, names(node->outputs()),
                                node->domain.empty() ? "" : node->domain + ".", node->op, names(node->inputs()),
                                attrs.empty() ? "" : " " + join(attrs, " ")));
    for (const Graph* body : node->bodies()) add_lines(*body, indent + "  ", lines);
  }
}

/// The places (left, right) of lines that stay, rising on both sides: the longest rising run of places.
std::vector<std::pair<size_t, size_t>> kept(const std::vector<std::string>& left,
                                            const std::vector<std::string>& right) {
  std::unordered_map<std::string_view, size_t> at;
  for (size_t i = 0; i < right.size(); ++i) at.emplace(right[i], i);
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < left.size(); ++i)
    if (const auto found = at.find(left[i]); found != at.end()) {
      pairs.emplace_back(i, found->second);
      at.erase(found);
    }
  std::vector<size_t> ends, before(pairs.size(), pairs.size());  // ends[k]: last pair of the best run of k + 1
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto place = std::lower_bound(ends.begin(), ends.end(), pairs[i].second,
                                        [&](size_t e, size_t value) { return pairs[e].second < value; });
    if (place != ends.begin()) before[i] = *(place - 1);
    if (place == ends.end())
      ends.push_back(i);
    else
      *place = i;
  }
  std::vector<std::pair<size_t, size_t>> run;
  for (size_t i = ends.empty() ? pairs.size() : ends.back(); i < pairs.size(); i = before[i]) run.push_back(pairs[i]);
  std::reverse(run.begin(), run.end());
  return run;
}

/// Is the row among those shown around changes?
std::vector<bool> near_changes(const std::vector<Beside>& rows) {
  std::vector<bool> shown(rows.size(), false);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind == Kind::kSame) continue;
    const size_t first = i < kContext ? 0 : i - kContext, last = std::min(rows.size() - 1, i + kContext);
    for (size_t k = first; k <= last; ++k) shown[k] = true;
  }
  return shown;
}

std::string cut(const std::string& text) {
  constexpr size_t kWidth = 56;
  return text.size() <= kWidth ? text : text.substr(0, kWidth - 3) + "...";
}

}  // namespace

std::vector<std::string> node_lines(const Graph& graph) {
  std::vector<std::string> lines;
  add_lines(graph, "", lines);
  return lines;
}

std::vector<Beside> beside(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  std::vector<Beside> rows;
  size_t l = 0, r = 0;
  const auto differ_until = [&](size_t l_end, size_t r_end) {
    for (; l < l_end && r < r_end; ++l, ++r) rows.push_back({Kind::kChanged, left[l], right[r]});
    for (; l < l_end; ++l) rows.push_back({Kind::kRemoved, left[l], ""});
    for (; r < r_end; ++r) rows.push_back({Kind::kAdded, "", right[r]});
  };
  for (const auto& [l_at, r_at] : kept(left, right)) {
    differ_until(l_at, r_at);
    rows.push_back({Kind::kSame, left[l++], right[r++]});
  }
  differ_until(left.size(), right.size());
  return rows;
}

void add_table(const std::vector<Beside>& rows, Report& report) {
  constexpr const char* kMarks[] = {"", "|", "<", ">"};
  Table table{"", {"source", "", "result"}, {}, 3};
  const std::vector<bool> shown = near_changes(rows);
  for (size_t i = 0; i < rows.size();) {
    size_t end = i;
    while (end < rows.size() && !shown[end]) ++end;
    if (end > i)
      table.rows.push_back({fmt::format("... {} {} as before", end - i, end - i == 1 ? "node" : "nodes"), "", ""});
    for (; end < rows.size() && shown[end]; ++end)
      table.rows.push_back({cut(rows[end].left), kMarks[static_cast<int>(rows[end].kind)], cut(rows[end].right)});
    i = end;
  }
  report.blocks.emplace_back(std::move(table));
}

std::string page_with_graphs(const Report& report, const std::vector<Beside>& rows) {
  constexpr const char* kClasses[] = {"same", "changed", "removed", "added"};
  constexpr const char* kStyle =
      "<style>.graphs td{text-align:left;font:12px/1.4 monospace;white-space:pre-wrap;word-break:break-all;width:50%;"
      "vertical-align:top}.changed td{background:#fff3c4}.removed td:first-child{background:#ffd7d7}"
      ".added td:last-child{background:#d6f5d6}</style>\n";
  std::string graphs =
      std::string(kStyle) +
      "<h2>Both graphs</h2>\n<p>yellow: rewritten, red: gone, green: new</p>\n"
      "<table class=\"graphs\">\n<tr><th class=\"left\">source</th><th class=\"left\">result</th></tr>\n";
  for (const Beside& row : rows)
    graphs += fmt::format("<tr class=\"{}\"><td>{}</td><td>{}</td></tr>\n", kClasses[static_cast<int>(row.kind)],
                          markup_escaped(row.left), markup_escaped(row.right));
  std::string page = to_html(report);
  const size_t end = page.rfind("</body>");
  return page.insert(end == std::string::npos ? page.size() : end, graphs + "</table>\n");
}

}  // namespace mlopt::cli
