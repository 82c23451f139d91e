// The interpreter's lock around a kernel, and what a kernel may ask while it runs without it.
//
// Only the main thread hears signals, so only a kernel that was called there takes the lock to ask for them. A thread
// that takes it while the interpreter ends is never given it: before Python 3.14 the thread is unwound instead, which
// no C++ frame with running threads or a destructor survives. So no kernel takes it in another thread before all its
// threads have ended, and one that then finds the interpreter gone stays where it is until the process ends.
#pragma once

#include <Python.h>

#include <chrono>
#include <exception>

namespace lowdim {

// Raised inside a kernel that is to stop. The Python exception is set already, unless the interpreter ends.
struct Interrupted : std::exception {};

// While the object lives, its thread does not hold the lock. Made and destroyed with the lock held.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  bool before_;
  PyThreadState* state_;
};

// Once, when the module is loaded: which Python function names the main thread.
void find_main_thread();

// Kernels outside the main thread are to stop: the interpreter is about to end.
void stop_other_threads();

class SignalPoll {
 public:
  // True when the kernel is to stop (call without the lock, about every chunk, in the thread that called the kernel).
  // Outside the main thread this is a look at one number, so that kernels too short for the clock stop too.
  bool stop() {
    if (!in_main_thread()) return others_are_to_stop();
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return false;
    last_ = now;
    return signal_raised();
  }

 private:
  static bool in_main_thread();
  static bool others_are_to_stop();
  static bool signal_raised();
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// From now on, or no longer: what this thread keeps in its dictionary outlives the interpreter. Python takes it down
// while the thread may still be inside a library: scipy's SuperLU would lose the memory of a factorisation under way,
// and leave an error behind that makes the exit status 120. (Other threads cannot be asked through the stable
// interface.)
void hold_thread(bool held);

// At the end of the process: skip the libraries' own ends, see `background.py`.
void end_at_once();

}  // namespace lowdim
