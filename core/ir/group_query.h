#pragma once

/// Operands and results of com.microsoft's GroupQueryAttention, by their places.
namespace mlopt::group_query {

enum Input { kQuery, kKey, kValue, kPastKey, kPastValue, kLast, kTotal, kCosines, kSines, kPositions, kMask, kSinks };
enum Output { kResult, kPresentKey, kPresentValue };

}  // namespace mlopt::group_query
