// Counts on the grid of `column_pass.hpp`. While rows are added, the counters of neighbouring keys lie side by side, in pages
// that are made as they are needed; marks say which of them hold something.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <vector>
#include "kernels/core/arguments.hpp"

namespace deciban {

// Keys of each column, ascending, and what each class has of them: column j's are at offset[j] … offset[j + 1].
struct Known {
  const std::int64_t *keys, *offset;
  const double* table;  // (k, all keys)
  Size d;
  Size size() const { return offset[d]; }
};

struct Counts {
  std::vector<std::int64_t> keys, offset{0};
  std::vector<std::vector<double>> table;

  Counts(Size k, Size room) : table(static_cast<std::size_t>(k)) {
    reserve(static_cast<std::size_t>(room));
  }

  // Room for so many more keys, and for as many of each of the columns to come: memory that is not written costs nothing.
  void expect(std::size_t more, Size columns) {
    const std::size_t size = keys.size(), all = more * static_cast<std::size_t>(columns);
    if (keys.capacity() - size < more) reserve(size + std::max(more, std::min(all, std::max(size, std::size_t{1} << 18))));
  }

 private:
  void reserve(std::size_t room) {
    keys.reserve(room);
    for (std::vector<double>& row : table) row.reserve(room);
  }
};

// Rows by class: keys (d, n), those of class c at bounds[c, 0] … bounds[c, 1]; weights (n,), or null: 1 each.
struct Keyed {
  const std::int32_t* keys;
  const std::int64_t* bounds;
  const double* w;
  Size n;
};

constexpr Size grid_zero = 1 << 23;  // keys lie in −grid_zero … grid_zero − 1

// A page: a mark for each of `size` keys, then their counters T (k, size). Zeros take memory only where something is
// written.
template <class T>
class Page {
 public:
  static constexpr unsigned bits = 12, words = 1 << bits >> 6;
  static constexpr Size size = 1 << bits;

  explicit Page(Size k) : marks_(static_cast<std::uint64_t*>(std::calloc(bytes(k), 1))) {
    if (marks_ == nullptr) throw std::bad_alloc();
  }
  T* counters() const { return reinterpret_cast<T*>(marks_.get() + words); }
  static std::uint64_t* marks(T* counters) { return reinterpret_cast<std::uint64_t*>(counters) - words; }

 private:
  struct Free {
    void operator()(std::uint64_t* p) const { std::free(p); }
  };
  static std::size_t bytes(Size k) { return words * sizeof(std::uint64_t) + static_cast<std::size_t>(k * size) * sizeof(T); }
  std::unique_ptr<std::uint64_t[], Free> marks_;
};

// Counters T of one column. Where `marking`, keys are marked as they come, so that few of them are found and cleared
// quickly; else when they are read, which leaves a step out for each of many.
template <class T, bool marking>
class Grid {
  using Own = Page<T>;
  static constexpr unsigned bits = Own::bits, pages = 1 << bits;
  static constexpr Size size = Own::size, zero = grid_zero;

 public:
  explicit Grid(Size k) : k_(k), page_(pages, nullptr) {}

  // The rows of column j, class by class: a class's counters stay in cache meanwhile.
  void add(const std::vector<Keyed>& rows, Size j) {
    for (Size c = 0; c < k_; ++c)
      for (const Keyed& some : rows) {
        const std::int32_t* keys = some.keys + j * some.n;
        const Size start = some.bounds[2 * c], stop = some.bounds[2 * c + 1];
        if (some.w)
          add(c, keys, start, stop, [&](Size i) { return static_cast<T>(some.w[i]); });
        else
          add(c, keys, start, stop, [](Size) { return T{1}; });
      }
  }

  // What column j is known to hold, and what was added, but for missing cells.
  void read(Counts& out, const Known& known, Size j) {
    Size next = known.offset[j];
    const Size stop = known.offset[j + 1];
    for (Size i = next; i < stop; ++i) mark(cell_of(known.keys[i]));
    for (Size p = 0; p < Size{pages}; ++p) {
      if (page_[p] == nullptr) continue;
      if (!marking) mark_all(page_[p]);
      find(page_[p], p * size - zero, known, next, stop);
      for (const Held& cell : held_) out.keys.push_back(p * size - zero + cell.place);
      for (Size c = 0; c < k_; ++c) take(page_[p] + c * size, known.table + c * known.size(), out.table[c]);
    }
    out.offset.push_back(static_cast<std::int64_t>(out.keys.size()));
  }

  // How many keys are marked.
  std::size_t marked() const {
    std::size_t out = 0;
    for (T* page : page_)
      for (unsigned word = 0; page != nullptr && word < Own::words; ++word)
        out += static_cast<std::size_t>(__builtin_popcountll(Own::marks(page)[word]));
    return out;
  }

