// Vectors of which large ones lie on huge pages, where the system has them: of vectors that are looked up at random places,
// most of a miss is finding the page.
#pragma once
#include <cstdlib>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace deciban {

template <class T>
struct OnHugePages {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{1} << 21;

  OnHugePages() = default;
  template <class U>
  OnHugePages(const OnHugePages<U>&) {}

  T* allocate(std::size_t n) {
#if defined(__linux__)
    if (n * sizeof(T) >= page) {
      const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
      void* memory = std::aligned_alloc(page, bytes);
      if (memory == nullptr) throw std::bad_alloc();
      madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: nothing breaks where it is not granted
      return static_cast<T*>(memory);
    }
#endif
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }

  void deallocate(T* memory, std::size_t n) {
#if defined(__linux__)
    if (n * sizeof(T) >= page) return std::free(memory);
#endif
    ::operator delete(memory);
  }

  bool operator==(const OnHugePages&) const { return true; }
  bool operator!=(const OnHugePages&) const { return false; }
};

template <class T>
using Scattered = std::vector<T, OnHugePages<T>>;

}  // namespace deciban
