#include "common/gil.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#if defined(__GLIBC__)
#include <unistd.h>
#endif

namespace lowdim {

namespace {

thread_local bool hears_signals = false;  // of the kernel that runs in this thread
std::atomic<bool> others_stop{false};

PyObject* main_thread = nullptr;  // threading.main_thread, found when the module is loaded

// Whether Python runs signal handlers in this thread; it follows a fork, after which another thread may be the main
// one.
bool called_in_main_thread() {
  PyObject* thread = main_thread ? PyObject_CallNoArgs(main_thread) : nullptr;
  PyObject* ident = thread ? PyObject_GetAttrString(thread, "ident") : nullptr;
  Py_XDECREF(thread);
  // Both run lines of Python, before which Ctrl-C or the end of this thread's work may have come.
  if (main_thread && !ident) throw Interrupted();
  const bool same = ident && PyLong_AsUnsignedLong(ident) == PyThread_get_thread_ident();
  Py_XDECREF(ident);
  PyErr_Clear();  // a thread without a number: not this one
  return same;
}

[[noreturn]] void stay() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

void find_main_thread() {
  PyObject* module = PyImport_ImportModule("threading");
  main_thread = module ? PyObject_GetAttrString(module, "main_thread") : nullptr;
  Py_XDECREF(module);
  PyErr_Clear();
}

WithoutGil::WithoutGil() : before_(hears_signals) {
  hears_signals = called_in_main_thread();
  state_ = PyEval_SaveThread();
}

WithoutGil::~WithoutGil() {
  hears_signals = before_;
  try {
    PyEval_RestoreThread(state_);
  } catch (...) {  // the interpreter has ended and unwinds this thread, which must not leave a destructor
    stay();
  }
}

void stop_other_threads() { others_stop.store(true); }

bool SignalPoll::in_main_thread() { return hears_signals; }

bool SignalPoll::others_are_to_stop() { return others_stop.load(std::memory_order_relaxed); }

bool SignalPoll::signal_raised() {
  PyGILState_STATE gil = PyGILState_Ensure();
  const bool raised = PyErr_CheckSignals() != 0;
  PyGILState_Release(gil);
  return raised;
}

void hold_thread(bool held) {
  PyObject* const kept = PyThreadState_GetDict();
  if (held)
    Py_XINCREF(kept);
  else
    Py_XDECREF(kept);
}

void end_at_once() {
#if defined(__GLIBC__)
  static std::atomic<bool> asked{false};
  if (asked.exchange(true)) return;
  on_exit(
      [](int status, void*) {
        std::fflush(nullptr);
        _exit(status);
      },
      nullptr);
#endif
}

}  // namespace lowdim
