#pragma once

namespace mlopt::train {

/// While it lives, Ctrl-C and SIGTERM do not end the process but are noted, so that a training ends with a checkpoint;
/// a second one ends it. One lives at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool came() const;
  /// Ends the process as the signal that came would have done.
  [[noreturn]] void pass_on();

 private:
  void restore();

  void (*before_[2])(int);
};

}  // namespace mlopt::train
