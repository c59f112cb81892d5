#pragma once
#include <string_view>

// Catch2 2 and 3, whichever the system has.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

namespace mlopt::test {

/// Ends a test that this machine cannot run: `return skip("no GPU");`. The reason is printed, and a run in which every
/// test was skipped exits with 77, which CTest shows as skipped, never as passed.
void skip(std::string_view reason);

}  // namespace mlopt::test
