// The nearest point of a polyline for every row: exact, and the largest parameter where several are equally near.
//
// Boxes over 4, 8, 16, ... consecutive segments are searched nearest first, and left out only where they are farther
// than the best point by more than rounding can explain; so the answer is that of looking at every segment. Cells that
// are missing (NaN) leave their coordinate out of all distances of that row.
#include <cmath>
#include <limits>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"

namespace lowdim {
namespace {

constexpr std::int64_t kLeaf = 4;    // segments of a lowest box
constexpr std::int64_t kRows = 256;  // of a chunk

struct Nearest {
  double squared = std::numeric_limits<double>::infinity();
  std::int64_t segment = 0;
  double t = 0;
};

// Boxes of one level after those of the level below; the last one is the root.
struct Tree {
  const double* vertices;
  std::int64_t n_segments, d;
  std::vector<std::int64_t> first, count;  // of a level
  std::vector<double> box;                 // d lower bounds, then d upper ones
  double scale = 0;                        // squared diagonal of the root

  Tree(const double* v, std::int64_t segments, std::int64_t columns) : vertices(v), n_segments(segments), d(columns) {
    std::int64_t boxes = 0;
    for (std::int64_t c = (n_segments + kLeaf - 1) / kLeaf;; c = (c + 1) / 2) {
      first.push_back(boxes);
      count.push_back(c);
      boxes += c;
      if (c == 1) break;
    }
    box.resize(static_cast<std::size_t>(2 * d * boxes));
    for (std::int64_t b = 0; b < count[0]; ++b) leaf(b);
    for (std::size_t level = 1; level < first.size(); ++level)
      for (std::int64_t b = 0; b < count[level]; ++b) join(level, b);
    const double* root = low(first.back());
    for (std::int64_t k = 0; k < d; ++k) scale += (root[d + k] - root[k]) * (root[d + k] - root[k]);
  }

  double* low(std::int64_t b) { return box.data() + 2 * d * b; }
  const double* low(std::int64_t b) const { return box.data() + 2 * d * b; }

  void leaf(std::int64_t b) {
    const std::int64_t begin = b * kLeaf, end = std::min(n_segments, begin + kLeaf);
    for (std::int64_t k = 0; k < d; ++k) {
      double least = vertices[begin * d + k], most = least;
      for (std::int64_t j = begin + 1; j <= end; ++j) {
        least = std::min(least, vertices[j * d + k]);
        most = std::max(most, vertices[j * d + k]);
      }
      low(b)[k] = least;
      low(b)[d + k] = most;
    }
  }

  void join(std::size_t level, std::int64_t b) {
    const double* left = low(first[level - 1] + 2 * b);
    const double* right = 2 * b + 1 < count[level - 1] ? left + 2 * d : left;
    double* out = low(first[level] + b);
    for (std::int64_t k = 0; k < d; ++k) {
      out[k] = std::min(left[k], right[k]);
      out[d + k] = std::max(left[d + k], right[d + k]);
    }
  }
};

// A row and which of its cells are there.
struct Row {
  const double* x;
  const std::int64_t* seen;  // null where all are
  std::int64_t n_seen;
  std::int64_t at(std::int64_t i) const { return seen ? seen[i] : i; }
};

double outside(const Tree& tree, std::int64_t b, const Row& row) {
  const double* low = tree.low(b);
  double sum = 0;
  for (std::int64_t i = 0; i < row.n_seen; ++i) {
    const std::int64_t k = row.at(i);
    const double gap = std::max(std::max(low[k] - row.x[k], row.x[k] - low[tree.d + k]), 0.0);
    sum += gap * gap;
  }
  return sum;
}

void compare(const Tree& tree, std::int64_t segment, const Row& row, Nearest& best) {
  const double *a = tree.vertices + segment * tree.d, *b = a + tree.d;
  double along = 0, length = 0;
  for (std::int64_t i = 0; i < row.n_seen; ++i) {
    const std::int64_t k = row.at(i);
    const double u = b[k] - a[k];
    along += (row.x[k] - a[k]) * u;
    length += u * u;
  }
  // Where what is seen does not move along the segment, its points are equally near: the largest parameter.
  const double t = length > 0 ? std::min(std::max(along / length, 0.0), 1.0) : 1.0;
  double squared = 0;
  for (std::int64_t i = 0; i < row.n_seen; ++i) {
    const std::int64_t k = row.at(i);
    // From the nearer end, so that both segments at a vertex find the same distance to it.
    const double gap = t < 0.5 ? row.x[k] - a[k] - t * (b[k] - a[k]) : row.x[k] - b[k] + (1 - t) * (b[k] - a[k]);
    squared += gap * gap;
  }
  const bool later = segment > best.segment || (segment == best.segment && t > best.t);
  if (squared < best.squared || (squared == best.squared && later)) best = {squared, segment, t};
}

void search(const Tree& tree, std::size_t level, std::int64_t b, double bound, const Row& row, Nearest& best) {
  if (bound > best.squared + (1e-10 * best.squared + 1e-20 * tree.scale)) return;
  if (level == 0) {
    const std::int64_t end = std::min(tree.n_segments, (b + 1) * kLeaf);
    for (std::int64_t j = b * kLeaf; j < end; ++j) compare(tree, j, row, best);
    return;
  }
  const std::int64_t left = 2 * b, below = tree.first[level - 1];
  const double to_left = outside(tree, below + left, row);
  if (left + 1 >= tree.count[level - 1]) return search(tree, level - 1, left, to_left, row, best);
  const double to_right = outside(tree, below + left + 1, row);
  const bool swap = to_right < to_left;
  search(tree, level - 1, left + swap, swap ? to_right : to_left, row, best);
  search(tree, level - 1, left + !swap, swap ? to_left : to_right, row, best);
}

void project(In2<double> X, In2<double> vertices, Out1<std::int64_t> segments, Out1<double> t, Out1<double> squared,
             int n_threads) {
  const std::int64_t n = n_rows(X), d = n_columns(X);
  if (n_columns(vertices) != d || n_rows(vertices) < 2)
    throw std::invalid_argument("project_polyline: there must be two vertices or more, with as many columns as X");
  if (n_rows(segments) != n || n_rows(t) != n || n_rows(squared) != n)
    throw std::invalid_argument("project_polyline: the results must have one entry for each row of X");
  WithoutGil free;
  const Tree tree(vertices.data(), n_rows(vertices) - 1, d);
  parallel_for(n, kRows, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::vector<std::int64_t> seen(static_cast<std::size_t>(d));
    for (std::int64_t i = begin; i < end; ++i) {
      const double* x = X.data() + i * d;
      std::int64_t n_seen = 0;
      for (std::int64_t k = 0; k < d; ++k)
        if (!std::isnan(x[k])) seen[n_seen++] = k;
      const Row row{x, n_seen == d ? nullptr : seen.data(), n_seen};
      Nearest best;
      search(tree, tree.first.size() - 1, 0, 0.0, row, best);
      segments.data()[i] = best.segment;
      t.data()[i] = best.t;
      squared.data()[i] = best.squared;
    }
  });
}

}  // namespace

void bind_polyline(nb::module_& m) {
  using namespace nb::literals;
  m.def("project_polyline", &project, "X"_a.noconvert(), "vertices"_a.noconvert(), "segments"_a.noconvert(),
        "t"_a.noconvert(), "squared"_a.noconvert(), "n_threads"_a,
        "Segment, share of it and squared distance of the polyline's point nearest to each row.");
}

}  // namespace lowdim
