// Approximate nearest neighbours: random projection trees, then rounds that look at the neighbours of neighbours.
//
// Each row keeps its best so far as a sorted list of keys. A round reads the lists of the round before and writes new
// ones: around each row it gathers candidates, each once, measures them, and keeps the best. Local joins (Dong, Moses &
// Li, 2011) measure a pair once for every row that has both as neighbours, throw most of it away at the lists' doors,
// and need locks there. Here a list is a function of the round before alone: the same bits for any number of threads.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "bindings.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "common/splitmix.hpp"
#include "neighbors/candidate_search.hpp"
#include "neighbors/float_row_distances.hpp"

namespace lowdim {

namespace {

// ---- trees ---------------------------------------------------------------------------------------------------------

// Borders of the 2^depth leaves of a tree. The first split is a little off the middle, elsewhere in every tree: rows
// along a line would be cut at the same places by all of them.
std::vector<std::int64_t> leaf_borders(std::int64_t n, int depth, std::int64_t tree) {
  std::vector<std::int64_t> borders{0, n};
  for (int level = 0; level < depth; ++level) {
    const std::int64_t parts = level > 0 ? 50 : 40 + tree * 13 % 21;  // in percent
    std::vector<std::int64_t> finer{0};
    for (std::size_t p = 1; p < borders.size(); ++p) {
      finer.push_back(borders[p - 1] + (borders[p] - borders[p - 1]) * parts / 100);
      finer.push_back(borders[p]);
    }
    borders.swap(finer);
  }
  return borders;
}

// Unsigned integers that order as the floats do.
inline Key ordered(float value, std::int32_t id) {
  std::uint32_t bits = bits_of(value);
  bits = bits & 0x80000000U ? ~bits : bits | 0x80000000U;
  return static_cast<Key>(bits) << 32 | static_cast<std::uint32_t>(id);
}

// Keys of the rows along the line through two rows drawn from them.
LOWDIM_INLINE inline void project(const float* rows, std::int64_t width, const std::int32_t* ids, std::int64_t count,
                                  std::uint64_t seed, std::vector<float>& line, std::vector<Key>& keys) {
  const float* from = rows + ids[mix(seed, 0) % count] * width;
  const float* to = rows + ids[mix(seed, 1) % count] * width;
  for (std::int64_t c = 0; c < width; ++c) line[c] = to[c] - from[c];
  for (std::int64_t i = 0; i < count; ++i) {
    const float* row = rows + ids[i] * width;
    FloatPack sum{}, u, v;
    for (std::int64_t c = 0; c < width; c += float_lanes) {
      load_pack<float>(u, row + c), load_pack<float>(v, line.data() + c);
      sum += u * v;
    }
    keys[i] = ordered(fold(sum), ids[i]);
  }
}

void split_node(const float* rows, std::int64_t width, std::int32_t* ids, std::int64_t count, std::int64_t left,
                std::uint64_t seed) {
  std::vector<float> line(static_cast<std::size_t>(width));
  std::vector<Key> keys(static_cast<std::size_t>(count));
  dispatch([&]() LOWDIM_INLINE { project(rows, width, ids, count, seed, line, keys); });
  std::nth_element(keys.begin(), keys.begin() + left, keys.end());
  for (std::int64_t i = 0; i < count; ++i) ids[i] = static_cast<std::int32_t>(keys[i] & 0xffffffffULL);
}

// Each row of `orders`: the rows of the data in the order of a tree's leaves, the trees counted from `first_tree`.
// Level by level, so that a task stays short.
void grow_trees(In2<float> rows, int depth, std::int64_t first_tree, std::uint64_t seed, int n_threads,
                Out2<std::int32_t> orders) {
  const std::int64_t n = n_rows(rows), width = n_columns(rows), n_trees = n_rows(orders);
  require(n_columns(orders) == n && width % float_lanes == 0 && depth >= 0 && depth < 31 && (n >> depth) > 0);
  require(n <= most_numbered);
  for (std::int64_t t = 0; t < n_trees; ++t) std::iota(orders.data() + t * n, orders.data() + (t + 1) * n, 0);
  for (int level = 0; level < depth; ++level) {
    const std::int64_t nodes = std::int64_t{1} << level;
    std::vector<std::vector<std::int64_t>> borders;
    for (std::int64_t t = 0; t < n_trees; ++t) borders.push_back(leaf_borders(n, level + 1, first_tree + t));
    parallel_for(n_trees * nodes, 1, n_threads, [&](std::int64_t task, std::int64_t, std::int64_t) {
      const std::int64_t t = task / nodes, node = task % nodes;
      const std::int64_t* border = borders[t].data() + 2 * node;
      const std::int64_t begin = border[0], middle = border[1], end = border[2];
      split_node(rows.data(), width, orders.data() + t * n + begin, end - begin, middle - begin,
                 mix(mix(seed, t), nodes + node));
    });
  }
}

// First lists: the best of the rows that share a leaf with a row in any of the trees.
void search_leaves(const Space& space, In2<std::int32_t> orders, int depth, int n_threads, Out2<Key> keys) {
  const std::int64_t n = n_rows(keys), k = n_columns(keys), n_trees = n_rows(orders);
  require(k > 0 && n_columns(orders) == n && depth >= 0 && depth < 31 && n_trees > 0);
  require(all_below(orders, n));
  require(space.rows() == n);
  std::vector<std::vector<std::int64_t>> borders;
  std::vector<std::int32_t> leaf(static_cast<std::size_t>(n_trees * n));
  std::int64_t most = 0;
  for (std::int64_t t = 0; t < n_trees; ++t) {
    borders.push_back(leaf_borders(n, depth, t));
    for (std::size_t l = 0; l + 1 < borders[t].size(); ++l) {
      require(borders[t][l + 1] - borders[t][l] > k);
      most = std::max(most, borders[t][l + 1] - borders[t][l]);
      for (std::int64_t p = borders[t][l]; p < borders[t][l + 1]; ++p)
        leaf[t * n + orders.data()[t * n + p]] = static_cast<std::int32_t>(l);
    }
  }
  parallel_for(n, space.chunk(n_trees * most, 256), n_threads, [&](std::int64_t first, std::int64_t last, auto) {
    Explorer explorer(space, n_trees * most + 1);
    for (std::int64_t i = first; i < last; ++i) {
      explorer.start(static_cast<std::int32_t>(i));
      for (std::int64_t t = 0; t < n_trees; ++t) {
        const std::int64_t* border = borders[t].data() + leaf[t * n + i];
        for (std::int64_t p = border[0]; p < border[1]; ++p) explorer.add(orders.data()[t * n + p]);
      }
      explorer.finish(nullptr, 0, false, keys.data() + i * k, k);
    }
  });
}

// ---- rounds --------------------------------------------------------------------------------------------------------

// For each row the rows that have it among their nearest `reach`, as (number << 1 | new); in no particular order.
struct Reverse {
  std::vector<std::int64_t> starts;
  std::vector<std::uint32_t> entries;
};

Reverse reverse(const Key* keys, std::int64_t n, std::int64_t k, std::int64_t reach, int n_threads) {
  std::vector<std::atomic<std::int32_t>> ends(n);
  parallel_for(n, 2048, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (std::int64_t i = first; i < last; ++i)
      for (const Key* key = keys + i * k; key < keys + i * k + reach; ++key)
        ends[key_id(*key)].fetch_add(1, std::memory_order_relaxed);
  });
  Reverse out{std::vector<std::int64_t>(n + 1), std::vector<std::uint32_t>(static_cast<std::size_t>(n * reach))};
  for (std::int64_t i = 0; i < n; ++i) {
    out.starts[i + 1] = out.starts[i] + ends[i].load(std::memory_order_relaxed);
    ends[i].store(0, std::memory_order_relaxed);
  }
  parallel_for(n, 2048, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (std::int64_t i = first; i < last; ++i)
      for (const Key* key = keys + i * k; key < keys + i * k + reach; ++key) {
        const std::int32_t id = key_id(*key);
        const std::int64_t at = out.starts[id] + ends[id].fetch_add(1, std::memory_order_relaxed);
        out.entries[at] = static_cast<std::uint32_t>(i) << 1 | static_cast<std::uint32_t>(*key & 1);
      }
  });
  return out;
}

