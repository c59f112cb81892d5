#include <algorithm>

#include "core/exec/arena.h"
#include "core/exec/plan_builder.h"

namespace mlopt {
namespace {

constexpr int kForever = 1 << 30;

class MemoryPlanner {
 public:
  explicit MemoryPlanner(Plan::Parts& parts)
      : p_(parts), first_(parts.slots.size(), -1), last_(parts.slots.size(), -1) {}

  void run() {
    find_lifetimes();
    order_tapped();
    update_in_place();
    share_in_place();
    share_parts();
    place_arena();
    list_views();
    list_dead();
    order_announced();
  }

 private:
  using Home = Plan::Home;
  Plan::Slot& slot(int k) { return p_.slots[static_cast<size_t>(k)]; }
  int& first(int k) { return first_[static_cast<size_t>(k)]; }
  int& last(int k) { return last_[static_cast<size_t>(k)]; }

  /// The slot whose memory slot k lies in; its offset there becomes the sum of those on the way.
  int root_of(int k) {
    while (slot(k).home == Home::kView) {
      Plan::Slot& s = slot(k);
      const Plan::Slot& above = slot(s.root);
      if (above.home != Home::kView) return s.root;
      s.offset += above.offset;
      s.root = above.root;
    }
    return k;
  }

  void see(int k, int step) {
    if (k < 0) return;
    const int root = root_of(k);
    if (first(root) < 0) first(root) = step;
    last(root) = std::max(last(root), step);
  }

  void find_lifetimes() {
    for (size_t k = 0; k < p_.steps.size(); ++k) {
      const int step = static_cast<int>(k);
      std::visit(
          [&](const auto& s) {
            for (const int in : s.in) see(in, step);
            for (const int out : s.out) see(out, step);
            if constexpr (requires { s.captured; })
              for (const auto& slots : s.captured)
                for (const int in : slots) see(in, step);
          },
          p_.steps[k]);
    }
    for (const int k : p_.outputs) see(k, kForever);
    for (const Plan::Update& update : p_.updates) see(update.from, kForever);
  }

  /// A tapped value is looked at as soon as it is made: later its memory may be another's. No two steps share any yet.
  void order_tapped() {
    for (Plan::Output& tapped : p_.tapped)
      if (const Home home = slot(root_of(tapped.slot)).home; home != Home::kInput && home != Home::kConstant)
        tapped.step = first(root_of(tapped.slot));
    order_by_step(p_.tapped);
  }

  static void order_by_step(std::vector<Plan::Output>& values) {
    std::stable_sort(values.begin(), values.end(),
                     [](const Plan::Output& a, const Plan::Output& b) { return a.step < b.step; });
  }

  /// What updates an input is made in its memory where nothing reads the old value any more, nor may need it because a
  /// later step of unknown shape gives up on the plan.
  void update_in_place() {
    int surprise = -1;
    for (size_t k = 0; k < p_.steps.size(); ++k)
      if (std::holds_alternative<Plan::General>(p_.steps[k])) surprise = static_cast<int>(k);
    for (Plan::Update& update : p_.updates) {
      const int made = root_of(update.from);
      const int step = first(made), read = std::max(last(update.to), surprise);
      if (slot(made).home != Home::kArena || slot(made).desc->bytes() != slot(update.to).desc->bytes()) continue;
      if (read > step || (read == step && !may_overwrite(step, made, update.to))) continue;
      slot(made).home = Home::kView;
      slot(made).root = update.to;
      slot(made).offset = 0;
      update.in_place = true;
    }
  }

  /// Whether the step may make `made` where its input `old` lies.
  bool may_overwrite(int step, int made, int old) {
    const auto* planned = std::get_if<Plan::Planned>(&p_.steps[static_cast<size_t>(step)]);
    if (!planned) return false;
    std::vector<int> in_place = {planned->step.in_place};
    in_place.insert(in_place.end(), planned->step.more_in_place.begin(), planned->step.more_in_place.end());
    for (size_t i = 0; i < planned->in.size(); ++i) {
      if (planned->in[i] < 0 || root_of(planned->in[i]) != old) continue;
      const auto out = std::find(in_place.begin(), in_place.end(), static_cast<int>(i));
      if (out == in_place.end() || planned->out[static_cast<size_t>(out - in_place.begin())] != made) return false;
    }
    return true;
  }

