// How nearest-neighbour descent measures pairs: dense rows, rows of bits, compressed sparse rows.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "neighbors/candidate_search.hpp"
#include "neighbors/cells/shared_formulas.hpp"
#include "neighbors/cells/shared_terms.hpp"
#include "neighbors/float_row_distances.hpp"

namespace lowdim {

namespace {

// ---- dense rows ----------------------------------------------------------------------------------------------------

// Calls body(metric) for the metric of that name: chosen once for each row, outside of the loops over others.
template <class Body>
void with_metric(std::string_view name, double p, const Body& body) {
  if (name == "squares") return body(Squares{});
  if (name == "manhattan") return body(Manhattan{});
  if (name == "chebyshev") return body(Chebyshev{});
  if (name == "hamming") return body(Differing{});
  if (name == "canberra") return body(Canberra{});
  if (name == "braycurtis" || name == "ruzicka") return body(BrayCurtis{});
  if (name == "jensenshannon") return body(JensenShannon{});
  if (name == "minkowski" && p == 3.0) return body(Cubes{});
  if (name == "minkowski") return body(Powers(static_cast<float>(p)));
  throw std::invalid_argument("no such metric");
}

// Rows of float32 padded with zeros to whole vectors. With `full`, they are sketches: row i stands for row order[i] of
// `full`, and |sketch a - sketch b| <= |a - b|.
class DenseSpace : public Space {
 public:
  DenseSpace(In2<float> table, const char* metric, double p, In1<float> sums, In2<float> full, In1<std::int32_t> order)
      : table_(table), metric_(metric), p_(p), sums_(sums), full_(full), order_(order) {
    const std::int64_t n = n_rows(table);
    require(n <= most_numbered && n_columns(table) > 0 && n_columns(table) % float_lanes == 0);
    with_metric(metric_, p, [](const auto&) {});
    const bool relative = metric_ == "braycurtis" || metric_ == "ruzicka";
    require(n_rows(sums) == (relative ? n : 0));
    require(n_columns(full) == 0 || (metric_ == "squares" && n_rows(full) == n && n_rows(order) == n));
    require(n_columns(full) == 0 || all_below(order, n));
  }

  std::int64_t rows() const override { return n_rows(table_); }

  std::int64_t pair_cost() const override {
    std::int64_t each = 1;
    with_metric(metric_, p_, [&](const auto& metric) { each = std::decay_t<decltype(metric)>::heavy ? 10 : 1; });
    return each * n_columns(table_) / float_lanes;
  }

  void measure(std::int32_t row, const std::int32_t* ids, std::int64_t first, std::int64_t last, float* values,
               std::vector<float>&) const override {
    with_metric(metric_, p_, [&](const auto& metric) {
      dispatch([&]() LOWDIM_INLINE { measure_with(metric, row, ids, first, last, values); });
    });
  }

  bool only_bounds() const override { return n_columns(full_) > 0; }

  // Nearest sketch first, until no sketch is near enough.
  void confirm(std::int32_t row, const std::vector<Key>& offers, Key* out, std::int64_t filled,
               std::int64_t k) const override {
    dispatch([&]() LOWDIM_INLINE { confirm_each(row, offers, out, filled, k); });
  }

 private:
  template <class Metric>
  LOWDIM_INLINE void measure_with(const Metric& metric, std::int32_t row, const std::int32_t* ids, std::int64_t first,
                                  std::int64_t last, float* values) const {
    const std::int64_t d = n_columns(table_);
    const float *rows = table_.data(), *own = rows + row * d;
    const bool wide = width() == Width::avx512;
    for (std::int64_t c = first; c < last; c += float_lanes) {
      const float* others[float_lanes];
      for (std::int64_t j = 0; j < float_lanes; ++j) others[j] = rows + ids[c + j] * d;
      if (c + float_lanes < last)
        for (std::int64_t j = 0; j < float_lanes; ++j) prefetch(rows + ids[c + float_lanes + j] * d, 64);
      one_to_many(metric, own, others, d, wide, values + c);
    }
    if (n_rows(sums_) == 0)
      for (std::int64_t c = first; c < last; ++c) values[c] = Metric::value(values[c], 0.0f);
    else
      for (std::int64_t c = first; c < last; ++c)
        values[c] = Metric::value(values[c], sums_.data()[row] + sums_.data()[ids[c]]);
  }

  const float* full_row(std::int32_t i) const { return full_.data() + order_.data()[i] * n_columns(full_); }

