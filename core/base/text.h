#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mlopt {

/// Pieces of `text` between `separator`; an empty text gives no pieces.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> pieces, std::string_view separator);
std::string_view trim(std::string_view text);

/// The whole text as a number, or nothing (trailing characters, overflow, empty).
std::optional<int64_t> parse_int(std::string_view text);
std::optional<double> parse_double(std::string_view text);
/// "12", "1.5K", "40M", "2G" (powers of 1024), optionally ending in B, as bytes.
std::optional<int64_t> parse_bytes(std::string_view text);
/// 1536 -> "1.5 KB" (powers of 1024).
std::string format_bytes(double bytes);

/// Does `text` match `pattern`, where * is any run of characters (also /), ? one character, [abc] or [a-z] one of a
/// set? A text matches itself.
bool glob_match(std::string_view pattern, std::string_view text);
/// The pattern that this text alone matches.
std::string as_glob(std::string_view text);
/// Is `text` matched by any of `patterns`?
bool glob_any(std::span<const std::string> patterns, std::string_view text);

/// The candidate nearest to `word` by edit distance, if near enough to be a slip of the finger.
std::optional<std::string> did_you_mean(std::string_view word, std::span<const std::string> candidates);
/// "did you mean 'conv'?" or the list of all candidates when none is near.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace mlopt
