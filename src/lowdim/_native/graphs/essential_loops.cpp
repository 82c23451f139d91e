// Loops of a graph that are not sums of short ones.
//
// With a spanning tree, every other edge closes one loop, and is a generator of the group of loops. Loops inside a ball
// of few edges count as filled: each says that a sum of generators is zero. What these sums force to zero are edges
// whose loop can be filled; the others go around something. Sums of one or two generators are settled at once, by a
// union-find with signs; what is left is eliminated modulo a prime (first homology of the filled graph, up to torsion).
#include <algorithm>
#include <map>

#include "bindings.hpp"
#include "graphs/graph_search.hpp"

namespace lowdim {

namespace {

using Term = std::pair<Node, std::int64_t>;  // a generator and its coefficient
using Sum = std::vector<Term>;

// Generators known to be equal up to a sign, or zero.
class Classes {
 public:
  explicit Classes(std::size_t count) : parent_(count), sign_(count, 1), zero_(count, 0) {
    for (std::size_t i = 0; i < count; ++i) parent_[i] = static_cast<Node>(i);
  }

  // The representative and the sign towards it; sign 0 where the generator is zero.
  std::pair<Node, int> find(Node g) {
    Node root = g;
    int sign = 1;
    while (parent_[at(root)] != root) {
      sign *= sign_[at(root)];
      root = parent_[at(root)];
    }
    const int whole = sign;
    while (parent_[at(g)] != root && g != root) {
      const Node next = parent_[at(g)];
      const int own = sign_[at(g)];
      parent_[at(g)] = root;
      sign_[at(g)] = static_cast<std::int8_t>(sign);
      sign *= own;
      g = next;
    }
    return {root, zero_[at(root)] ? 0 : whole};
  }

  void make_zero(Node root) { zero_[at(root)] = 1; }

  // a = sign b, for two representatives.
  void merge(Node a, Node b, int sign) {
    parent_[at(a)] = b;
    sign_[at(a)] = static_cast<std::int8_t>(sign);
  }

 private:
  static std::size_t at(Node g) { return static_cast<std::size_t>(g); }
  std::vector<Node> parent_;
  std::vector<std::int8_t> sign_;
  std::vector<std::uint8_t> zero_;
};

void add(Sum& sum, Node g, std::int64_t coefficient) {
  for (Term& term : sum)
    if (term.first == g) {
      term.second += coefficient;
      return;
    }
  sum.push_back({g, coefficient});
}

// In representatives, without zeros, by generator.
Sum reduced(const Sum& sum, Classes& classes) {
  Sum out;
  for (const Term& term : sum) {
    const auto [root, sign] = classes.find(term.first);
    if (sign != 0) add(out, root, term.second * sign);
  }
  out.erase(std::remove_if(out.begin(), out.end(), [](const Term& t) { return t.second == 0; }), out.end());
  std::sort(out.begin(), out.end());
  return out;
}

struct Loops {
  const Graph& graph;
  const Node* generator;  // of each stored edge; -1 in the tree
  int hops;
  Classes& classes;
  std::vector<Offset> seen;        // the ball that met a node last
  std::vector<std::size_t> place;  // its number in that ball
  std::vector<Node> ball;
  std::vector<Sum> way;  // from the centre to each node of the ball
  Offset epoch = 0;

  Term edge(Node from, Offset e) const { return {generator[e], from < graph.to[e] ? 1 : -1}; }

  // Nodes within `hops` edges of the centre, and the way to each.
  void grow(Node centre) {
    ++epoch;
    ball.assign(1, centre);
    way.assign(1, {});
    seen[static_cast<std::size_t>(centre)] = epoch;
    place[static_cast<std::size_t>(centre)] = 0;
    std::size_t head = 0;
    for (int depth = 0; depth < hops; ++depth)
      for (const std::size_t end = ball.size(); head < end; ++head)
        for (Offset e = graph.start[ball[head]]; e < graph.start[ball[head] + 1]; ++e) {
          const std::size_t to = static_cast<std::size_t>(graph.to[e]);
          if (seen[to] == epoch) continue;
          seen[to] = epoch;
          place[to] = ball.size();
          ball.push_back(graph.to[e]);
          Sum there = way[head];
          if (generator[e] >= 0) there.push_back(edge(ball[head], e));
          way.push_back(reduced(there, classes));
        }
  }

