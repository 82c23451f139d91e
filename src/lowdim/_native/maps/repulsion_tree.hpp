// Forces that push every point of a map away from every other: all pairs, or groups of far points at once.
//
// The kernel is Student's t: w(s) = q^a with q = 1 / (1 + s / dof), a = (dof + 1) / 2 and s the squared distance. A
// point at y feels the sum over the others of h (y - y_j) with h = w q, and Z is the sum of all w. Sixteen (eight)
// points that lie close together are the lanes of a vector; what pushes them comes one by one.
//
// A balanced tree over the points (split at the median of the widest side) serves as in Barnes and Hut (1986), with
// three differences. A node may be taken as one body where its size is below theta times sqrt(dof + distance²): the
// kernel is flat below a distance of sqrt(dof), so that near small nodes need no opening. Beside its mass a node has
// its second moments M, and the second-order term of the expansion about its mean is added (the first vanishes). And
// which nodes push which points is listed once for several steps: masses, means and moments follow the points in every
// step, so that a list that is a little old costs accuracy alone, and no point is ever lost.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/exp_log.hpp"
#include "common/parallel.hpp"
#include "common/vector_pack.hpp"

namespace lowdim {

constexpr int most_dims = 3;  // that a tree is built for

// What pushes: the points of a node. `moments`: sums of (y - mean)(y - mean)', the upper triangle row by row.
template <class T, int D>
struct Node {
  static constexpr int n_moments = D * (D + 1) / 2;
  T at[D];
  T mass;
  T moments[n_moments];

  LOWDIM_INLINE T spread() const {
    T sum{0};
    for (int c = 0, k = 0; c < D; k += D - c, ++c) sum += moments[k];
    return sum;
  }
};

// Of each of them, alone.
template <class T, int D>
struct Point {
  T at[D];
};

template <class T>
struct Student {
  T over_dof, power;  // 1 / dof, a = (dof + 1) / 2
  T w1, w2, h1, h2;   // w' = w1 w q, w'' = w2 w q² (in s); the same for h
  bool plain;         // dof = 1

  explicit Student(double dof) {
    const double a = (dof + 1) / 2;
    over_dof = static_cast<T>(1 / dof), power = static_cast<T>(a), plain = dof == 1;
    w1 = static_cast<T>(-a / dof), w2 = static_cast<T>(a * (a + 1) / (dof * dof));
    h1 = static_cast<T>(-(a + 1) / dof), h2 = static_cast<T>((a + 1) * (a + 2) / (dof * dof));
  }
};

// Offsets d from a body to the points x, and 1 + s / dof.
template <class T, int D, bool Plain>
LOWDIM_INLINE inline void offsets(const Pack<T>* x, const T* at, const Student<T>& kernel, Pack<T>* d, Pack<T>& base) {
  Pack<T> s = Pack<T>{};
  for (int c = 0; c < D; ++c) {
    d[c] = x[c] - at[c];
    s += d[c] * d[c];
  }
  if constexpr (!Plain) s = s * kernel.over_dof;
  base = s + T{1};
}

template <class T, int D, bool Plain>
LOWDIM_INLINE inline void push_point(const Pack<T>* d, const Pack<T>& q, const Student<T>& kernel, Pack<T>* f,
                                     Pack<T>& z) {
  Pack<T> w = q;
  if constexpr (!Plain) power_pack<T>(w, q, kernel.power);
  z += w;
  const Pack<T> h = w * q;
  for (int c = 0; c < D; ++c) f[c] += h * d[c];
}

template <class T, int D, bool Plain>
LOWDIM_INLINE inline void push_node(const Pack<T>* d, const Pack<T>& q, const Node<T, D>& node,
                                    const Student<T>& kernel, Pack<T>* f, Pack<T>& z) {
  Pack<T> u[D];  // M d
  for (int c = 0; c < D; ++c) u[c] = Pack<T>{};
  for (int c = 0, k = 0; c < D; ++c)
    for (int e = c; e < D; ++e, ++k) {
      u[c] += d[e] * node.moments[k];
      if (e > c) u[e] += d[c] * node.moments[k];
    }
  Pack<T> v = d[0] * u[0];
  for (int c = 1; c < D; ++c) v += d[c] * u[c];
  const T spread = node.spread();
  Pack<T> w = q;
  if constexpr (!Plain) power_pack<T>(w, q, kernel.power);
  const Pack<T> h = w * q, twice = (v + v) * q;
  z += w * (node.mass + q * (kernel.w1 * spread + twice * kernel.w2));
  const Pack<T> along = h * (node.mass + q * (kernel.h1 * spread + twice * kernel.h2));
  const Pack<T> across = h * q * (2 * kernel.h1);
  for (int c = 0; c < D; ++c) f[c] += along * d[c] + across * u[c];
}

// force[c] += and total += what the bodies do to the points x (D packs). Two at a time: one division serves both.
template <class T, int D, bool Plain, class Body>
LOWDIM_INLINE inline void push(const Pack<T>* x, const Body* bodies, const std::int32_t* list, std::int64_t count,
                               const Student<T>& kernel, Pack<T>* force, Pack<T>& total) {
  constexpr bool single = std::is_same_v<Body, Point<T, D>>;
  Pack<T> f[D], at[D], z = total;
  for (int c = 0; c < D; ++c) f[c] = force[c], at[c] = x[c];
  const auto act = [&](const Pack<T>* d, const Pack<T>& q, const Body& body) LOWDIM_INLINE {
    if constexpr (single)
      push_point<T, D, Plain>(d, q, kernel, f, z);
    else
      push_node<T, D, Plain>(d, q, body, kernel, f, z);
  };
  std::int64_t e = 0;
  for (; e + 2 <= count; e += 2) {
    const Body& one = bodies[list == nullptr ? e : list[e]];
    const Body& two = bodies[list == nullptr ? e + 1 : list[e + 1]];
    Pack<T> d1[D], d2[D], base1, base2;
    offsets<T, D, Plain>(at, one.at, kernel, d1, base1);
    offsets<T, D, Plain>(at, two.at, kernel, d2, base2);
    const Pack<T> both = T{1} / (base1 * base2);
    act(d1, both * base2, one);
    act(d2, both * base1, two);
  }
  if (e < count) {
    const Body& one = bodies[list == nullptr ? e : list[e]];
    Pack<T> d1[D], base1;
    offsets<T, D, Plain>(at, one.at, kernel, d1, base1);
    act(d1, T{1} / base1, one);
  }
  for (int c = 0; c < D; ++c) force[c] = f[c];
  total = z;
}

// Which rows a node has and how it splits: a function of n alone. Nodes come level by level, children side by side.
struct Shape {
  struct Part {
    std::int64_t first, last;
    std::int32_t child;  // the first of two; -1 for a leaf
  };
  std::vector<Part> nodes;
  std::vector<std::int64_t> levels;  // where each level starts, and where the last one ends