// Rows to walk to from each row: its nearest `reach` and as many of those that have it among theirs, drawn by a hash of
// the pair where there are more. New ones first; column 0 says how many are new, column 1 how many there are.
void link_rows(In2<Key> keys, std::int64_t reach, std::uint64_t seed, int n_threads, Out2<std::int32_t> links) {
  const std::int64_t n = n_rows(keys), k = n_columns(keys), columns = n_columns(links);
  require(n_rows(links) == n && reach > 0 && reach <= k && columns >= 2 + reach);
  for (std::int64_t e = 0; e < n * k; ++e) require(key_id(keys.data()[e]) < n);
  const Reverse named = reverse(keys.data(), n, k, reach, n_threads);
  parallel_for(n, 512, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    std::vector<Key> pool;
    for (std::int64_t i = first; i < last; ++i) {
      const Key* list = keys.data() + i * k;
      pool.clear();
      for (std::int64_t e = named.starts[i]; e < named.starts[i + 1]; ++e) {
        const std::uint32_t entry = named.entries[e];
        pool.push_back(mix(mix(seed, i), entry >> 1) >> 32 << 32 | entry);
      }
      const std::int64_t named_by = static_cast<std::int64_t>(pool.size());
      const std::int64_t room = std::min(columns - 2 - reach, named_by);
      if (room < named_by) std::nth_element(pool.begin(), pool.begin() + room, pool.end());
      pool.resize(static_cast<std::size_t>(room));
      pool.insert(pool.end(), list, list + reach);
      std::int32_t* out = links.data() + i * columns;
      std::int32_t at = 2;
      for (const Key fresh : {Key{1}, Key{0}}) {
        for (const Key key : pool)
          if ((key & 1) == fresh) out[at++] = key_id(key);
        out[1 - fresh] = at - 2;
      }
    }
  });
}

