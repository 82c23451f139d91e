// What searches along a graph's edges share: the graph, a heap, a thread's workspace, and one Dijkstra.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/arrays.hpp"
#include "common/parallel.hpp"

namespace lowdim {

using Node = std::int32_t;
using Offset = std::int64_t;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Graph {
  Offset n;
  const Offset* start;
  const Node* to;
  const double* length;
};

// Lets a chunk that may take long answer Ctrl-C: the calling thread polls, the others follow.
class Watch {
 public:
  void check() {
    if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
    if (std::this_thread::get_id() != caller_ || !poll_.stop()) return;
    stopped_.store(true);
    throw Interrupted();
  }

 private:
  std::thread::id caller_ = std::this_thread::get_id();
  SignalPoll poll_;
  std::atomic<bool> stopped_{false};
};

constexpr unsigned check_every = 1024;  // nodes between two looks at the watch

// A 4-ary heap of nodes with decrease-key: flatter than a binary one, and four children share a cache line.
class Heap {
 public:
  explicit Heap(Offset n) : slot_(static_cast<std::size_t>(n), absent) {}

  bool empty() const { return entries_.empty(); }

  void put(Node node, double key) {
    std::size_t at = slot_[static_cast<std::size_t>(node)];
    if (at == absent) {
      at = entries_.size();
      entries_.push_back({key, node});
    }
    rise(at, {key, node});
  }

  Node pop() {
    const Node least = entries_.front().node;
    const Entry last = entries_.back();
    entries_.pop_back();
    slot_[static_cast<std::size_t>(least)] = absent;
    if (!entries_.empty()) sink(last);
    return least;
  }

  void clear() {
    for (const Entry& entry : entries_) slot_[static_cast<std::size_t>(entry.node)] = absent;
    entries_.clear();
  }

 private:
  struct Entry {
    double key;
    Node node;
  };
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);

  void place(std::size_t at, const Entry& entry) {
    entries_[at] = entry;
    slot_[static_cast<std::size_t>(entry.node)] = at;
  }

  void rise(std::size_t at, const Entry& entry) {
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (entries_[parent].key <= entry.key) break;
      place(at, entries_[parent]);
      at = parent;
    }
    place(at, entry);
  }

  void sink(const Entry& entry) {
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= entries_.size()) break;
      const std::size_t end = std::min(first + 4, entries_.size());
      std::size_t least = first;
      for (std::size_t c = first + 1; c < end; ++c)
        if (entries_[c].key < entries_[least].key) least = c;
      if (entries_[least].key >= entry.key) break;
      place(at, entries_[least]);
      at = least;
    }
    place(at, entry);
  }

  std::vector<Entry> entries_;
  std::vector<std::size_t> slot_;
};

// What one thread needs; made once and handed on, because clearing it costs only the nodes that were touched.
struct Workspace {
  explicit Workspace(Offset n)
      : heap(n), distance(static_cast<std::size_t>(n), infinity), rank(static_cast<std::size_t>(n), -1) {}

  // The table of a group, on a cache-line border, every entry infinite.
  double* table(std::size_t size) {
    if (storage.size() < size + 8) storage.resize(size + 8);
    void* at = storage.data();
    std::size_t room = storage.size() * sizeof(double);
    double* aligned = static_cast<double*>(std::align(64, size * sizeof(double), at, room));
    std::fill(aligned, aligned + size, infinity);
    return aligned;
  }

  void forget() {
    for (Node node : order) {
      distance[static_cast<std::size_t>(node)] = infinity;
      rank[static_cast<std::size_t>(node)] = -1;
    }
    order.clear();
    heap.clear();
  }

  Heap heap;
  std::vector<double> distance;  // of the running Dijkstra; infinite between runs
  std::vector<Node> order;       // nodes in the order they were settled
  std::vector<Node> rank;        // place in `order`, -1 outside the component
  std::vector<Offset> start;     // the component's edges, numbered by rank, self loops left out
  std::vector<Node> to;
  std::vector<double> length;
  std::vector<double> storage;
  std::vector<std::uint8_t> active;
};

class Workspaces {
 public:
  explicit Workspaces(Offset n) : n_(n) {}

  std::unique_ptr<Workspace> take() {
    std::lock_guard<std::mutex> hold(lock_);
    if (free_.empty()) return std::make_unique<Workspace>(n_);
    auto one = std::move(free_.back());
    free_.pop_back();
    return one;
  }

  void give(std::unique_ptr<Workspace> one) {
    std::lock_guard<std::mutex> hold(lock_);
    free_.push_back(std::move(one));
  }

 private:
  Offset n_;
  std::mutex lock_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

// Dijkstra: fills distance and order for the source's component.
inline void settle(const Graph& graph, Node source, Workspace& work, Watch& watch) {
  work.distance[static_cast<std::size_t>(source)] = 0.0;
  work.heap.put(source, 0.0);
  unsigned count = 0;
  while (!work.heap.empty()) {
    if (++count % check_every == 0) watch.check();
    const Node node = work.heap.pop();
    work.order.push_back(node);
    const double reached = work.distance[static_cast<std::size_t>(node)];
    for (Offset e = graph.start[node]; e < graph.start[node + 1]; ++e) {
      const double candidate = reached + graph.length[e];
      double& known = work.distance[static_cast<std::size_t>(graph.to[e])];
      if (candidate < known) {
        known = candidate;
        work.heap.put(graph.to[e], candidate);
      }
    }
  }
}

// The same, and the nodes' places in that order.
inline void settle_ranked(const Graph& graph, Node source, Workspace& work, Watch& watch) {
  settle(graph, source, work, watch);
  for (std::size_t i = 0; i < work.order.size(); ++i)
    work.rank[static_cast<std::size_t>(work.order[i])] = static_cast<Node>(i);
}

inline void check_edges(const In1<Offset>& start, const In1<Node>& to, const char* who) {
  if (!are_borders(start, n_rows(to)))
    throw std::invalid_argument(std::string(who) + ": start must go up from 0 to the number of edges");
  if (!all_below(to, n_rows(start) - 1)) throw std::invalid_argument(std::string(who) + ": an edge leads to no node");
}

inline Graph view(const In1<Offset>& start, const In1<Node>& to, const In1<double>& length) {
  if (n_rows(start) < 1 || n_rows(to) != n_rows(length))
    throw std::invalid_argument("paths: start, to and length do not describe a graph");
  check_edges(start, to, "paths");
  return {n_rows(start) - 1, start.data(), to.data(), length.data()};
}

}  // namespace lowdim