  LOWDIM_INLINE void confirm_each(std::int32_t row, const std::vector<Key>& offers, Key* out, std::int64_t filled,
                                  std::int64_t k) const {
    const float* own = full_row(row);
    const std::int64_t d = n_columns(full_);
    for (std::size_t o = 0; o < offers.size(); ++o) {
      const Key offer = offers[o];
      if (o + 1 < offers.size()) prefetch(full_row(key_id(offers[o + 1])), d);
      const float limit = filled == k ? key_value(out[k - 1]) : std::numeric_limits<float>::infinity();
      if (key_value(offer) > limit) break;
      const std::int32_t id = key_id(offer);
      const Key key = make_key(one_pair(own, full_row(id), d, limit), id) & (offer | ~Key{1});
      if (filled == k && key >= out[k - 1]) continue;
      filled += filled < k;
      std::int64_t at = filled - 1;
      for (; at > 0 && out[at - 1] > key; --at) out[at] = out[at - 1];
      out[at] = key;
    }
  }

  In2<float> table_;
  std::string metric_;
  double p_;
  In1<float> sums_;
  In2<float> full_;
  In1<std::int32_t> order_;
};

// ---- rows of bits --------------------------------------------------------------------------------------------------

// Rows of True and False in d columns, 64 to a word, and how many of them are True.
class BitSpace : public Space {
 public:
  BitSpace(In2<std::uint64_t> words, In1<float> counts, std::int64_t d, const char* formula)
      : words_(words), counts_(counts), d_(d), formula_(formula) {
    require(n_rows(words) <= most_numbered && n_rows(counts) == n_rows(words) && d > 0 && d <= 64 * n_columns(words));
    with_formula(formula_, [](const auto&) {});
  }

  std::int64_t rows() const override { return n_rows(words_); }
  std::int64_t pair_cost() const override { return n_columns(words_); }

  void measure(std::int32_t row, const std::int32_t* ids, std::int64_t first, std::int64_t last, float* values,
               std::vector<float>&) const override {
    with_formula(formula_, [&](const auto& formula) {
      dispatch([&]() LOWDIM_INLINE {
        const std::int64_t width = n_columns(words_);
        const std::uint64_t *table = words_.data(), *own = table + row * width;
        const float *counts = counts_.data(), d = static_cast<float>(d_);
        for (std::int64_t c = first; c < last; ++c) {
          prefetch_words(table + ids[c + ahead] * width, width);
          const float both = static_cast<float>(shared_bits(own, table + ids[c] * width, width));
          values[c] = formula.of(both, counts[row], counts[ids[c]], d);
        }
      });
    });
  }

 private:
  static constexpr std::int64_t ahead = 8;
  LOWDIM_INLINE static void prefetch_words(const std::uint64_t* row, std::int64_t width) {
#ifdef LOWDIM_VECTORS
    for (std::int64_t w = 0; w < width; w += 8) __builtin_prefetch(row + w);
#else
    (void)row, (void)width;
#endif
  }

  In2<std::uint64_t> words_;
  In1<float> counts_;
  std::int64_t d_;
  std::string formula_;
};

// ---- sparse rows ---------------------------------------------------------------------------------------------------

// Compressed sparse rows in d columns and what each of them sums to. `overlap`: pairs share the lesser of two cells,
// else their product.
class SparseSpace : public Space {
 public:
  SparseSpace(In1<float> cells, In1<std::int32_t> columns, In1<std::int64_t> starts, In1<float> sums, std::int64_t d,
              bool overlap, const char* formula)
      : cells_(cells), columns_(columns), starts_(starts), sums_(sums), d_(d), overlap_(overlap), formula_(formula) {
    require(n_rows(sums) <= most_numbered && n_rows(starts) == n_rows(sums) + 1 && n_rows(columns) == n_rows(cells));
    require(are_borders(starts, n_rows(cells)) && d > 0 && all_below(columns, d));
    with_formula(formula_, [](const auto&) {});
  }

  std::int64_t rows() const override { return n_rows(sums_); }
  std::int64_t pair_cost() const override { return 1 + n_rows(cells_) / std::max<std::int64_t>(1, n_rows(sums_)); }
  std::int64_t columns_spread() const override { return d_; }

