// One look at the shortest paths of a large graph from a few nodes, with and without some of its edges.
//
// Graphs of many rows are renumbered by steps from one node, so that the ends of edges lie near each other in memory,
// and searched with a ring of buckets instead of a heap: a node that was reached on a longer path first is expanded
// again. The distances are those of `heap_paths` bit by bit, as both are the least sums
// rounded from the source outwards over all paths.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bindings.hpp"
#include "graphs/graph_search.hpp"

namespace lowdim {

namespace {

constexpr double most_buckets = 4096;  // where the longest edge spans more, a heap is better
constexpr Offset few_edges = 48;       // of a row, whose places are counted instead of sorted

// place[a]: how many of `count` lengths come before length[a], the first of equal ones first.
void places_of(const double* length, Offset count, Node* place, std::vector<Offset>& order) {
  if (count <= few_edges) {
    for (Offset a = 0; a < count; ++a) {
      Node before = 0;
      for (Offset b = 0; b < a; ++b) before += length[b] <= length[a] ? 1 : 0;
      for (Offset b = a + 1; b < count; ++b) before += length[b] < length[a] ? 1 : 0;
      place[a] = before;
    }
    return;
  }
  order.resize(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Offset{0});
  std::stable_sort(order.begin(), order.end(), [&](Offset a, Offset b) { return length[a] < length[b]; });
  for (Offset at = 0; at < count; ++at) place[order[static_cast<std::size_t>(at)]] = static_cast<Node>(at);
}

double median(std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half), values.end());
  const double upper = values[half];
  if (values.size() % 2 == 1) return upper;
  return 0.5 * (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half)) + upper);
}

// The median over the edges of the radius of the neighbourhoods at their ends, or of their length where that is more.
// A radius is the length of the k-th edge of a row, and at least the median of all; without lengths it is 1.
double usual_size(const Graph& graph, const std::vector<double>& radius) {
  std::vector<double> sizes = radius;
  const double least = median(sizes);
  sizes.clear();
  for (Offset u = 0; u < graph.n; ++u)
    for (Offset e = graph.start[u]; e < graph.start[u + 1]; ++e) {
      if (graph.to[e] < u) continue;  // each edge once: its other direction has the same size
      const double size = std::max(
          {graph.length[e], least, radius[static_cast<std::size_t>(u)], radius[static_cast<std::size_t>(graph.to[e])]});
      sizes.push_back(size > 0.0 ? size : 1.0);
    }
  return median(sizes);
}

// later[e]: place of an edge among the edges of its row, the shortest first, or at its other end where that is later.
// Returns the usual size of a neighbourhood of k edges; there is at least one edge.
double edge_places(In1<Offset> start, In1<Node> to, In1<double> length, Offset k, Out1<Node> later) {
  const Graph graph = view(start, to, length);
  require(n_rows(later) == n_rows(to) && n_rows(to) > 0 && k > 0);
  std::vector<double> radius(static_cast<std::size_t>(graph.n), 0.0);
  std::vector<Offset> next(graph.start, graph.start + graph.n), order;
  for (Offset u = 0; u < graph.n; ++u) {
    const Offset first = graph.start[u], count = graph.start[u + 1] - first;
    Node* place = later.data() + first;
    places_of(graph.length + first, count, place, order);
    for (Offset a = 0; a < count; ++a)
      if (place[a] == std::min(k, count) - 1) radius[static_cast<std::size_t>(u)] = graph.length[first + a];
    // Columns are sorted and u goes up, so the other direction of each edge is the next one of the row it leads to.
    // Of two directions the second one met takes the later place to the first.
    for (Offset e = first; e < first + count; ++e) {
      const Offset there = next[static_cast<std::size_t>(graph.to[e])]++;
      if (there >= graph.start[graph.to[e] + 1] || graph.to[there] != u)
        throw std::invalid_argument("edge_places: the graph must be symmetric, its columns sorted");
      if (graph.to[e] < u) later.data()[e] = later.data()[there] = std::max(later.data()[e], later.data()[there]);
    }
  }
  return usual_size(graph, radius);
}

