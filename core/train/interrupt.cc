#include "core/train/interrupt.h"

#include <csignal>
#include <cstdlib>

namespace mlopt::train {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

/// A signal handler can be handed nothing.
volatile std::sig_atomic_t came_ = 0;

extern "C" void note_interrupt(int signal) {
  came_ = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  came_ = 0;
  for (int i = 0; i < 2; ++i) {
    before_[i] = std::signal(kSignals[i], note_interrupt);
    if (before_[i] == SIG_IGN) std::signal(kSignals[i], SIG_IGN);
  }
}

Interrupt::~Interrupt() { restore(); }

void Interrupt::restore() {
  for (int i = 0; i < 2; ++i) std::signal(kSignals[i], before_[i]);
}

bool Interrupt::came() const { return came_ != 0; }

void Interrupt::pass_on() {
  restore();
  std::raise(came_);
  std::_Exit(128 + came_);  // the handler that there was has returned
}

}  // namespace mlopt::train
