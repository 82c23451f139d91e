// One row's search: gather candidates, each once, measure them sixteen at a time, keep the best.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/float_bits.hpp"
#include "neighbors/float_row_distances.hpp"

namespace lowdim {

// An entry of a list: the bits of the squared distance, the neighbour's number, and in the lowest bit whether the entry
// is new in this round. Distances are not negative, so keys order as (distance, number).
using Key = std::uint64_t;

inline Key make_key(float value, std::int32_t id) {
  return static_cast<Key>(bits_of(value)) << 32 | static_cast<Key>(static_cast<std::uint32_t>(id)) << 1 | 1;
}
inline std::int32_t key_id(Key key) { return static_cast<std::int32_t>((key & 0xffffffffULL) >> 1); }
inline float key_value(Key key) { return from_bits<float>(static_cast<std::uint32_t>(key >> 32)); }

// Row i of the sketch stands for row order[i] of the data: |sketch a - sketch b| <= |a - b|. Without `full` the
// sketches are the rows.
struct Rows {
  const float* sketch;
  std::int64_t sketch_width;
  const float* full = nullptr;
  std::int64_t full_width = 0;
  const std::int32_t* order = nullptr;

  const float* row(std::int32_t i) const { return full + order[i] * full_width; }
};

// Gathers candidates for one row after another. Nothing in it survives a row but its memory.
class Explorer {
 public:
  // At most `calls` of `add` per row, repeats included.
  Explorer(const Rows& rows, std::int64_t n, std::int64_t calls)
      : rows_(rows),
        wide_(width() == Width::avx512),
        seen_(static_cast<std::size_t>(n / 64 + 1)),
        ids_(static_cast<std::size_t>(std::min(calls, n) + 1 + 2 * float_lanes)),
        values_(ids_.size()) {}

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
  LOWDIM_INLINE void finish(const Key* list, std::int64_t listed, bool known, Key* out, std::int64_t k) {
    for (std::int64_t c = 0; c < count_; ++c) seen_[static_cast<std::size_t>(ids_[c]) >> 6] = 0;
    filled_ = known ? listed : 0;
    for (std::int64_t c = 0; c < filled_; ++c) out[c] = list[c] & ~Key{1};
    const std::int64_t first = 1 + filled_;
    measure(first);
    const float limit = filled_ == k ? key_value(out[k - 1]) : std::numeric_limits<float>::infinity();
    offers_.clear();
    for (std::int64_t c = first; c < count_; ++c)
      if (values_[c] <= limit) offers_.push_back(make_key(values_[c], ids_[c]) & ~static_cast<Key>(c <= listed));
    if (rows_.full == nullptr)
      keep(out, k);
    else
      confirm(out, k);
  }

 private:
  LOWDIM_INLINE void measure(std::int64_t first) {
    const float* own = rows_.sketch + row_ * rows_.sketch_width;
    for (std::int64_t c = count_; c < count_ + 2 * float_lanes; ++c) ids_[c] = row_;
    for (std::int64_t c = first; c < count_; c += float_lanes) {
      const float* others[float_lanes];
      for (std::int64_t j = 0; j < float_lanes; ++j) others[j] = rows_.sketch + ids_[c + j] * rows_.sketch_width;
      if (c + float_lanes < count_)
        for (std::int64_t j = 0; j < float_lanes; ++j)
          prefetch(rows_.sketch + ids_[c + float_lanes + j] * rows_.sketch_width, 64);
      one_to_many(own, others, rows_.sketch_width, wide_, values_.data() + c);
    }
  }

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

  // Nearest sketch first, until no sketch is near enough.
  LOWDIM_INLINE void confirm(Key* out, std::int64_t k) {
    std::sort(offers_.begin(), offers_.end());
    const float* own = rows_.row(row_);
    for (std::size_t o = 0; o < offers_.size(); ++o) {
      const Key offer = offers_[o];
      if (o + 1 < offers_.size()) prefetch(rows_.row(key_id(offers_[o + 1])), rows_.full_width);
      const float limit = filled_ == k ? key_value(out[k - 1]) : std::numeric_limits<float>::infinity();
      if (key_value(offer) > limit) break;
      const std::int32_t id = key_id(offer);
      const Key key = make_key(one_pair(own, rows_.row(id), rows_.full_width, limit), id) & (offer | ~Key{1});
      if (filled_ == k && key >= out[k - 1]) continue;
      filled_ += filled_ < k;
      std::int64_t at = filled_ - 1;
      for (; at > 0 && out[at - 1] > key; --at) out[at] = out[at - 1];
      out[at] = key;
    }
  }

  Rows rows_;
  bool wide_;
  std::int32_t row_ = 0;
  std::int64_t count_ = 0, filled_ = 0;
  std::vector<std::uint64_t> seen_;
  std::vector<std::int32_t> ids_;
  std::vector<float> values_;
  std::vector<Key> offers_, merged_;
};

}  // namespace lowdim