// The same graph with its nodes numbered by steps from node 0, components one after the other: node order[i] becomes i.
// from[e] is the place of an edge before.
void near_order(In1<Offset> start, In1<Node> to, Out1<Node> order, Out1<Offset> new_start, Out1<Node> new_to,
                Out1<Offset> from) {
  check_edges(start, to, "near_order");
  const Offset n = n_rows(start) - 1;
  require(n_rows(order) == n && n_rows(new_start) == n + 1 && n_rows(new_to) == n_rows(to) &&
          n_rows(from) == n_rows(to));
  std::vector<Node> place(static_cast<std::size_t>(n), -1);
  Offset count = 0;
  for (Offset root = 0; root < n; ++root) {
    if (place[static_cast<std::size_t>(root)] >= 0) continue;
    place[static_cast<std::size_t>(root)] = static_cast<Node>(count);
    order.data()[count] = static_cast<Node>(root);
    for (Offset head = count++; head < count; ++head) {
      const Node node = order.data()[head];
      for (Offset e = start.data()[node]; e < start.data()[node + 1]; ++e) {
        Node& reached = place[static_cast<std::size_t>(to.data()[e])];
        if (reached >= 0) continue;
        reached = static_cast<Node>(count);
        order.data()[count++] = to.data()[e];
      }
    }
  }
  Offset at = 0;
  for (Offset i = 0; i < n; ++i) {
    new_start.data()[i] = at;
    const Node node = order.data()[i];
    for (Offset e = start.data()[node]; e < start.data()[node + 1]; ++e, ++at) {
      from.data()[at] = e;
      new_to.data()[at] = place[static_cast<std::size_t>(to.data()[e])];
    }
  }
  new_start.data()[n] = at;
}

// The component of each node over the edges kept; returns how many there are.
Node label_components(const Graph& graph, const std::uint8_t* kept, std::vector<Node>& label) {
  std::vector<Node> queue(label.size());
  Node count = 0;
  for (Offset root = 0; root < graph.n; ++root) {
    if (label[static_cast<std::size_t>(root)] >= 0) continue;
    label[static_cast<std::size_t>(root)] = count;
    queue[0] = static_cast<Node>(root);
    for (std::size_t head = 0, tail = 1; head < tail; ++head)
      for (Offset e = graph.start[queue[head]]; e < graph.start[queue[head] + 1]; ++e) {
        Node& other = label[static_cast<std::size_t>(graph.to[e])];
        if (kept[e] == 0 || other >= 0) continue;
        other = count;
        queue[tail++] = graph.to[e];
      }
    ++count;
  }
  return count;
}

// Keeps the shortest of the edges left out that join the components of those kept (Kruskal); of equally long ones that
// of the smallest `from`. Returns how many there are, each in both directions.
Offset keep_joined(In1<Offset> start, In1<Node> to, In1<double> length, In1<Node> order, In1<Offset> from,
                   Out1<std::uint8_t> kept) {
  const Graph graph = view(start, to, length);
  require(n_rows(order) == graph.n && n_rows(from) == n_rows(to) && n_rows(kept) == n_rows(to));
  std::vector<Node> label(static_cast<std::size_t>(graph.n), -1);
  std::vector<Node> parent(static_cast<std::size_t>(label_components(graph, kept.data(), label)));
  if (parent.size() <= 1) return 0;
  std::iota(parent.begin(), parent.end(), Node{0});
  struct Left {
    double length;
    Offset from;
    Node i, j;
  };
  std::vector<Left> across;
  for (Offset i = 0; i < graph.n; ++i)
    for (Offset e = graph.start[i]; e < graph.start[i + 1]; ++e)
      if (label[static_cast<std::size_t>(i)] != label[static_cast<std::size_t>(graph.to[e])] &&
          order.data()[i] < order.data()[graph.to[e]])
        across.push_back({graph.length[e], from.data()[e], static_cast<Node>(i), graph.to[e]});
  std::sort(across.begin(), across.end(), [](const Left& a, const Left& b) {
    return a.length < b.length || (a.length == b.length && a.from < b.from);
  });
  const auto root = [&](Node node) {
    Node at = label[static_cast<std::size_t>(node)];
    while (parent[static_cast<std::size_t>(at)] != at)
      at = parent[static_cast<std::size_t>(at)] =
          parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(at)])];
    return at;
  };
  Offset taken = 0;
  for (const Left& edge : across) {
    const Node a = root(edge.i), b = root(edge.j);
    if (a == b) continue;
    parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    for (const auto& [node, other] : {std::pair{edge.i, edge.j}, std::pair{edge.j, edge.i}})
      for (Offset e = graph.start[node]; e < graph.start[node + 1]; ++e)
        if (graph.to[e] == other) kept.data()[e] = 1;
    ++taken;
  }
  return taken;
}