  void clear() {
    for (T*& page : page_) {
      if (page == nullptr) continue;
      for (unsigned word = 0; word < Own::words; ++word)
        for (std::uint64_t& marks = Own::marks(page)[word]; marks; marks &= marks - 1)
          for (Size c = 0; c < k_; ++c) page[c * size + word * 64 + __builtin_ctzll(marks)] = 0;
      idle_.push_back(page);
      page = nullptr;
    }
  }

 private:
  struct Held {
    Size place, known;  // −1: it was not
  };

  // counter[c, keys[i]] += weight(i)   for i from `start` to `stop`
  template <class Weight>
  __attribute__((noinline)) void add(Size c, const std::int32_t* keys, Size start, Size stop, Weight weight) {
    for (Size i = start; i < stop; ++i) {
      const std::uint32_t cell = cell_of(keys[i]);
      T* page = marking ? mark(cell) : page_of(cell);
      page[c * size + cell % unsigned{size}] += weight(i);
    }
  }

  static std::uint32_t cell_of(std::int64_t key) { return static_cast<std::uint32_t>(key + zero); }

  // The counters of the cell's page.
  T* page_of(std::uint32_t cell) {
    T* page = page_[cell >> bits];
    if (page == nullptr) page = page_[cell >> bits] = fresh();
    return page;
  }

  T* mark(std::uint32_t cell) {
    T* page = page_of(cell);
    Own::marks(page)[(cell >> 6) % Own::words] |= std::uint64_t{1} << (cell & 63);
    return page;
  }

  // Whatever holds something.
  void mark_all(T* page) {
    for (Size place = 0; place < k_ * size; ++place)
      Own::marks(page)[place % size >> 6] |= static_cast<std::uint64_t>(page[place] != 0) << (place & 63);
  }

  __attribute__((noinline)) T* fresh() {
    if (idle_.empty()) {
      all_.emplace_back(k_);
      idle_.push_back(all_.back().counters());
    }
    T* out = idle_.back();
    idle_.pop_back();
    return out;
  }

  // The places of a page, whose first key is given, that hold something; known keys are gone through from `next` on.
  void find(T* page, Size first, const Known& known, Size& next, Size stop) {
    held_.clear();
    for (unsigned word = 0; word < Own::words; ++word)
      for (std::uint64_t marks = Own::marks(page)[word]; marks; marks &= marks - 1) {
        const Size place = word * 64 + __builtin_ctzll(marks);
        const bool before = next < stop && known.keys[next] == first + place;
        if (before || (first + place != missing_key && holds(page, place))) held_.push_back({place, before ? next : -1});
        next += before;
      }
  }

  bool holds(const T* page, Size place) const {
    for (Size c = 0; c < k_; ++c)
      if (page[c * size + place] != 0) return true;
    return false;
  }

  void take(const T* counters, const double* known, std::vector<double>& row) {
    const std::size_t start = row.size();
    row.resize(start + held_.size());
    double* to = row.data() + start;
    for (const Held& cell : held_) *to++ = counters[cell.place] + (cell.known < 0 ? 0.0 : known[cell.known]);
  }

  Size k_;
  std::vector<T*> page_, idle_;  // (k, size)
  std::vector<Own> all_;
  std::vector<Held> held_;
};

// Counters of all columns, which go on counting, for one thread at a time.
class Grids {
  using T = std::uint32_t;

 public:
  Grids(Size k, Size d) : k_(k) {
    for (Size j = 0; j < d; ++j) columns_.emplace_back(k);
  }

  Size k() const { return k_; }
  Size d() const { return static_cast<Size>(columns_.size()); }

  void add(const std::vector<Keyed>& rows) {
    const std::lock_guard<std::mutex> alone(mutex_);
    for (std::size_t j = 0; j < columns_.size(); ++j) columns_[j].add(rows, static_cast<Size>(j));
  }

  Counts read(const Known& known) {
    const std::lock_guard<std::mutex> alone(mutex_);
    Counts out(k_, known.size());
    for (std::size_t j = 0; j < columns_.size(); ++j) columns_[j].read(out, known, static_cast<Size>(j));
    return out;
  }

 private:
  Size k_;
  std::vector<Grid<T, false>> columns_;
  std::mutex mutex_;
};

// What is known and some rows, whose counters are needed for one column at a time.
template <class T>
Counts count(Size k, const Known& known, const std::vector<Keyed>& rows) {
  Counts out(k, known.size());
  Grid<T, true> grid(k);
  for (Size j = 0; j < known.d; ++j, grid.clear()) {
    grid.add(rows, j);
    out.expect(grid.marked() + static_cast<std::size_t>(known.offset[j + 1] - known.offset[j]), known.d - j);
    grid.read(out, known, j);
  }
  return out;
}

}  // namespace deciban