  /// A step's output takes the memory of an input that ends there.
  void share_in_place() {
    for (size_t k = 0; k < p_.steps.size(); ++k) {
      auto* planned = std::get_if<Plan::Planned>(&p_.steps[k]);
      if (!planned || planned->step.in_place < 0) continue;
      const int in = planned->in[static_cast<size_t>(planned->step.in_place)], out = planned->out[0];
      if (in < 0 || slot(out).home != Home::kArena || slot(in).home != Home::kArena) continue;
      const auto lies_there = [&](int other) { return other >= 0 && root_of(other) == in; };
      if (std::count_if(planned->in.begin(), planned->in.end(), lies_there) != 1) continue;
      if (last(in) != static_cast<int>(k) || slot(in).desc->bytes() != slot(out).desc->bytes()) continue;
      slot(out).home = Home::kView;
      slot(out).root = in;
      slot(out).offset = 0;
      last(in) = std::max(last(in), last(out));
    }
  }

  /// Inputs that end at a step which joins them are made where they belong in its output.
  void share_parts() {
    for (size_t k = 0; k < p_.steps.size(); ++k) {
      const auto* planned = std::get_if<Plan::Planned>(&p_.steps[k]);
      if (!planned || planned->step.parts.empty()) continue;
      const int out = planned->out[0];
      if (slot(out).home != Home::kArena && slot(out).home != Home::kOutput) continue;
      for (size_t i = 0; i < planned->in.size(); ++i) {
        const int in = planned->in[i], root = in < 0 ? -1 : root_of(in);
        if (planned->step.parts[i] < 0 || in < 0 || slot(root).home != Home::kArena) continue;
        const auto lies_there = [&](int other) { return other >= 0 && root_of(other) == root; };
        const bool alone = std::count_if(planned->in.begin(), planned->in.end(), lies_there) == 1;
        const bool whole = slot(root).desc->bytes() == slot(in).desc->bytes();
        if (!alone || !whole || last(root) != static_cast<int>(k)) continue;
        slot(root).home = Home::kView;
        slot(root).root = out;
        slot(root).offset = static_cast<size_t>(planned->step.parts[i]);
        first(out) = std::min(first(out), first(root));
      }
    }
  }

  void place_arena() {
    std::vector<Lifetime> lifetimes;
    std::vector<int> owners;
    for (size_t k = 0; k < p_.slots.size(); ++k) {
      const int s = static_cast<int>(k);
      if (slot(s).home != Home::kArena) continue;
      owners.push_back(s);
      lifetimes.push_back({slot(s).desc->bytes(), first(s), last(s)});
    }
    const Arena arena = place(lifetimes);
    for (size_t k = 0; k < owners.size(); ++k) slot(owners[k]).offset = arena.offsets[k];
    p_.arena_bytes = arena.bytes;
    for (const Plan::AnyStep& step : p_.steps)
      if (const auto* planned = std::get_if<Plan::Planned>(&step))
        p_.scratch_bytes = std::max(p_.scratch_bytes, planned->step.scratch_bytes);
  }

  void list_views() {
    p_.views.resize(p_.slots.size());
    for (size_t k = 0; k < p_.slots.size(); ++k) {
      const int s = static_cast<int>(k);
      if (slot(s).home != Home::kView) continue;
      p_.views[static_cast<size_t>(root_of(s))].push_back(s);
    }
  }

  void list_dead() {
    for (size_t k = 0; k < p_.slots.size(); ++k) {
      const int s = static_cast<int>(k);
      const Home home = slot(s).home;
      if (home == Home::kInput || home == Home::kOutput || home == Home::kDatum) p_.releases.push_back(s);
      if (home != Home::kDatum || last(s) < 0 || last(s) == kForever) continue;
      if (auto* general = std::get_if<Plan::General>(&p_.steps[static_cast<size_t>(last(s))]))
        general->dead.push_back(s);
    }
  }

  /// An output is complete after the last step that writes where it lies. Those that no step makes are left out.
  void order_announced() {
    for (size_t k = 0; k < p_.steps.size(); ++k) {
      const std::vector<int>& made =
          std::visit([](const auto& s) -> const std::vector<int>& { return s.out; }, p_.steps[k]);
      for (const int out : made)
        for (Plan::Output& output : p_.announced)
          if (out >= 0 && root_of(out) == root_of(output.slot)) output.step = static_cast<int>(k);
    }
    std::erase_if(p_.announced, [](const Plan::Output& output) { return output.step < 0; });
    order_by_step(p_.announced);
  }

  Plan::Parts& p_;
  std::vector<int> first_, last_;
};

}  // namespace

void plan_memory(Plan::Parts& parts) { MemoryPlanner(parts).run(); }

}  // namespace mlopt