struct Tree {
  Tree(Offset n, std::size_t ring)
      : expanded(static_cast<std::size_t>(n)), parent(expanded.size()), waiting(expanded.size()), buckets(ring) {}

  std::vector<double> expanded;  // distance at which a node was expanded last
  std::vector<Node> parent;      // the node before on the shortest path
  std::vector<Node> waiting;     // nodes behind a node that have not been counted yet
  std::vector<std::vector<Node>> buckets;
};

// The least distances over the edges kept. Returns whether two paths to some node were equally long for a while.
bool grow(const Graph& graph, Node source, double per_width, double* distance, Tree& tree, Watch& watch) {
  const std::size_t ring = tree.buckets.size();
  std::fill(distance, distance + graph.n, infinity);
  std::fill(tree.expanded.begin(), tree.expanded.end(), infinity);
  std::fill(tree.parent.begin(), tree.parent.end(), Node{-1});
  distance[source] = 0.0;
  tree.buckets[0].push_back(source);
  std::size_t pending = 1;
  unsigned count = 0;
  bool ties = false;
  for (std::size_t b = 0; pending > 0; ++b) {
    std::vector<Node>& here = tree.buckets[b % ring];
    for (std::size_t i = 0; i < here.size(); ++i) {
      const Node node = here[i];
      const double reached = distance[node];
      if (reached >= tree.expanded[static_cast<std::size_t>(node)]) continue;
      tree.expanded[static_cast<std::size_t>(node)] = reached;
      if (++count % check_every == 0) watch.check();
      for (Offset e = graph.start[node]; e < graph.start[node + 1]; ++e) {
        const Node to = graph.to[e];
        const double candidate = reached + graph.length[e];
        if (candidate > distance[to]) continue;
        Node& before = tree.parent[static_cast<std::size_t>(to)];
        if (candidate == distance[to]) {
          ties |= before != node;
          continue;
        }
        distance[to] = candidate;
        before = node;
        tree.buckets[static_cast<std::size_t>(candidate * per_width) % ring].push_back(to);
        ++pending;
      }
    }
    pending -= here.size();
    here.clear();
  }
  return ties;
}

// Adds to `through`, for every node, how many nodes lie behind it in the tree.
void add_behind(Tree& tree, std::vector<double>& through) {
  std::vector<double>& behind = tree.expanded;  // not needed any more
  std::fill(behind.begin(), behind.end(), 0.0);
  std::fill(tree.waiting.begin(), tree.waiting.end(), Node{0});
  for (Node before : tree.parent)
    if (before >= 0) ++tree.waiting[static_cast<std::size_t>(before)];
  for (std::size_t leaf = 0; leaf < tree.parent.size(); ++leaf) {
    if (tree.waiting[leaf] != 0) continue;
    for (std::size_t v = leaf; tree.parent[v] >= 0;) {
      const std::size_t up = static_cast<std::size_t>(tree.parent[v]);
      through[v] += behind[v];
      behind[up] += 1.0 + behind[v];
      if (--tree.waiting[up] != 0 || up > leaf) break;  // one that comes later has its turn then
      v = up;
    }
  }
}

