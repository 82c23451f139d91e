// The repulsive field of a map behind one interface: a tree in one to three dimensions, all pairs in any number.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "maps/repulsion_tree.hpp"

namespace lowdim {

template <class T>
class Field {
 public:
  virtual ~Field() = default;
  // The points are now at y (n x D). `fresh`: do not reuse lists of earlier steps.
  virtual void follow(const T* y, bool fresh, int n_threads) = 0;
  virtual std::int64_t chunks() const = 0;
  // Forces on the points of one chunk, into their rows of `out`; the sum of their kernel values, their own included.
  virtual double chunk(std::int64_t c, T* out) const = 0;
};

template <class T, int D>
struct Pushed {
  Pack<T> force[D] = {}, total = {};
};

// What the bodies add to the forces on points x.
template <class T, int D, class Body>
LOWDIM_INLINE inline void push_all(const Pack<T>* x, const Body* bodies, const std::int32_t* list, std::int64_t count,
                                   const Student<T>& kernel, Pushed<T, D>& pushed) {
  if (kernel.plain)
    push<T, D, true>(x, bodies, list, count, kernel, pushed.force, pushed.total);
  else
    push<T, D, false>(x, bodies, list, count, kernel, pushed.force, pushed.total);
}

// Points [first, first + lanes) as D packs; lanes beyond the last repeat it.
template <class T, int D>
LOWDIM_INLINE inline void load_points(const Point<T, D>* points, std::int64_t first, std::int64_t n, Pack<T>* x) {
  alignas(64) T at[D][lanes_of<T>];
  for (std::int64_t l = 0; l < lanes_of<T>; ++l)
    for (int c = 0; c < D; ++c) at[c][l] = points[std::min(first + l, n - 1)].at[c];
  for (int c = 0; c < D; ++c) load_pack<T>(x[c], at[c]);
}

// The forces of `count` lanes into rows of `out` (those named by `order`, where there is one); the sum of the totals.
template <class T, int D>
LOWDIM_INLINE inline double spill(const Pushed<T, D>& pushed, const std::int32_t* order, std::int64_t first,
                                  std::int64_t count, T* out) {
  double sum = 0;
  for (std::int64_t l = 0; l < count; ++l) {
    const std::int64_t row = order == nullptr ? first + l : order[first + l];
    for (int c = 0; c < D; ++c) out[row * D + c] = pushed.force[c][l];
    sum += static_cast<double>(pushed.total[l]);
  }
  return sum;
}

template <class T, int D>
class AllPairs : public Field<T> {
 public:
  AllPairs(std::int64_t n, double dof) : n_(n), kernel_(dof), points_(static_cast<std::size_t>(n)) {}

  void follow(const T* y, bool, int) override {
    for (std::int64_t i = 0; i < n_; ++i) std::copy(y + i * D, y + (i + 1) * D, points_[i].at);
  }

  std::int64_t chunks() const override { return (n_ + lanes_of<T> - 1) / lanes_of<T>; }

  double chunk(std::int64_t c, T* out) const override {
    double sum = 0;
    dispatch([&]() LOWDIM_INLINE {
      Pack<T> x[D];
      Pushed<T, D> pushed;
      const std::int64_t first = c * lanes_of<T>;
      load_points<T, D>(points_.data(), first, n_, x);
      push_all<T, D>(x, points_.data(), nullptr, n_, kernel_, pushed);
      sum = spill<T, D>(pushed, nullptr, first, std::min(lanes_of<T>, n_ - first), out);
    });
    return sum;
  }

 private:
  std::int64_t n_;
  Student<T> kernel_;
  std::vector<Point<T, D>> points_;
};

// More than three dimensions: nobody looks at such maps, so this one is plain.
template <class T>
class AllPairsAny : public Field<T> {
 public:
  AllPairsAny(std::int64_t n, std::int64_t dims, double dof) : n_(n), dims_(dims), kernel_(dof) {}

  void follow(const T* y, bool, int) override { y_ = y; }
  std::int64_t chunks() const override { return n_; }

  double chunk(std::int64_t i, T* out) const override {
    double sum = 0;
    std::vector<double> force(static_cast<std::size_t>(dims_), 0.0);
    for (std::int64_t j = 0; j < n_; ++j) {
      double s = 0;
      for (std::int64_t c = 0; c < dims_; ++c) {
        const double d = static_cast<double>(y_[i * dims_ + c]) - static_cast<double>(y_[j * dims_ + c]);
        s += d * d;
      }
      const double q = 1 / (1 + s * kernel_.over_dof);
      const double w = kernel_.plain ? q : exp_negative(kernel_.power * log_positive(std::max(q, 1e-300)));
      sum += w;
      for (std::int64_t c = 0; c < dims_; ++c)
        force[c] += w * q * (static_cast<double>(y_[i * dims_ + c]) - static_cast<double>(y_[j * dims_ + c]));
    }
    for (std::int64_t c = 0; c < dims_; ++c) out[i * dims_ + c] = static_cast<T>(force[c]);
    return sum;
  }

