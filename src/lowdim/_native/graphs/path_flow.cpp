// What shortest paths run through: how many cross each node and edge, which of them touch marked nodes; and paths
// within a reach of their source.
//
// A node u lies on a shortest path just before v when they are joined and distance(u) + length is distance(v) to the
// last bit, u being settled first. Where several are, a flow is split by the number of shortest paths through each
// (Brandes 2001).
#include <algorithm>
#include <cmath>

#include "bindings.hpp"
#include "graphs/graph_search.hpp"

namespace lowdim {

namespace {

constexpr Offset flow_chunks = 16;  // sums of flows are made in these parts, whatever the number of threads

// Calls visit(edge, u) for every u that comes just before v on a shortest path.
template <class Visit>
void before(const Graph& graph, const Workspace& work, Node v, const Visit& visit) {
  const double reached = work.distance[static_cast<std::size_t>(v)];
  const Node place = work.rank[static_cast<std::size_t>(v)];
  for (Offset e = graph.start[v]; e < graph.start[v + 1]; ++e) {
    const std::size_t u = static_cast<std::size_t>(graph.to[e]);
    if (work.rank[u] < place && work.distance[u] + graph.length[e] == reached) visit(e, u);
  }
}

struct Flow {
  std::vector<double> node, edge, paths, beyond;
};

// Adds the shares of all paths from one source. `beyond` is what flows on from a node to nodes behind it.
void add_flow(const Graph& graph, Node source, Workspace& work, Flow& flow, Watch& watch) {
  settle_ranked(graph, source, work, watch);
  for (Node v : work.order) {
    double& count = flow.paths[static_cast<std::size_t>(v)];
    count = v == source ? 1.0 : 0.0;
    before(graph, work, v, [&](Offset, std::size_t u) { count += flow.paths[u]; });
    flow.beyond[static_cast<std::size_t>(v)] = 0.0;
  }
  for (std::size_t i = work.order.size(); i-- > 1;) {
    const Node v = work.order[i];
    const double passing = flow.beyond[static_cast<std::size_t>(v)];
    const double count = flow.paths[static_cast<std::size_t>(v)];
    flow.node[static_cast<std::size_t>(v)] += passing;
    double ways = 0.0;  // only where there are too many paths to be counted: then every way gets the same
    if (!std::isfinite(count)) before(graph, work, v, [&](Offset, std::size_t) { ways += 1.0; });
    before(graph, work, v, [&](Offset e, std::size_t u) {
      const double share = (ways > 0.0 ? 1.0 / ways : flow.paths[u] / count) * (1.0 + passing);
      flow.edge[static_cast<std::size_t>(e)] += share;
      flow.beyond[u] += share;
    });
  }
  work.forget();
}

void path_flow(In1<Offset> start, In1<Node> to, In1<double> length, In1<Node> sources, Out1<double> node_flow,
               Out1<double> edge_flow, int n_threads) {
  const Graph graph = view(start, to, length);
  const std::size_t n = static_cast<std::size_t>(graph.n), edges = to.shape(0);
  if (node_flow.shape(0) != n || edge_flow.shape(0) != edges)
    throw std::invalid_argument("path_flow: the results must have one entry for each node and for each stored edge");
  const Offset m = n_rows(sources);
  for (Offset s = 0; s < m; ++s)
    if (sources.data()[s] < 0 || sources.data()[s] >= graph.n)
      throw std::invalid_argument("path_flow: a source lies outside the graph");
  Workspaces pool(graph.n);
  Watch watch;
  std::vector<Flow> parts(static_cast<std::size_t>(std::min(flow_chunks, std::max<Offset>(m, 1))));
  const Offset size = (m + flow_chunks - 1) / flow_chunks;
  parallel_for(m, size, n_threads, [&](Offset begin, Offset end, Offset chunk) {
    auto work = pool.take();
    Flow& flow = parts[static_cast<std::size_t>(chunk)];
    flow.node.assign(n, 0.0);
    flow.edge.assign(edges, 0.0);
    flow.paths.assign(n, 0.0);
    flow.beyond.assign(n, 0.0);
    for (Offset s = begin; s < end; ++s) add_flow(graph, sources.data()[s], *work, flow, watch);
    flow.paths = {};
    flow.beyond = {};
    pool.give(std::move(work));
  });
  std::fill(node_flow.data(), node_flow.data() + n, 0.0);
  std::fill(edge_flow.data(), edge_flow.data() + edges, 0.0);
  for (const Flow& flow : parts) {
    for (std::size_t i = 0; i < flow.node.size(); ++i) node_flow.data()[i] += flow.node[i];
    for (std::size_t e = 0; e < flow.edge.size(); ++e) edge_flow.data()[e] += flow.edge[e];
  }
}

// out[s, v] = 1 where every shortest path from sources[s] to v has a marked node between its ends.
void path_touches(In1<Offset> start, In1<Node> to, In1<double> length, In1<Node> sources, In1<std::uint8_t> marked,
                  Out2<std::uint8_t> out, int n_threads) {
  const Graph graph = view(start, to, length);
  if (n_rows(marked) != graph.n || !has_shape(out, n_rows(sources), graph.n))
    throw std::invalid_argument("path_touches: one mark for each node, one row of results for each source");
  Workspaces pool(graph.n);
  Watch watch;
  parallel_for(n_rows(sources), 1, n_threads, [&](Offset s, Offset, Offset) {
    auto work = pool.take();
    const Node source = sources.data()[s];
    if (source < 0 || source >= graph.n) throw std::invalid_argument("path_touches: a source lies outside the graph");
    std::uint8_t* row = out.data() + s * graph.n;
    std::fill(row, row + graph.n, std::uint8_t{1});
    settle_ranked(graph, source, *work, watch);
    row[source] = 0;
    for (Node v : work->order) {
      if (v == source) continue;
      before(graph, *work, v, [&](Offset, std::size_t u) {
        const bool through = static_cast<Node>(u) != source && marked.data()[u] != 0;
        if (!through && row[u] == 0) row[v] = 0;
      });
    }
    work->forget();
    pool.give(std::move(work));
  });
}

// Dijkstra that goes no farther than `reach` and not through `closed`; stops when `enough` says so.
template <class Enough>
void settle_within(const Graph& graph, Node source, double reach, Node closed, Workspace& work, Watch& watch,
                   const Enough& enough) {
  work.distance[static_cast<std::size_t>(source)] = 0.0;
  work.heap.put(source, 0.0);
  work.order.push_back(source);
  unsigned count = 0;
  while (!work.heap.empty()) {
    if (++count % check_every == 0) watch.check();
    const Node node = work.heap.pop();
    const double reached = work.distance[static_cast<std::size_t>(node)];
    if (enough(node, reached)) return;
    for (Offset e = graph.start[node]; e < graph.start[node + 1]; ++e) {
      const double candidate = reached + graph.length[e];
      double& known = work.distance[static_cast<std::size_t>(graph.to[e])];
      if (candidate < known && candidate <= reach && graph.to[e] != closed) {
        if (known == infinity) work.order.push_back(graph.to[e]);  // everything seen has to be forgotten
        known = candidate;
        work.heap.put(graph.to[e], candidate);
      }
    }
  }
}

// out[q] = the distance from i to ask[q] for the questions first[i] .. first[i + 1] - 1 of node i (different nodes),
// infinite beyond reach[i].
void distances_within(In1<Offset> start, In1<Node> to, In1<double> length, In1<Offset> first, In1<Node> ask,
                      In1<double> reach, Out1<double> out, int n_threads) {
  const Graph graph = view(start, to, length);
  if (n_rows(first) != graph.n + 1 || n_rows(reach) != graph.n || n_rows(ask) != n_rows(out) ||
      !are_borders(first, n_rows(ask)) || !all_below(ask, graph.n))
    throw std::invalid_argument("distances_within: the questions do not belong to the graph");
  Workspaces pool(graph.n);
  Watch watch;
  parallel_for(graph.n, 256, n_threads, [&](Offset begin, Offset end, Offset) {
    auto work = pool.take();
    std::vector<std::uint8_t> asked(static_cast<std::size_t>(graph.n), 0);
    for (Offset i = begin; i < end; ++i) {
      const Node* questions = ask.data() + first.data()[i];
      const Offset count = first.data()[i + 1] - first.data()[i];
      Offset left = count;
      for (Offset q = 0; q < count; ++q) asked[static_cast<std::size_t>(questions[q])] = 1;
      if (count > 0)
        settle_within(graph, static_cast<Node>(i), reach.data()[i], -1, *work, watch,
                      [&](Node node, double) { return asked[static_cast<std::size_t>(node)] != 0 && --left == 0; });
      for (Offset q = 0; q < count; ++q) {
        asked[static_cast<std::size_t>(questions[q])] = 0;
        out.data()[first.data()[i] + q] = work->distance[static_cast<std::size_t>(questions[q])];
      }
      work->forget();
    }
    pool.give(std::move(work));
  });
}

// Groups the neighbours of one node v: two belong together when the way between them in `ways` that avoids v is at most
// `ratio` times as long as the way through v. The nearest neighbour without a group begins the next one.
void group_neighbors(const Graph& graph, const Graph& ways, Node v, double ratio, double floor, Workspace& work,
                     Watch& watch, std::vector<Offset>& by_length, std::int32_t* group) {
  by_length.clear();
  for (Offset e = graph.start[v]; e < graph.start[v + 1]; ++e) {
    group[e] = graph.to[e] == v ? 0 : -1;
    if (group[e] < 0) by_length.push_back(e);
  }
  std::sort(by_length.begin(), by_length.end(), [&](Offset a, Offset b) {
    return graph.length[a] < graph.length[b] || (graph.length[a] == graph.length[b] && a < b);
  });
  std::int32_t count = 0;
  for (Offset head : by_length) {
    if (group[head] >= 0) continue;
    const auto allowed = [&](Offset e) { return ratio * std::max(graph.length[head] + graph.length[e], floor); };
    Offset left = 0;
    double reach = 0.0;
    for (Offset e : by_length)
      if (group[e] < 0) {
        ++left;
        reach = std::max(reach, allowed(e));
        work.rank[static_cast<std::size_t>(graph.to[e])] = static_cast<Node>(e - graph.start[v]);
      }
    settle_within(ways, graph.to[head], reach, v, work, watch, [&](Node node, double reached) {
      const Node place = work.rank[static_cast<std::size_t>(node)];
      if (place < 0) return false;
      if (reached <= allowed(graph.start[v] + place)) group[graph.start[v] + place] = count;
      return --left == 0;
    });
    for (Offset e : by_length) work.rank[static_cast<std::size_t>(graph.to[e])] = -1;
    work.forget();
    ++count;
  }
}

// group[e] for every stored edge e of the nodes asked for; the others stay as they are.
void neighbor_groups(In1<Offset> start, In1<Node> to, In1<double> length, In1<Offset> ways_start, In1<Node> ways_to,
                     In1<double> ways_length, In1<Node> nodes, double ratio, double floor, Out1<std::int32_t> group,
                     int n_threads) {
  const Graph graph = view(start, to, length), ways = view(ways_start, ways_to, ways_length);
  if (ways.n != graph.n) throw std::invalid_argument("neighbor_groups: both graphs must have the same nodes");
  if (n_rows(group) != n_rows(to))
    throw std::invalid_argument("neighbor_groups: group must have one entry for each stored edge");
  Workspaces pool(graph.n);
  Watch watch;
  parallel_for(n_rows(nodes), 64, n_threads, [&](Offset begin, Offset end, Offset) {
    auto work = pool.take();
    std::vector<Offset> by_length;
    for (Offset s = begin; s < end; ++s) {
      const Node v = nodes.data()[s];
      if (v < 0 || v >= graph.n) throw std::invalid_argument("neighbor_groups: a node lies outside the graph");
      group_neighbors(graph, ways, v, ratio, floor, *work, watch, by_length, group.data());
    }
    pool.give(std::move(work));
  });
}

}  // namespace

void bind_path_flow(nb::module_& m) {
  using namespace nb::literals;
  m.def("path_flow", &path_flow, "start"_a.noconvert(), "to"_a.noconvert(), "length"_a.noconvert(),
        "sources"_a.noconvert(), "node_flow"_a.noconvert(), "edge_flow"_a.noconvert(), "n_threads"_a,
        nb::call_guard<WithoutGil>(),
        "Shortest paths from the sources to all nodes: how many pass through each node, ends not counted, and along "
        "each stored edge against its direction; of several equally short ones each counts its share.");
  m.def("path_touches", &path_touches, "start"_a.noconvert(), "to"_a.noconvert(), "length"_a.noconvert(),
        "sources"_a.noconvert(), "marked"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        nb::call_guard<WithoutGil>(),
        "Whether every shortest path from sources[s] to a node has a marked node between its ends (1 where none "
        "leads there).");
  m.def("distances_within", &distances_within, "start"_a.noconvert(), "to"_a.noconvert(), "length"_a.noconvert(),
        "first"_a.noconvert(), "ask"_a.noconvert(), "reach"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        nb::call_guard<WithoutGil>(), "Distances from each node to those it asks for, infinite beyond its reach.");
  m.def("neighbor_groups", &neighbor_groups, "start"_a.noconvert(), "to"_a.noconvert(), "length"_a.noconvert(),
        "ways_start"_a.noconvert(), "ways_to"_a.noconvert(), "ways_length"_a.noconvert(), "nodes"_a.noconvert(),
        "ratio"_a, "floor"_a, "group"_a.noconvert(), "n_threads"_a, nb::call_guard<WithoutGil>(),
        "Group the neighbours of nodes: those between which the way around the node, in a second graph, is at most "
        "`ratio` times the way through it (or `ratio` times `floor`).");
}

}  // namespace lowdim