// The edges kept, without gaps between them.
struct Edges {
  Edges() = default;
  Edges(const Graph& graph, const std::uint8_t* kept) : start(static_cast<std::size_t>(graph.n) + 1, 0) {
    const std::size_t count = static_cast<std::size_t>(graph.start[graph.n]);
    to.resize(count);
    length.resize(count);
    std::size_t at = 0;
    for (Offset i = 0; i < graph.n; ++i) {
      for (Offset e = graph.start[i]; e < graph.start[i + 1]; ++e) {  // written in any case: nothing to be guessed
        to[at] = graph.to[e];
        length[at] = graph.length[e];
        at += kept[e] != 0 ? 1 : 0;
      }
      start[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(at);
    }
    to.resize(at);
    length.resize(at);
  }

  Graph view() const { return {static_cast<Offset>(start.size()) - 1, start.data(), to.data(), length.data()}; }

  std::vector<Offset> start;
  std::vector<Node> to;
  std::vector<double> length;
};

// distance[s] from sources[s] over the edges kept, and for every node how many shortest paths run through it (nothing
// is counted where `through` has no entries). Returns -1 where buckets do not suit the lengths, 1 where some paths may
// be equally long (then `through` may be wrong), or 0.
int tree_paths(In1<Offset> start, In1<Node> to, In1<double> length, In1<std::uint8_t> kept, In1<Node> sources,
               double width, Out2<double> distance, Out1<double> through, int n_threads) {
  const Graph all = view(start, to, length);
  const Offset m = n_rows(sources);
  const bool counted = n_rows(through) > 0;
  require(n_rows(kept) == n_rows(to) && has_shape(distance, m, all.n) && (!counted || n_rows(through) == all.n) &&
          all_below(sources, all.n));
  const bool whole = std::find(kept.data(), kept.data() + n_rows(kept), std::uint8_t{0}) == kept.data() + n_rows(kept);
  const Edges edges = whole ? Edges() : Edges(all, kept.data());
  const Graph graph = whole ? all : edges.view();
  double longest = 0.0;
  for (Offset e = 0; e < graph.start[graph.n]; ++e) longest = std::max(longest, graph.length[e]);
  const double per_width = 1.0 / width;
  if (!(longest * per_width < most_buckets) || !std::isfinite(per_width)) return -1;
  std::vector<std::vector<double>> parts(static_cast<std::size_t>(m));
  std::vector<std::uint8_t> ties(static_cast<std::size_t>(m), 0);
  Watch watch;
  const Offset size = (m + n_threads - 1) / std::max(n_threads, 1);
  parallel_for(m, std::max<Offset>(size, 1), n_threads, [&](Offset begin, Offset end, Offset) {
    Tree tree(graph.n, static_cast<std::size_t>(longest * per_width) + 3);
    for (Offset s = begin; s < end; ++s) {
      const bool tied = grow(graph, sources.data()[s], per_width, distance.data() + s * graph.n, tree, watch);
      ties[static_cast<std::size_t>(s)] = tied ? 1 : 0;
      if (!counted) continue;
      parts[static_cast<std::size_t>(s)].assign(static_cast<std::size_t>(graph.n), 0.0);
      add_behind(tree, parts[static_cast<std::size_t>(s)]);
    }
  });
  std::fill(through.data(), through.data() + n_rows(through), 0.0);
  for (const auto& part : parts)  // whole numbers: the order does not matter
    for (std::size_t i = 0; i < part.size(); ++i) through.data()[i] += part[i];
  return std::any_of(ties.begin(), ties.end(), [](std::uint8_t tie) { return tie != 0; }) ? 1 : 0;
}

}  // namespace

void bind_tree_paths(nb::module_& m) {
  using namespace nb::literals;
  m.def("edge_places", &edge_places, "start"_a.noconvert(), "to"_a.noconvert(), "length"_a.noconvert(), "k"_a,
        "later"_a.noconvert(), nb::call_guard<WithoutGil>(),
        "The place of each edge among those of its ends, the later one; returns the usual size of a neighbourhood.");
  m.def("near_order", &near_order, "start"_a.noconvert(), "to"_a.noconvert(), "order"_a.noconvert(),
        "new_start"_a.noconvert(), "new_to"_a.noconvert(), "from_"_a.noconvert(), nb::call_guard<WithoutGil>(),
        "Number the nodes by steps from one of them; from_[e] is the place that edge e had before.");
  m.def("keep_joined", &keep_joined, "start"_a.noconvert(), "to"_a.noconvert(), "length"_a.noconvert(),
        "order"_a.noconvert(), "from_"_a.noconvert(), "kept"_a.noconvert(), nb::call_guard<WithoutGil>(),
        "Keep the shortest of the other edges that join the components of the edges kept; returns how many.");
  m.def("tree_paths", &tree_paths, "start"_a.noconvert(), "to"_a.noconvert(), "length"_a.noconvert(),
        "kept"_a.noconvert(), "sources"_a.noconvert(), "width"_a, "distance"_a.noconvert(), "through"_a.noconvert(),
        "n_threads"_a, nb::call_guard<WithoutGil>(),
        "Distances from a few nodes over the edges kept, and how many of the shortest paths run through each node. "
        "Returns 1 where paths may be equally long, so that these counts are not to be used, and -1, with nothing "
        "done, where the longest edge is too long for buckets.");
}

}  // namespace lowdim
