// One row's search: gather candidates, each once, measure them, keep the best.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/float_bits.hpp"
#include "common/pack_math.hpp"

namespace lowdim {

// An entry of a list: the bits of the value, the neighbour's number, and in the lowest bit whether the entry
// is new in this round. Distances are not negative, so keys order as (distance, number).
using Key = std::uint64_t;

inline Key make_key(float value, std::int32_t id) {
  return static_cast<Key>(bits_of(value)) << 32 | static_cast<Key>(static_cast<std::uint32_t>(id)) << 1 | 1;
}
inline std::int32_t key_id(Key key) { return static_cast<std::int32_t>((key & 0xffffffffULL) >> 1); }
inline float key_value(Key key) { return from_bits<float>(static_cast<std::uint32_t>(key >> 32)); }

// The rows of a search, numbered as they lie in it, and how pairs of them are measured.
class Space {
 public:
  Space() = default;
  Space(const Space&) = default;
  Space& operator=(const Space&) = default;
  virtual ~Space() = default;
  virtual std::int64_t rows() const = 0;
  // About how long a pair takes, in units of a vector of coordinates.
  virtual std::int64_t pair_cost() const = 0;
  // Rows that a thread takes at a time if each has so many candidates: some ten milliseconds of work.
  std::int64_t chunk(std::int64_t candidates, std::int64_t most) const {
    return std::max<std::int64_t>(
        4, std::min(most, (std::int64_t{1} << 23) / std::max<std::int64_t>(1, candidates * pair_cost())));
  }
  // Columns that a row is spread out over while it is compared with others; 0 where no such table is needed.
  virtual std::int64_t columns_spread() const { return 0; }
  // values[c] of the pairs (row, ids[c]) for first <= c < last: ordered like distances, not negative. There is room for
  // 2 float_lanes more values, and as many more ids, all of them `row`. `spread` is all 0 before and after.
  virtual void measure(std::int32_t row, const std::int32_t* ids, std::int64_t first, std::int64_t last, float* values,
                       std::vector<float>& spread) const = 0;
  // Whether `measure` gives a bound from below, so that offers have to be confirmed.
  virtual bool only_bounds() const { return false; }
  // The offers (sorted) measured in full, and kept in the `filled` entries of `out` where they are among the k best.
  virtual void confirm(std::int32_t, const std::vector<Key>&, Key*, std::int64_t, std::int64_t) const {}
};

// Gathers candidates for one row after another. Nothing in it survives a row but its memory.
class Explorer {
 public:
  // At most `calls` of `add` per row, repeats included.
  Explorer(const Space& space, std::int64_t calls)
      : space_(space),
        seen_(static_cast<std::size_t>(space.rows() / 64 + 1)),
        ids_(static_cast<std::size_t>(std::min(calls, space.rows()) + 1 + 2 * float_lanes)),
        values_(ids_.size()),
        spread_(static_cast<std::size_t>(space.columns_spread())) {}

  void start(std::int32_t row) {
    row_ = row;
    count_ = 0;
    add(row);
  }

  LOWDIM_INLINE void add(std::int32_t id) {
    std::uint64_t& word = seen_[static_cast<std::size_t>(id) >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (id & 63);
    ids_[count_] = id;
    count_ += (word & bit) == 0;
    word |= bit;
  }

  std::int64_t count() const { return count_ - 1; }

  // The k best of the candidates. Those added first, as many as are `listed`, are not new; where their distances are
  // `known` they are taken from `list`.
  void finish(const Key* list, std::int64_t listed, bool known, Key* out, std::int64_t k) {
    for (std::int64_t c = 0; c < count_; ++c) seen_[static_cast<std::size_t>(ids_[c]) >> 6] = 0;
    filled_ = known ? listed : 0;
    for (std::int64_t c = 0; c < filled_; ++c) out[c] = list[c] & ~Key{1};
    const std::int64_t first = 1 + filled_;
    for (std::int64_t c = count_; c < count_ + 2 * float_lanes; ++c) ids_[c] = row_;
    space_.measure(row_, ids_.data(), first, count_, values_.data(), spread_);
    const float limit = filled_ == k ? key_value(out[k - 1]) : std::numeric_limits<float>::infinity();
    offers_.clear();
    for (std::int64_t c = first; c < count_; ++c)
      if (values_[c] <= limit) offers_.push_back(make_key(values_[c], ids_[c]) & ~static_cast<Key>(c <= listed));
    if (!space_.only_bounds()) return keep(out, k);
    std::sort(offers_.begin(), offers_.end());
    space_.confirm(row_, offers_, out, filled_, k);
  }

 private:
  void keep(Key* out, std::int64_t k) {
    const std::int64_t best = std::min<std::int64_t>(k, static_cast<std::int64_t>(offers_.size()));
    if (best < static_cast<std::int64_t>(offers_.size()))
      std::nth_element(offers_.begin(), offers_.begin() + best, offers_.end());
    std::sort(offers_.begin(), offers_.begin() + best);
    merged_.assign(out, out + filled_);
    const Key *a = merged_.data(), *a_end = a + filled_, *b = offers_.data(), *b_end = b + best;
    for (std::int64_t c = 0; c < k && (a < a_end || b < b_end); ++c)
      out[c] = b == b_end || (a < a_end && *a < *b) ? *a++ : *b++;
  }

  const Space& space_;
  std::int32_t row_ = 0;
  std::int64_t count_ = 0, filled_ = 0;
  std::vector<std::uint64_t> seen_;
  std::vector<std::int32_t> ids_;
  std::vector<float> values_, spread_;
  std::vector<Key> offers_, merged_;
};

}  // namespace lowdim
