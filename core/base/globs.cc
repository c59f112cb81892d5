#include "core/base/globs.h"

namespace mlopt {

std::vector<std::string> spec_pieces(std::string_view text, char separator) {
  std::vector<std::string> pieces(text.empty() ? 0 : 1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == separator) {
      pieces.emplace_back();
      continue;
    }
    if (text[i] == '\\' && i + 1 < text.size()) pieces.back() += text[i++];
    pieces.back() += text[i];
  }
  return pieces;
}

std::string print_globs(const std::vector<std::string>& globs) {
  std::string text;
  for (const std::string& glob : globs) {
    if (!text.empty()) text += '|';
    for (const char c : glob) text += (c == ';' || c == '|' || c == '\\' ? "\\" : "") + std::string(1, c);
  }
  return text;
}

void add_globs(std::string_view text, std::vector<std::string>& globs) {
  for (const std::string& piece : spec_pieces(text, '|')) {
    std::string& glob = globs.emplace_back();
    for (size_t i = 0; i < piece.size(); ++i) {
      if (piece[i] == '\\' && i + 1 < piece.size()) ++i;
      glob += piece[i];
    }
  }
}

}  // namespace mlopt
