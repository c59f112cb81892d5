#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mlopt {

/// Pieces of a spec between separators, none of an empty text; a backslash makes the character behind it part of a
/// piece, and stays.
std::vector<std::string> spec_pieces(std::string_view text, char separator);

/// Globs as one part of a spec, "a*|b": names may hold what separates the parts (; and |), and get a backslash there.
std::string print_globs(const std::vector<std::string>& globs);
/// Adds those of a part that print_globs() made.
void add_globs(std::string_view text, std::vector<std::string>& globs);

}  // namespace mlopt
