// com.microsoft's BeamSearch with a decoder alone (GPT-2's form): in each step every prompt keeps its likeliest
// continuations.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "backends/reference/beam_decoder.h"
#include "backends/reference/beams.h"
#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "backends/reference/softmax.h"
#include "core/base/error.h"

namespace mlopt::reference {
namespace {

enum Input {
  kPrompts,
  kMost,
  kLeast,
  kBeams,
  kReturned,
  kLength,
  kRepetition,
  kAllowed,
  kAllowedFirst,
  kMask,
  kMoreInputs
};

/// A search for the likeliest continuations of some prompts, `beams` rows for each.
struct Search {
  int64_t beams, returned, most;
  int32_t end, pad;
  Penalties penalties;
  TokenRows rows = {};
  std::vector<float> sums = {};           ///< of the rows' log-probabilities
  std::vector<Hypotheses> finished = {};  ///< for each prompt
  std::vector<bool> done = {};            ///< for each prompt
};

void check_form(const Call& call) {
  const bool decoder_alone = call.view.get_int("model_type", 0) == 0 && !call.view.has("encoder");
  bool plain = !call.view.has("init_decoder") && !call.has(kAllowedFirst) && !call.wants(2);
  for (int i = kMoreInputs; i < call.input_count(); ++i) plain &= !call.has(i);
  if (!decoder_alone || !plain)
    unsupported_error("BeamSearch of more than one decoder, or with inputs or outputs beyond the usual, cannot be run",
                      call.view.node().label());
}

Search search_of(const Call& call) {
  const Tensor& prompts = call.in(kPrompts);
  require(call, prompts.rank() == 2 && prompts.size() > 0, "the prompts must be a matrix of tokens");
  const int64_t batch = prompts.dim(0), length = prompts.dim(1);
  const NodeView& view = call.view;
  Search s{.beams = int_in(call, kBeams, 1),
           .returned = int_in(call, kReturned, 1),
           .most = int_in(call, kMost, 0),
           .end = static_cast<int32_t>(view.get_int("eos_token_id", -1)),
           .pad = static_cast<int32_t>(view.get_int("pad_token_id", 0)),
           .penalties = {.repetition = static_cast<float>(number_in(call, kRepetition, 1)),
                         .ngram = view.get_int("no_repeat_ngram_size", 0),
                         .least = int_in(call, kLeast, 0)}};
  s.penalties.end = s.end;
  for (const double allowed : call.has(kAllowed) ? to_doubles(call.in(kAllowed)) : std::vector<double>())
    s.penalties.allowed.push_back(allowed != 0);
  constexpr int64_t kMostBeams = 1024, kMostTokens = int64_t{1} << 20;
  require(call, s.beams > 0 && s.beams <= kMostBeams && s.returned > 0 && s.returned <= s.beams,
          "num_beams must be from 1 to 1024, num_return_sequences at most that");
  require(call, s.most > length && s.most <= kMostTokens, "max_length must exceed the prompts' length");
  const Hypotheses none(static_cast<size_t>(s.beams), static_cast<float>(number_in(call, kLength, 1)),
                        view.get_int("early_stopping", 0) != 0);
  s.finished.assign(static_cast<size_t>(batch), none);
  s.done.assign(static_cast<size_t>(batch), false);
  return s;
}

/// Every prompt in all of its rows.
void begin_rows(const Call& call, Search& s) {
  const std::vector<int64_t> tokens = to_ints(call.in(kPrompts));
  const std::vector<int64_t> given = call.has(kMask) ? to_ints(call.in(kMask)) : std::vector<int64_t>();
  require(call, given.empty() || given.size() == tokens.size(), "the mask does not fit the prompts");
  const int64_t length = call.in(kPrompts).dim(1);
  for (int64_t row = 0; row < std::ssize(s.finished) * s.beams; ++row) {
    auto& sequence = s.rows.tokens.emplace_back();
    auto& mask = s.rows.masks.emplace_back();
    for (int64_t i = row / s.beams * length; i < (row / s.beams + 1) * length; ++i) {
      const auto at = static_cast<size_t>(i);
      sequence.push_back(static_cast<int32_t>(tokens[at]));
      mask.push_back((given.empty() ? tokens[at] != s.pad : given[at] != 0) ? 1 : 0);
    }
    constexpr float kUnlikely = -1e9f;  // the rows of a prompt begin alike: all but the first wait
    s.sums.push_back(row % s.beams == 0 ? 0 : kUnlikely);
  }
}

/// A row's continuation by one token.
struct Next {
  int64_t from;
  int32_t token;
  float sum;
};

void check_vocabulary(const Call& call, const Search& s, int64_t size) {
  for (const auto& row : s.rows.tokens)
    for (const int32_t token : row)
      require(call, token >= 0 && token < size, "a prompt's token is not in the vocabulary");
  require(call, s.end < size && s.pad >= 0 && s.pad < size, "eos_token_id or pad_token_id is not in the vocabulary");
  require(call, s.penalties.allowed.empty() || static_cast<int64_t>(s.penalties.allowed.size()) == size,
          "the mask of the vocabulary does not fit it");
}

/// Turns each row's logits into the sums of log-probabilities that its continuations would have.
void add_up(const Search& s, Tensor& logits) {
  const int64_t size = logits.dim(1);
  float* row = logits.mutable_data<float>();
  for (size_t r = 0; r < s.rows.count(); ++r, row += size) {
    log_softmax_line(row, row, size, 1);
    penalize(s.penalties, s.rows.tokens[r], {row, static_cast<size_t>(size)});
    for (int64_t i = 0; i < size; ++i) {
      row[i] += s.sums[r];
      if (row[i] != row[i]) row[i] = std::numeric_limits<float>::lowest();  // NaN has no place in an order
    }
  }
}

/// The likeliest continuations of a prompt, best first: twice as many as beams, so that enough go on if half of them
/// end.
std::vector<Next> likeliest(const Search& s, int64_t prompt, const Tensor& sums) {
  const int64_t size = sums.dim(1), first = prompt * s.beams;
  const float* all = sums.data<float>() + first * size;
  std::vector<int64_t> places(static_cast<size_t>(s.beams * size));
  std::iota(places.begin(), places.end(), 0);
  const auto end = places.begin() + std::min<std::ptrdiff_t>(2 * s.beams, std::ssize(places));
  std::partial_sort(places.begin(), end, places.end(),
                    [all](int64_t a, int64_t b) { return all[a] != all[b] ? all[a] > all[b] : a < b; });
  std::vector<Next> found;
  for (auto at = places.begin(); at != end; ++at)
    found.push_back({first + *at / size, static_cast<int32_t>(*at % size), all[*at]});
  return found;
}

/// Appends what the rows of a prompt become.
void extend(Search& s, int64_t prompt, const Tensor& sums, std::vector<Next>& next) {
  const auto p = static_cast<size_t>(prompt);
  const size_t wanted = next.size() + static_cast<size_t>(s.beams);
  if (!s.done[p]) {
    const std::vector<Next> found = likeliest(s, prompt, sums);
    for (size_t i = 0; i < found.size() && next.size() < wanted; ++i) {
      if (found[i].token != s.end)
        next.push_back(found[i]);
      else if (static_cast<int64_t>(i) < s.beams)
        s.finished[p].add(s.rows.tokens[static_cast<size_t>(found[i].from)], found[i].sum);
    }
    s.done[p] = s.finished[p].is_final(found[0].sum, s.rows.length());
  }
  next.resize(wanted, {prompt * s.beams, s.pad, s.done[p] ? 0 : std::numeric_limits<float>::lowest()});
}

void grow(Search& s, const std::vector<Next>& next) {
  TokenRows rows;
  s.sums.clear();
  for (const Next& n : next) {
    const auto from = static_cast<size_t>(n.from);
    rows.tokens.push_back(s.rows.tokens[from]);
    rows.masks.push_back(s.rows.masks[from]);
    rows.tokens.back().push_back(n.token);
    rows.masks.back().push_back(1);
    s.sums.push_back(n.sum);
  }
  s.rows = std::move(rows);
}

void give(Call& call, const Search& s) {
  const auto prompts = static_cast<int64_t>(s.finished.size());
  Tensor tokens(DType::kI32, {prompts, s.returned, s.most}), scores(DType::kF32, {prompts, s.returned});
  auto* token = tokens.mutable_data<int32_t>();
  float* score = scores.mutable_data<float>();
  std::fill_n(token, tokens.size(), s.pad);
  for (const Hypotheses& finished : s.finished)
    for (int64_t k = 0; k < s.returned; ++k, token += s.most) {
      const Hypothesis& h = finished.list()[static_cast<size_t>(k)];
      std::copy(h.tokens.begin(), h.tokens.end(), token);
      *score++ = h.score;
    }
  call.set(0, std::move(tokens));
  call.set(1, std::move(scores));
}

void beam_search(Call& call) {
  check_form(call);
  Search s = search_of(call);
  begin_rows(call, s);
  Decoder decoder(call);
  bool first = true;
  while (static_cast<int64_t>(s.rows.length()) < s.most) {
    Tensor sums = decoder.logits(s.rows);
    if (std::exchange(first, false)) check_vocabulary(call, s, sums.dim(1));
    add_up(s, sums);
    std::vector<Next> next;
    for (int64_t p = 0; p < std::ssize(s.finished); ++p) extend(s, p, sums, next);
    if (std::all_of(s.done.begin(), s.done.end(), [](bool done) { return done; })) break;
    std::vector<int64_t> from;
    for (const Next& n : next) from.push_back(n.from);
    decoder.reorder(from);
    grow(s, next);
  }
  for (size_t row = 0; row < s.rows.count(); ++row)
    if (const size_t p = row / static_cast<size_t>(s.beams); !s.done[p])
      s.finished[p].add(s.rows.tokens[row], s.sums[row]);
  give(call, s);
}

constexpr Kernel kKernels[] = {{"com.microsoft", "BeamSearch", beam_search}};

}  // namespace

std::span<const Kernel> beam_search_kernels() { return kKernels; }

}  // namespace mlopt::reference