// Two steps along links, as `link_rows` leaves them: one of the two new, unless `everything` is wanted.
LOWDIM_INLINE inline void walk_links(Explorer& explorer, const std::int32_t* links, std::int64_t columns,
                                     std::int64_t row, bool everything) {
  const std::int32_t* own = links + row * columns;
  for (std::int64_t c = 0; c < own[1]; ++c) {
    const bool all = everything || c < own[0];
    const std::int32_t* next = links + own[2 + c] * columns;
    if (all) explorer.add(own[2 + c]);
    for (std::int64_t e = 0; e < next[all]; ++e) explorer.add(next[2 + e]);
  }
}

// Two steps along whole lists, one of the two new.
LOWDIM_INLINE inline void walk_lists(Explorer& explorer, const Key* keys, std::int64_t k, std::int64_t row) {
  for (const Key* own = keys + row * k; own < keys + (row + 1) * k; ++own) {
    const Key* next = keys + key_id(*own) * k;
    for (std::int64_t e = 0; e < k; ++e)
      if ((*own | next[e]) & 1) explorer.add(key_id(next[e]));
  }
}

// The rows around a row in the orders of the trees, `around` in each.
LOWDIM_INLINE inline void look_around(Explorer& explorer, const In2<std::int32_t>& orders,
                                      const In2<std::int32_t>& places, std::int64_t row, std::int64_t around) {
  const std::int64_t n = n_columns(orders), n_trees = n_rows(orders);
  for (std::int64_t t = 0; t < n_trees; ++t) {
    const std::int64_t place = places.data()[t * n + row];
    const std::int64_t first = std::max<std::int64_t>(0, std::min(place - around / 2, n - around));
    for (std::int64_t p = first; p < first + around; ++p) explorer.add(orders.data()[t * n + p]);
  }
}