 private:
  std::int64_t n_, dims_;
  Student<double> kernel_;
  const T* y_ = nullptr;
};

template <class T, int D>
class TreeField : public Field<T> {
 public:
  TreeField(std::int64_t n, double theta, double dof)
      : n_(n), theta_(static_cast<T>(theta)), kernel_(dof), tree_(n, dof), lists_(static_cast<std::size_t>(chunks())) {}

  void follow(const T* y, bool fresh, int n_threads) override {
    if (!fresh && age_ < renewal) {
      tree_.refit(y, n_threads);
      // Lists made for a smaller map would take too much as one.
      if (tree_.nodes()[0].spread() <= listed_spread_ * T(1.2)) {
        ++age_;
        return;
      }
    }
    tree_.build(y, n_threads);
    parallel_for(chunks(), 1, n_threads, [&](std::int64_t c, std::int64_t, std::int64_t) { renew(c); });
    listed_spread_ = tree_.nodes()[0].spread();
    age_ = 1;
  }

  std::int64_t chunks() const override { return (tree_.groups() + in_chunk - 1) / in_chunk; }

  double chunk(std::int64_t c, T* out) const override {
    double sum = 0;
    const Lists& lists = lists_[c];
    dispatch([&]() LOWDIM_INLINE {
      for (std::int64_t g = c * in_chunk; g < std::min(tree_.groups(), (c + 1) * in_chunk); ++g) {
        const std::int64_t at = g - c * in_chunk, end = std::min(n_, (g + 1) * Tree<T, D>::group);
        const std::int64_t whole = lists.whole_starts[at], single = lists.single_starts[at];
        for (std::int64_t first = g * Tree<T, D>::group; first < end; first += lanes_of<T>) {
          Pack<T> x[D];
          Pushed<T, D> pushed;
          load_points<T, D>(tree_.points(), first, n_, x);
          push_all<T, D>(x, tree_.nodes(), lists.whole.data() + whole, lists.whole_starts[at + 1] - whole, kernel_,
                         pushed);
          push_all<T, D>(x, tree_.points(), lists.single.data() + single, lists.single_starts[at + 1] - single, kernel_,
                         pushed);
          sum += spill<T, D>(pushed, tree_.order(), first, std::min(lanes_of<T>, end - first), out);
        }
      }
    });
    return sum;
  }

 private:
  static constexpr std::int64_t in_chunk = 16;  // groups of points
  static constexpr int renewal = 10;            // steps that lists are used for

  struct Lists {
    std::vector<std::int32_t> whole, whole_starts, single, single_starts;
  };

  void renew(std::int64_t c) {
    Lists& lists = lists_[c];
    std::vector<std::int32_t> open;
    lists.whole.clear(), lists.single.clear();
    lists.whole_starts.assign(1, 0), lists.single_starts.assign(1, 0);
    for (std::int64_t g = c * in_chunk; g < std::min(tree_.groups(), (c + 1) * in_chunk); ++g) {
      T low[D], high[D];
      tree_.box(g, low, high);
      tree_.list(low, high, theta_, open, lists.whole, lists.single);
      lists.whole_starts.push_back(static_cast<std::int32_t>(lists.whole.size()));
      lists.single_starts.push_back(static_cast<std::int32_t>(lists.single.size()));
    }
  }

  std::int64_t n_;
  T theta_;
  Student<T> kernel_;
  Tree<T, D> tree_;
  std::vector<Lists> lists_;
  int age_ = renewal;
  T listed_spread_{0};
};

// theta = 0: all pairs.
template <class T>
std::unique_ptr<Field<T>> make_field(std::int64_t n, std::int64_t dims, double theta, double dof) {
  // Lists of nodes and points are 32 bits; the longest is that of a chunk, all points for each of its groups.
  if (n > most_numbered / 2) throw std::invalid_argument("t-SNE: at most 2^30 rows; take fewer");
  if (theta > 0 && n > 4 && dims <= most_dims) {
    if (dims == 1) return std::make_unique<TreeField<T, 1>>(n, theta, dof);
    if (dims == 2) return std::make_unique<TreeField<T, 2>>(n, theta, dof);
    return std::make_unique<TreeField<T, 3>>(n, theta, dof);
  }
  if (dims == 1) return std::make_unique<AllPairs<T, 1>>(n, dof);
  if (dims == 2) return std::make_unique<AllPairs<T, 2>>(n, dof);
  if (dims == 3) return std::make_unique<AllPairs<T, 3>>(n, dof);
  return std::make_unique<AllPairsAny<T>>(n, dims, dof);
}

}  // namespace lowdim
