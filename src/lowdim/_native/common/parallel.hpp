// One way to run a loop on several threads: fixed chunks, so that a result never depends on how many.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "common/gil.hpp"

namespace lowdim {

// Calls body(begin, end, chunk) for every chunk of [0, n). Chunk borders depend on `chunk` alone; which thread
// takes a chunk is arbitrary, so a body writes only to what belongs to its rows or to its chunk number.
// Call with the GIL released. The calling thread works too, and asks between its chunks whether to stop.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t chunk, int n_threads, const Body& body) {
  if (n <= 0) return;
  chunk = std::max<std::int64_t>(chunk, 1);
  const std::int64_t n_chunks = (n + chunk - 1) / chunk;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> cancelled{false};
  std::exception_ptr failure = nullptr;
  std::mutex failure_lock;

  auto work = [&](bool polls) {
    SignalPoll poll;
    try {
      for (;;) {
        if (cancelled.load(std::memory_order_relaxed)) return;
        const std::int64_t c = next.fetch_add(1, std::memory_order_relaxed);
        if (c >= n_chunks) return;
        body(c * chunk, std::min(n, (c + 1) * chunk), c);
        if (polls && poll.stop()) throw Interrupted();
      }
    } catch (...) {
      std::lock_guard<std::mutex> hold(failure_lock);
      if (!failure) failure = std::current_exception();
      cancelled.store(true);
    }
  };

  const int helpers = static_cast<int>(std::min<std::int64_t>(std::clamp(n_threads, 1, 256), n_chunks)) - 1;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(std::max(helpers, 0)));
  try {
    for (int t = 0; t < helpers; ++t) threads.emplace_back(work, false);
  } catch (const std::exception&) {
    // A limit on threads (system_error) or memory (bad_alloc): go on with those there are; the result is the same.
  }
  work(true);
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lowdim