// Lists of the next round from those of this one, for every `stride`-th row: the best of the rows two steps away, along
// `links` or, where these have no columns, along whole lists. Where lists get longer, and where a walk leads to too few
// rows, as in a small cluster, a row also looks around in the trees. `known`: the keys hold distances of rows, not of
// sketches. Returns how many entries are new.
std::int64_t search_links(const Space& space, In2<std::int32_t> orders, In2<std::int32_t> places,
                          In2<std::int32_t> links, In2<Key> keys, bool known, std::int64_t stride, int n_threads,
                          Out2<Key> longer) {
  const std::int64_t n = n_rows(keys), k = n_columns(keys), columns = n_columns(links), k_out = n_columns(longer);
  require(n_rows(links) == n && n_rows(longer) == n && n_columns(orders) == n && stride > 0);
  require(same_shape(places, orders) && n_rows(orders) > 0);
  require(k_out >= k && k > 0 && k_out < n && space.rows() == n);
  require(all_below(orders, n) && all_below(places, n));
  for (std::int64_t e = 0; e < n * k; ++e) require(key_id(keys.data()[e]) < n);
  for (std::int64_t i = 0; columns > 0 && i < n; ++i) {
    const std::int32_t* own = links.data() + i * columns;
    require(columns >= 2 && own[0] >= 0 && own[0] <= own[1] && own[1] <= columns - 2);
    require(all_below(own + 2, own[1], n));
  }
  const bool everything = k_out > k || !known;
  const std::int64_t steps = columns > 0 ? columns * columns : k * k, n_trees = n_rows(orders);
  const std::int64_t chunk = space.chunk(steps, 128);
  std::atomic<std::int64_t> changed{0};
  parallel_for((n + stride - 1) / stride, chunk, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    Explorer explorer(space, 1 + k + steps + n_trees * (k_out + 1));
    std::int64_t entered = 0;
    for (std::int64_t i = first * stride; i < last * stride && i < n; i += stride) {
      const Key* list = keys.data() + i * k;
      Key* out = longer.data() + i * k_out;
      explorer.start(static_cast<std::int32_t>(i));
      for (std::int64_t c = 0; c < k; ++c) explorer.add(key_id(list[c]));
      if (columns > 0)
        walk_links(explorer, links.data(), columns, i, everything);
      else
        walk_lists(explorer, keys.data(), k, i);
      if (k_out > k || explorer.count() < k_out) look_around(explorer, orders, places, i, k_out + 1);
      explorer.finish(list, k, known, out, k_out);
      for (std::int64_t c = 0; c < k_out; ++c) entered += out[c] & 1;
    }
    changed += entered;
  });
  return changed;
}

// ---- in and out ----------------------------------------------------------------------------------------------------

// Lists in the order and with the numbers of the data; nearest first, ties by number. `root`: of the squared distances.
void read_lists(In2<Key> keys, In1<std::int32_t> order, bool root, int n_threads, Out2<std::int32_t> indices,
                Out2<float> values) {
  const std::int64_t n = n_rows(keys), k = n_columns(keys);
  require(n_rows(order) == n && same_shape(indices, keys) && same_shape(values, keys) && all_below(order, n));
  parallel_for(n, 1024, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    std::vector<Key> row(static_cast<std::size_t>(k));
    for (std::int64_t i = first; i < last; ++i) {
      for (std::int64_t c = 0; c < k; ++c) {
        const Key key = keys.data()[i * k + c];
        require(key_id(key) < n);
        row[c] = make_key(root ? std::sqrt(key_value(key)) : key_value(key), order.data()[key_id(key)]);
      }
      std::sort(row.begin(), row.end());
      for (std::int64_t c = 0; c < k; ++c) {
        indices.data()[order.data()[i] * k + c] = key_id(row[c]);
        values.data()[order.data()[i] * k + c] = key_value(row[c]);
      }
    }
  });
}

}  // namespace

void bind_nn_descent(nb::module_& m) {
  using namespace nb::literals;
  using release = nb::call_guard<WithoutGil>;
  m.def("grow_trees", &grow_trees, "rows"_a.noconvert(), "depth"_a, "first_tree"_a, "seed"_a, "n_threads"_a,
        "orders"_a.noconvert(), release(), "Rows in the order of the leaves of random projection trees, a tree a row.");
  m.def("search_leaves", &search_leaves, "space"_a, "orders"_a.noconvert(), "depth"_a, "n_threads"_a,
        "keys"_a.noconvert(), release(), "First lists: the best of the rows that share a leaf with a row.");
  m.def("link_rows", &link_rows, "keys"_a.noconvert(), "reach"_a, "seed"_a, "n_threads"_a, "links"_a.noconvert(),
        release(), "Rows to walk to from each row: its nearest, and some of those that have it among theirs.");
  m.def("search_links", &search_links, "space"_a, "orders"_a.noconvert(), "places"_a.noconvert(), "links"_a.noconvert(),
        "keys"_a.noconvert(), "known"_a, "stride"_a, "n_threads"_a, "longer"_a.noconvert(), release(),
        "Lists of the next round from those of this one; how many entries are new.");
  m.def("read_lists", &read_lists, "keys"_a.noconvert(), "order"_a.noconvert(), "root"_a, "n_threads"_a,
        "indices"_a.noconvert(), "values"_a.noconvert(), release(),
        "Neighbours and their (roots of) squared distances in the order of the data, nearest first.");
}

}  // namespace lowdim
