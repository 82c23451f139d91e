// Exact shortest paths in a sparse undirected graph with lengths >= 0.
//
// Two routes, one answer. A rounded sum fl(d + length) never decreases with d and is never below d, so both routes
// find, for every node, the least of the sums rounded from the source outwards over all paths: the same bits,
// whichever route, grouping, vector width or number of threads is used.
//
//   heap_paths     one Dijkstra with a 4-ary heap per source.
//   batched_paths  sources that lie close together share their work: the group's distances are the rows of an
//                  (n x lanes) table, and relaxing an edge is one vector minimum over the lanes. Nodes are swept in
//                  the order of one Dijkstra from the group's first source, forwards and backwards in turn, until
//                  nothing changes. A group that needs too many sweeps falls back to the heap.
#include "bindings.hpp"
#include "common/simd.hpp"
#include "graphs/graph_search.hpp"

namespace lowdim {

namespace {

template <class Out>
void heap_row(const Graph& graph, Node source, Out* out, Workspace& work, Watch& watch) {
  settle(graph, source, work, watch);
  for (Offset i = 0; i < graph.n; ++i) out[i] = static_cast<Out>(work.distance[static_cast<std::size_t>(i)]);
  work.forget();
}

// The component of `source` renumbered in the order of its distances from it, so that a sweep walks through memory
// and a node's neighbours are near it.
void localise(const Graph& graph, Node source, Workspace& work, Watch& watch) {
  settle_ranked(graph, source, work, watch);
  work.start.assign(1, 0);
  work.to.clear();
  work.length.clear();
  for (Node node : work.order) {
    for (Offset e = graph.start[node]; e < graph.start[node + 1]; ++e) {
      if (graph.to[e] == node) continue;
      work.to.push_back(work.rank[static_cast<std::size_t>(graph.to[e])]);
      work.length.push_back(graph.length[e]);
    }
    work.start.push_back(static_cast<Offset>(work.to.size()));
  }
}

// to = min(to, from + length) in every lane; true when a lane became smaller.
template <int lanes>
LOWDIM_INLINE inline bool relax(double* __restrict to, const double* __restrict from, double length) {
  std::int64_t better = 0;
  // GCC would peel eight or sixteen lanes into scalar code before it looks for vectors: half the speed.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 1
#endif
  for (int b = 0; b < lanes; ++b) {
    const double candidate = from[b] + length;
    better |= static_cast<std::int64_t>(candidate < to[b]);
    to[b] = candidate < to[b] ? candidate : to[b];
  }
  return better != 0;
}

// Sweeps until no node is active. False when more than `budget` edges had to be relaxed.
template <int lanes>
LOWDIM_INLINE inline bool sweep(Workspace& work, double* table, Offset budget, Watch& watch) {
  const Offset n = static_cast<Offset>(work.order.size());
  const Offset* start = work.start.data();
  const Node* to = work.to.data();
  const double* length = work.length.data();
  std::uint8_t* active = work.active.data();
  Offset relaxed = 0;
  unsigned count = 0;
  for (bool forward = true, changed = true; changed; forward = !forward) {
    changed = false;
    for (Offset step = 0; step < n; ++step) {
      const Offset node = forward ? step : n - 1 - step;
      if (!active[node]) continue;
      active[node] = 0;
      changed = true;
      const double* from = table + node * lanes;
      for (Offset e = start[node]; e < start[node + 1]; ++e)
        if (relax<lanes>(table + static_cast<Offset>(to[e]) * lanes, from, length[e])) active[to[e]] = 1;
      relaxed += start[node + 1] - start[node];
      if (++count % check_every == 0) watch.check();
    }
    if (relaxed > budget) return false;
  }
  return true;
}

// Columns of the table to rows of the result, eight nodes at a time: whole cache lines on both sides.
template <int lanes, class Out>
void write_rows(const Workspace& work, const double* table, Offset n, const Offset* rows, Offset group, Out* out) {
  constexpr Offset tile = 8;
  for (Offset begin = 0; begin < n; begin += tile) {
    const Offset end = std::min(n, begin + tile);
    for (Offset b = 0; b < group; ++b) {
      Out* row = out + rows[b] * n;
      for (Offset i = begin; i < end; ++i) {
        const Offset at = work.rank[static_cast<std::size_t>(i)];
        row[i] = static_cast<Out>(at < 0 ? infinity : table[at * lanes + b]);
      }
    }
  }
}

template <int lanes, class Out>
bool batched_group(const Graph& graph, const Node* sources, const Offset* rows, Offset group, double patience, Out* out,
                   Workspace& work, Watch& watch) {
  localise(graph, sources[0], work, watch);
  const std::size_t reached = work.order.size();
  work.active.assign(reached, 0);
  double* table = work.table(reached * lanes);
  for (Offset b = 0; b < group; ++b) {
    const Node at = work.rank[static_cast<std::size_t>(sources[b])];
    if (at < 0) throw std::invalid_argument("batched_paths: the sources of a group must lie in one component");
    table[static_cast<Offset>(at) * lanes + b] = 0.0;
    work.active[static_cast<std::size_t>(at)] = 1;
  }
  const Offset budget = static_cast<Offset>(patience * static_cast<double>(work.to.size()));
  bool finished = false;
  dispatch([&]() LOWDIM_INLINE { finished = sweep<lanes>(work, table, budget, watch); });
  if (finished) write_rows<lanes>(work, table, graph.n, rows, group, out);
  work.forget();
  return finished;
}

template <class Out>
bool batched_group_any(const Graph& graph, const Node* sources, const Offset* rows, Offset group, double patience,
                       Out* out, Workspace& work, Watch& watch) {
  if (group <= 8) return batched_group<8>(graph, sources, rows, group, patience, out, work, watch);
  if (group <= 16) return batched_group<16>(graph, sources, rows, group, patience, out, work, watch);
  if (group <= 32) return batched_group<32>(graph, sources, rows, group, patience, out, work, watch);
  return batched_group<64>(graph, sources, rows, group, patience, out, work, watch);
}

template <class Out>
void check_out(const Graph& graph, const In1<Node>& sources, const In1<Offset>& rows, const Out2<Out>& out) {
  if (n_rows(rows) != n_rows(sources) || n_columns(out) != graph.n)
    throw std::invalid_argument("paths: out must have one row of n columns for each source");
  for (Offset s = 0; s < n_rows(sources); ++s)
    if (sources.data()[s] < 0 || sources.data()[s] >= graph.n || rows.data()[s] < 0 || rows.data()[s] >= n_rows(out))
      throw std::invalid_argument("paths: a source or its row lies outside the arrays");
}

template <class Out>
void heap_paths(In1<Offset> start, In1<Node> to, In1<double> length, In1<Node> sources, In1<Offset> rows, Out2<Out> out,
                int n_threads) {
  const Graph graph = view(start, to, length);
  check_out(graph, sources, rows, out);
  Workspaces pool(graph.n);
  Watch watch;
  parallel_for(n_rows(sources), 1, n_threads, [&](Offset begin, Offset end, Offset) {
    auto work = pool.take();
    for (Offset s = begin; s < end; ++s)
      heap_row(graph, sources.data()[s], out.data() + rows.data()[s] * graph.n, *work, watch);
    pool.give(std::move(work));
  });
}

// Group g holds sources[groups[g]] .. sources[groups[g + 1] - 1]. Returns how many groups ran out of patience.
template <class Out>
Offset batched_paths(In1<Offset> start, In1<Node> to, In1<double> length, In1<Node> sources, In1<Offset> rows,
                     In1<Offset> groups, Out2<Out> out, double patience, int n_threads) {
  const Graph graph = view(start, to, length);
  check_out(graph, sources, rows, out);
  const Offset* border = groups.data();
  if (!are_borders(groups, n_rows(sources))) throw std::invalid_argument("batched_paths: groups must hold all sources");
  for (Offset g = 0; g + 1 < n_rows(groups); ++g)
    if (border[g + 1] - border[g] > 64) throw std::invalid_argument("batched_paths: a group holds at most 64 sources");
  constexpr Offset too_few = 4;  // below, the group's own Dijkstra and empty lanes cost more than they save
  Workspaces pool(graph.n);
  Watch watch;
  std::atomic<Offset> lost{0};
  parallel_for(n_rows(groups) - 1, 1, n_threads, [&](Offset g, Offset, Offset) {
    auto work = pool.take();
    const Offset first = border[g], size = border[g + 1] - first;
    // Once one group was hopeless the others go to the heap at once; the bits are the same either way.
    bool done = false;
    if (size >= too_few && lost.load(std::memory_order_relaxed) == 0) {
      done = batched_group_any(graph, sources.data() + first, rows.data() + first, size, patience, out.data(), *work,
                               watch);
      if (!done) lost.fetch_add(1);
    }
    for (Offset s = first; !done && s < first + size; ++s)
      heap_row(graph, sources.data()[s], out.data() + rows.data()[s] * graph.n, *work, watch);
    pool.give(std::move(work));
  });
  return lost.load();
}

// Breadth-first balls: order[] lists positions in `sources` so that each group of at most `lanes` lies close together
// and inside one component; groups[] gets the borders. Returns the number of groups.
Offset source_groups(In1<Offset> start, In1<Node> to, In1<Node> sources, int lanes, Out1<Offset> order,
                     Out1<Offset> groups) {
  const Offset m = n_rows(sources);
  const std::size_t n = start.shape(0) - 1;
  if (lanes < 1 || n_rows(order) != m || n_rows(groups) != m + 1)
    throw std::invalid_argument("source_groups: order needs a place for each source, groups one more");
  check_edges(start, to, "source_groups");
  if (!all_below(sources, n_rows(start) - 1)) throw std::invalid_argument("source_groups: a source is no node");
  std::vector<Offset> waiting(n, -1), seen(n, -1);
  for (Offset s = 0; s < m; ++s) waiting[static_cast<std::size_t>(sources.data()[s])] = s;
  std::vector<Node> queue;
  Offset placed = 0, count = 0;
  groups.data()[0] = 0;
  for (Offset s = 0; s < m; ++s) {
    if (waiting[static_cast<std::size_t>(sources.data()[s])] < 0) continue;
    queue.assign(1, sources.data()[s]);
    seen[static_cast<std::size_t>(queue[0])] = count;
    const Offset full = placed + lanes;
    for (std::size_t head = 0; head < queue.size() && placed < full; ++head) {
      const Node node = queue[head];
      Offset& position = waiting[static_cast<std::size_t>(node)];
      if (position >= 0) order.data()[placed++] = position;
      position = -1;
      for (Offset e = start.data()[node]; e < start.data()[node + 1]; ++e) {
        Offset& mark = seen[static_cast<std::size_t>(to.data()[e])];
        if (mark != count) queue.push_back(to.data()[e]);
        mark = count;
      }
    }
    groups.data()[++count] = placed;
  }
  return count;
}

template <class Out>
void bind_paths_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("heap_paths", &heap_paths<Out>, "start"_a.noconvert(), "to"_a.noconvert(), "length"_a.noconvert(),
        "sources"_a.noconvert(), "rows"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a, nb::call_guard<WithoutGil>(),
        "Write the distances from sources[s] to out[rows[s]], one Dijkstra per source.");
  m.def("batched_paths", &batched_paths<Out>, "start"_a.noconvert(), "to"_a.noconvert(), "length"_a.noconvert(),
        "sources"_a.noconvert(), "rows"_a.noconvert(), "groups"_a.noconvert(), "out"_a.noconvert(), "patience"_a,
        "n_threads"_a, nb::call_guard<WithoutGil>(),
        "Write the distances from sources[s] to out[rows[s]], one vectorised search per group of sources; an edge may "
        "be relaxed `patience` times on average before the heap takes over. Returns how many groups gave up.");
}

}  // namespace

void bind_shortest_paths(nb::module_& m) {
  using namespace nb::literals;
  bind_paths_for<float>(m);
  bind_paths_for<double>(m);
  m.def("source_groups", &source_groups, "start"_a.noconvert(), "to"_a.noconvert(), "sources"_a.noconvert(), "lanes"_a,
        "order"_a.noconvert(), "groups"_a.noconvert(), nb::call_guard<WithoutGil>(),
        "Order distinct sources into groups of neighbours of at most `lanes`; returns the number of groups.");
}

}  // namespace lowdim