  // Calls visit(sum) for every loop that an edge closes inside the ball.
  template <class Visit>
  void each(Node centre, const Visit& visit) {
    grow(centre);
    for (std::size_t a = 0; a < ball.size(); ++a)
      for (Offset e = graph.start[ball[a]]; e < graph.start[ball[a] + 1]; ++e) {
        const std::size_t to = static_cast<std::size_t>(graph.to[e]);
        if (seen[to] != epoch || place[to] <= a) continue;
        Sum sum = way[a];
        if (generator[e] >= 0) sum.push_back(edge(ball[a], e));
        for (const Term& term : way[place[to]]) add(sum, term.first, -term.second);
        visit(reduced(sum, classes));
      }
  }
};

// Settles what can be settled in sums of one or two generators. Returns true when something was.
bool settle_sum(const Sum& sum, Classes& classes) {
  if (sum.size() == 1) {
    classes.make_zero(sum[0].first);
    return true;
  }
  if (sum.size() == 2 && std::abs(sum[0].second) == 1 && std::abs(sum[1].second) == 1) {
    classes.merge(sum[0].first, sum[1].first, sum[0].second == sum[1].second ? -1 : 1);
    return true;
  }
  return false;
}

// Elimination of the sums that are left.
class Elimination {
 public:
  void add_row(const Sum& sum) {
    std::map<Node, std::int64_t> row;
    for (const Term& term : sum) row[term.first] = modulo(term.second);
    reduce(row);
    if (row.empty()) return;
    const std::int64_t scale = inverse(row.begin()->second);
    for (auto& [g, value] : row) value = modulo(value * scale);
    const Node pivot = row.begin()->first;
    rows_[pivot] = std::move(row);
  }

  // Whether the sums force a generator to zero.
  bool zero(Node g) const {
    std::map<Node, std::int64_t> row{{g, 1}};
    reduce(row);
    return row.empty();
  }

 private:
  static constexpr std::int64_t prime = 2147483629;
  static std::int64_t modulo(std::int64_t x) { return ((x % prime) + prime) % prime; }

  static std::int64_t inverse(std::int64_t x) {
    std::int64_t result = 1;
    for (std::int64_t power = prime - 2; power > 0; power /= 2) {
      if (power % 2 == 1) result = result * x % prime;
      x = x * x % prime;
    }
    return result;
  }

  // Takes multiples of the rows off until no entry has a row.
  void reduce(std::map<Node, std::int64_t>& row) const {
    for (auto entry = row.begin(); entry != row.end();) {
      const Node g = entry->first;
      const auto known = rows_.find(g);
      if (known == rows_.end()) {
        ++entry;
        continue;
      }
      const std::int64_t factor = entry->second;
      for (const auto& [other, value] : known->second) {
        auto place = row.emplace(other, 0).first;
        place->second = modulo(place->second - factor * value);
      }
      for (auto place = row.begin(); place != row.end();) place = place->second == 0 ? row.erase(place) : ++place;
      entry = row.upper_bound(g);
    }
  }

  std::map<Node, std::map<Node, std::int64_t>> rows_;
};

// essential[g] = 1 for generators whose loop is not a sum of loops inside balls of `hops` edges. `order` says in which
// order nodes are looked at; near the root of the tree first is fastest.
void essential_loops(In1<Offset> start, In1<Node> to, In1<Node> generator, In1<Node> order, int hops,
                     Out1<std::uint8_t> essential) {
  const std::vector<double> no_lengths;
  const Graph graph{n_rows(start) - 1, start.data(), to.data(), no_lengths.data()};
  const std::size_t n = static_cast<std::size_t>(graph.n);
  if (n_rows(generator) != n_rows(to) || n_rows(order) != graph.n)
    throw std::invalid_argument("essential_loops: one generator for each stored edge, one place for each node");
  check_edges(start, to, "essential_loops");
  if (!all_below(order, graph.n)) throw std::invalid_argument("essential_loops: the order leads outside the graph");
  for (Offset e = 0; e < n_rows(generator); ++e)
    if (generator.data()[e] < -1 || generator.data()[e] >= n_rows(essential))
      throw std::invalid_argument("essential_loops: a generator has no place in the result");
  Classes classes(essential.shape(0));
  Loops loops{graph, generator.data(), hops, classes, std::vector<Offset>(n, 0), std::vector<std::size_t>(n, 0), {},
              {}};
  Watch watch;
  std::vector<std::uint8_t> done(n, 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t o = 0; o < n; ++o) {
      const Node centre = order.data()[o];
      if (o % 64 == 0) watch.check();
      if (done[static_cast<std::size_t>(centre)]) continue;
      bool open = false;
      loops.each(centre, [&](const Sum& sum) {
        if (settle_sum(sum, classes))
          changed = true;
        else
          open |= !sum.empty();
      });
      done[static_cast<std::size_t>(centre)] = !open;
    }
  }
  Elimination rest;
  for (std::size_t o = 0; o < n; ++o) {
    if (o % 64 == 0) watch.check();
    if (!done[o])
      loops.each(static_cast<Node>(o), [&](const Sum& sum) {
        if (!sum.empty()) rest.add_row(sum);
      });
  }
  for (std::size_t g = 0; g < essential.shape(0); ++g) {
    const auto [root, sign] = classes.find(static_cast<Node>(g));
    essential.data()[g] = sign != 0 && !rest.zero(root);
  }
}

}  // namespace

void bind_essential_loops(nb::module_& m) {
  using namespace nb::literals;
  m.def("essential_loops", &essential_loops, "start"_a.noconvert(), "to"_a.noconvert(), "generator"_a.noconvert(),
        "order"_a.noconvert(), "hops"_a, "essential"_a.noconvert(), nb::call_guard<WithoutGil>(),
        "Mark the edges outside a spanning tree whose loop is not a sum of loops inside balls of `hops` edges.");
}

}  // namespace lowdim