  // Nodes of more than `group` rows split into whole groups, smaller ones in halves down to `leaf` rows.
  Shape(std::int64_t n, std::int64_t group, std::int64_t leaf) {
    nodes.push_back({0, n, -1});
    for (std::size_t begin = 0; begin < nodes.size();) {
      const std::size_t end = nodes.size();
      levels.push_back(static_cast<std::int64_t>(begin));
      for (std::size_t p = begin; p < end; ++p) {
        const std::int64_t first = nodes[p].first, last = nodes[p].last, size = last - first;
        if (size <= leaf) continue;
        const std::int64_t middle = first + (size > group ? (size + group - 1) / group / 2 * group : (size + 1) / 2);
        nodes[p].child = static_cast<std::int32_t>(nodes.size());
        nodes.push_back({first, middle, -1});
        nodes.push_back({middle, last, -1});
      }
      begin = end;
    }
    levels.push_back(static_cast<std::int64_t>(nodes.size()));
  }
};

template <class T, int D>
class Tree {
 public:
  static constexpr std::int64_t group = 16, leaf = 4;

  Tree(std::int64_t n, double dof)
      : n_(n),
        dof_(static_cast<T>(dof)),
        shape_(n, group, leaf),
        order_(static_cast<std::size_t>(n)),
        keys_(order_.size()),
        nodes_(shape_.nodes.size()),
        points_(order_.size()) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  std::int64_t groups() const { return (n_ + group - 1) / group; }
  const std::int32_t* order() const { return order_.data(); }
  const Node<T, D>* nodes() const { return nodes_.data(); }
  const Point<T, D>* points() const { return points_.data(); }

  // Sort the points into the tree, then `refit`. Level by level, so that a task stays short.
  void build(const T* y, int n_threads) {
    for (std::size_t level = 0; level + 1 < shape_.levels.size(); ++level) {
      const std::int64_t begin = shape_.levels[level], count = shape_.levels[level + 1] - begin;
      parallel_for(count, std::max<std::int64_t>(1, count / 64), count > 1 && n_ > 4096 ? n_threads : 1,
                   [&](std::int64_t first, std::int64_t last, std::int64_t) {
                     for (std::int64_t p = begin + first; p < begin + last; ++p) split(shape_.nodes[p], y);
                   });
    }
    refit(y, n_threads);
  }

  // Means, masses and moments of all nodes, from the points where they are now.
  void refit(const T* y, int n_threads) {
    parallel_for(n_, 8192, n_ > 32768 ? n_threads : 1, [&](std::int64_t first, std::int64_t last, std::int64_t) {
      for (std::int64_t i = first; i < last; ++i)
        std::copy(y + order_[i] * std::int64_t{D}, y + (order_[i] + std::int64_t{1}) * D, points_[i].at);
    });
    for (std::size_t level = shape_.levels.size() - 1; level-- > 0;) {
      const std::int64_t begin = shape_.levels[level], count = shape_.levels[level + 1] - begin;
      parallel_for(count, 4096, count > 16384 ? n_threads : 1,
                   [&](std::int64_t first, std::int64_t last, std::int64_t) {
                     for (std::int64_t p = begin + first; p < begin + last; ++p) gather(p);
                   });
    }
  }

