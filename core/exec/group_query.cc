#include "core/exec/group_query.h"

#include <cmath>

namespace mlopt::group_query {
namespace {

std::optional<Decline> refused(const Site& site) {
  for (const char* attr : {"k_quant_type", "v_quant_type"})
    if (site.view.get_string(attr, "NONE") != "NONE") return Decline{"a quantized cache"};
  if (site.view.node().outputs().size() > 3) return Decline{"the scores are wanted"};
  for (const int i : {kKey, kValue, kPastKey, kPastValue, kCosines, kSines})
    if (site.has(i) && site.desc(i).dtype != site.desc(kQuery).dtype) return Decline{"operands of two types"};
  if (site.has(kKey) != site.has(kValue) || site.has(kPastKey) != site.has(kPastValue) ||
      site.desc(kLast).dtype != DType::kI32 || site.desc(kLast).size() != site.desc(kQuery).dims[0])
    return Decline{"the operands do not fit"};
  return std::nullopt;
}

/// Sizes and where heads lie, but for the cache.
Expected<bool> read_heads(const Site& site, Shape& s) {
  const Dims& x = site.desc(kQuery).dims;
  s.heads = site.view.get_int("num_heads", 0), s.kv_heads = site.view.get_int("kv_num_heads", 0);
  if (x.size() != 3 || s.heads < 1 || s.kv_heads < 1 || s.heads % s.kv_heads != 0 || site.desc(kQuery).size() == 0)
    return Decline{"the heads do not fit"};
  if (const auto no = refused(site)) return *no;
  const bool packed = !site.has(kKey);
  const int64_t all = packed ? s.heads + 2 * s.kv_heads : s.heads;
  s.batch = x[0], s.rows = x[1], s.size = x[2] / all;
  if (x[2] % all != 0) return Decline{"the heads do not fit"};
  const int64_t width = s.kv_heads * s.size, queries = s.heads * s.size;
  for (const int i : {kKey, kValue})
    if (!packed && site.desc(i).dims != Dims{x[0], x[1], width}) return Decline{"keys or values do not fit"};
  s.q = {kQuery, 0, x[2]};
  s.k = packed ? Place{kQuery, queries, x[2]} : Place{kKey, 0, width};
  s.v = packed ? Place{kQuery, queries + width, x[2]} : Place{kValue, 0, width};
  return true;
}

Expected<bool> read_rotation(const Site& site, Shape& s) {
  if (site.view.get_int("do_rotary", 0) == 0) return true;
  const Dims &cosines = site.desc(kCosines).dims, &sines = site.desc(kSines).dims;
  if (cosines.size() != 2 || cosines != sines || 2 * cosines[1] > s.size) return Decline{"the tables do not fit"};
  s.positions = site.has(kPositions);
  if (s.positions && (site.desc(kPositions).dtype != DType::kI64 || site.desc(kPositions).size() != s.batch * s.rows))
    return Decline{"positions that do not fit"};
  s.table = cosines[0], s.half = cosines[1];
  s.interleaved = site.view.get_int("rotary_interleaved", 0) != 0;
  return true;
}

/// How many keys there were and are.
Expected<bool> read_cache(const Site& site, Shape& s) {
  const auto total = site.view.ints("", kTotal);
  if (!total || total->size() != 1) return Decline{"how many keys there are is not constant"};
  const bool past = site.has(kPastKey) && site.desc(kPastKey).dims.size() == 4 && site.desc(kPastKey).size() > 0;
  s.past = past ? site.desc(kPastKey).dims[2] : 0;
  const Dims wanted{s.batch, s.kv_heads, s.past, s.size};
  if (past && (site.desc(kPastKey).dims != wanted || site.desc(kPastValue).dims != wanted))
    return Decline{"the cache does not fit"};
  s.total = total->front();
  if (s.total < s.rows || s.total > s.past + s.rows) return Decline{"more keys than there are, or fewer"};
  const auto& outputs = site.view.node().outputs();
  s.keys_out = outputs.size() > kPresentKey && outputs[kPresentKey];
  s.values_out = outputs.size() > kPresentValue && outputs[kPresentValue];
  return true;
}

}  // namespace

Expected<Shape> shape_of(const Site& site) {
  Shape s;
  for (const auto read : {read_heads, read_rotation, read_cache})
    if (const auto known = read(site, s); !known) return known.error();
  const float scale = site.view.get_float("scale", 0);
  s.scale = scale != 0 ? scale : static_cast<float>(1 / std::sqrt(static_cast<double>(s.size)));
  s.cap = std::fmax(0.0F, site.view.get_float("softcap", 0));
  s.window = std::max<int64_t>(0, site.view.get_int("local_window_size", -1));
  return s;
}

}  // namespace mlopt::group_query
