#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/data/spec.h"

namespace mlopt {

/// From where to where `split` goes in a whole of `size`.
std::array<int64_t, 2> places_of(const std::array<double, 2>& split, int64_t size);

/// Which of `size` samples, by index, in the order in which they are used; `class_of` gives the class of one, or
/// nothing. Throws Error{kBadInput} naming `where` when none remains or classes are needed and missing.
std::vector<int64_t> select_samples(int64_t size, const Selection& selection, uint64_t seed,
                                    const std::function<std::optional<int64_t>(int64_t)>& class_of,
                                    const std::string& where);

}  // namespace mlopt