  // Appends what pushes the points of a box: whole nodes where they are small enough, else their points.
  void list(const T* low, const T* high, T theta, std::vector<std::int32_t>& open, std::vector<std::int32_t>& whole,
            std::vector<std::int32_t>& single) const {
    // A cube of side h has D h² / 12 as its spread, for each of its points. Late in a descent the gradient is a
    // hundredth of the forces it is the difference of: 0.6 keeps it within 2 % there and takes a fifth longer (MNIST,
    // theta = 0.5).
    const T side = T(0.6) * theta, limit = side * side / T{12} * T{D};
    open.assign(1, 0);
    while (!open.empty()) {
      const std::int32_t p = open.back();
      open.pop_back();
      const Node<T, D>& node = nodes_[p];
      T square = dof_;
      for (int c = 0; c < D; ++c) {
        const T off = std::max(T{0}, std::max(low[c] - node.at[c], node.at[c] - high[c]));
        square += off * off;
      }
      const Shape::Part& part = shape_.nodes[p];
      if (node.spread() <= limit * square * node.mass) {
        whole.push_back(p);
      } else if (part.child >= 0) {
        open.push_back(part.child);
        open.push_back(part.child + 1);
      } else {
        for (std::int64_t i = part.first; i < part.last; ++i) single.push_back(static_cast<std::int32_t>(i));
      }
    }
  }

  void box(std::int64_t g, T* low, T* high) const {
    for (int c = 0; c < D; ++c) low[c] = high[c] = points_[g * group].at[c];
    for (std::int64_t i = g * group; i < std::min(n_, (g + 1) * group); ++i)
      for (int c = 0; c < D; ++c)
        low[c] = std::min(low[c], points_[i].at[c]), high[c] = std::max(high[c], points_[i].at[c]);
  }

 private:
  void gather(std::int64_t p) {
    const Shape::Part& part = shape_.nodes[p];
    Node<T, D>& node = nodes_[p];
    if (part.child >= 0)
      join(nodes_[part.child], nodes_[part.child + 1], node);
    else
      collect(points_.data() + part.first, part.last - part.first, node);
  }

  static void join(const Node<T, D>& a, const Node<T, D>& b, Node<T, D>& node) {
    node.mass = a.mass + b.mass;
    const T share = b.mass / node.mass, weight = a.mass * share;
    for (int c = 0, k = 0; c < D; ++c) {
      node.at[c] = a.at[c] + (b.at[c] - a.at[c]) * share;
      for (int e = c; e < D; ++e, ++k)
        node.moments[k] = a.moments[k] + b.moments[k] + weight * (b.at[c] - a.at[c]) * (b.at[e] - a.at[e]);
    }
  }

  static void collect(const Point<T, D>* points, std::int64_t count, Node<T, D>& node) {
    T sum[D] = {};
    for (std::int64_t i = 0; i < count; ++i)
      for (int c = 0; c < D; ++c) sum[c] += points[i].at[c];
    node.mass = static_cast<T>(count);
    for (int c = 0; c < D; ++c) node.at[c] = sum[c] / node.mass;
    for (int k = 0; k < Node<T, D>::n_moments; ++k) node.moments[k] = T{0};
    for (std::int64_t i = 0; i < count; ++i)
      for (int c = 0, k = 0; c < D; ++c)
        for (int e = c; e < D; ++e, ++k)
          node.moments[k] += (points[i].at[c] - node.at[c]) * (points[i].at[e] - node.at[e]);
  }

  // Rows of the node: the lower half along the widest side first.
  void split(const Shape::Part& node, const T* y) {
    if (node.child < 0) return;
    T low[D], high[D];
    for (int c = 0; c < D; ++c) low[c] = std::numeric_limits<T>::max(), high[c] = std::numeric_limits<T>::lowest();
    for (std::int64_t i = node.first; i < node.last; ++i)
      for (int c = 0; c < D; ++c) {
        const T value = y[order_[i] * std::int64_t{D} + c];
        low[c] = std::min(low[c], value), high[c] = std::max(high[c], value);
      }
    int widest = 0;
    for (int c = 1; c < D; ++c)
      if (high[c] - low[c] > high[widest] - low[widest]) widest = c;
    for (std::int64_t i = node.first; i < node.last; ++i)
      keys_[i] = {y[order_[i] * std::int64_t{D} + widest], order_[i]};
    const std::int64_t middle = shape_.nodes[node.child].last;
    std::nth_element(keys_.begin() + node.first, keys_.begin() + middle, keys_.begin() + node.last);
    for (std::int64_t i = node.first; i < node.last; ++i) order_[i] = keys_[i].second;
  }

  std::int64_t n_;
  T dof_;
  Shape shape_;
  std::vector<std::int32_t> order_;
  std::vector<std::pair<T, std::int32_t>> keys_;
  std::vector<Node<T, D>> nodes_;
  std::vector<Point<T, D>> points_;  // in the order of the tree
};

}  // namespace lowdim