  void measure(std::int32_t row, const std::int32_t* ids, std::int64_t first, std::int64_t last, float* values,
               std::vector<float>& spread) const override {
    const std::int64_t begin = starts_.data()[row], end = starts_.data()[row + 1];
    for (std::int64_t e = begin; e < end; ++e) spread[columns_.data()[e]] = cells_.data()[e];
    for (std::int64_t c = first; c < last; ++c) {
      fetch(ids[c + ahead]);
      values[c] = overlap_ ? shared<Overlap>(ids[c], spread.data()) : shared<Product>(ids[c], spread.data());
    }
    for (std::int64_t e = begin; e < end; ++e) spread[columns_.data()[e]] = 0.0f;
    const float *sums = sums_.data(), d = static_cast<float>(d_);
    with_formula(formula_, [&](const auto& formula) {
      for (std::int64_t c = first; c < last; ++c) values[c] = formula.of(values[c], sums[row], sums[ids[c]], d);
    });
  }

 private:
  static constexpr std::int64_t ahead = 6;
  void fetch(std::int32_t id) const {
#ifdef LOWDIM_VECTORS
    const std::int64_t begin = starts_.data()[id], end = starts_.data()[id + 1];
    for (std::int64_t e = begin; e < end; e += 16) {
      __builtin_prefetch(cells_.data() + e);
      __builtin_prefetch(columns_.data() + e);
    }
#else
    (void)id;
#endif
  }

  template <class Term>
  float shared(std::int32_t id, const float* spread) const {
    const std::int64_t end = starts_.data()[id + 1];
    std::int64_t e = starts_.data()[id];
    const float* cells = cells_.data();
    const std::int32_t* columns = columns_.data();
    float s0 = 0.0f, s1 = 0.0f;
    for (; e + 2 <= end; e += 2) {
      s0 += Term::of(spread[columns[e]], cells[e]);
      s1 += Term::of(spread[columns[e + 1]], cells[e + 1]);
    }
    if (e < end) s0 += Term::of(spread[columns[e]], cells[e]);
    return s0 + s1;
  }

  In1<float> cells_;
  In1<std::int32_t> columns_;
  In1<std::int64_t> starts_;
  In1<float> sums_;
  std::int64_t d_;
  bool overlap_;
  std::string formula_;
};

// What a search makes of the pairs (row, ids[c]), for tests.
void measure_pairs(const Space& space, std::int32_t row, In1<std::int32_t> ids, Out1<float> values) {
  const std::int64_t n = n_rows(ids);
  require(n_rows(values) == n && all_below(ids, space.rows()) && all_below(&row, 1, space.rows()));
  std::vector<std::int32_t> padded(static_cast<std::size_t>(n + 2 * float_lanes), row);
  std::vector<float> found(padded.size()), spread(static_cast<std::size_t>(space.columns_spread()));
  std::copy(ids.data(), ids.data() + n, padded.begin());
  space.measure(row, padded.data(), 0, n, found.data(), spread);
  std::copy(found.begin(), found.begin() + n, values.data());
}

}  // namespace

void bind_descent_spaces(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Space>(m, "DescentRows", "Rows of a nearest-neighbour descent, and how pairs of them are measured.");
  nb::class_<DenseSpace, Space>(m, "DenseDescent", "Dense rows under a metric of that name.")
      .def(nb::init<In2<float>, const char*, double, In1<float>, In2<float>, In1<std::int32_t>>(),
           "table"_a.noconvert(), "metric"_a, "p"_a, "sums"_a.noconvert(), "full"_a.noconvert(), "order"_a.noconvert());
  nb::class_<BitSpace, Space>(m, "BitDescent", "Rows of bits under a formula of that name.")
      .def(nb::init<In2<std::uint64_t>, In1<float>, std::int64_t, const char*>(), "words"_a.noconvert(),
           "counts"_a.noconvert(), "d"_a, "formula"_a);
  nb::class_<SparseSpace, Space>(m, "SparseDescent", "Compressed sparse rows under a formula of that name.")
      .def(nb::init<In1<float>, In1<std::int32_t>, In1<std::int64_t>, In1<float>, std::int64_t, bool, const char*>(),
           "cells"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(), "sums"_a.noconvert(), "d"_a,
           "overlap"_a, "formula"_a);
  m.def("measure_pairs", &measure_pairs, "space"_a, "row"_a, "ids"_a.noconvert(), "values"_a.noconvert(),
        nb::call_guard<WithoutGil>(), "What a search makes of the pairs of one row with others, for tests.");
}

}  // namespace lowdim
