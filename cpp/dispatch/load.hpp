// The kernels in use: those of the best instruction set that was built and that the processor has, or of a lower one.
#pragma once
#include <atomic>
#include <string>
#include <type_traits>
#include <vector>
#include "dispatch/kernels.hpp"

namespace deciban {

extern std::atomic<const Kernels*> kernels_in_use;

inline const Kernels& kernels() { return *kernels_in_use.load(std::memory_order_relaxed); }

template <class Group, class... Groups>
constexpr bool is_in(const std::tuple<Groups...>*) { return (std::is_same_v<Group, Groups> || ...); }

// A group of them.
template <class Group>
const Group& kernels_of() {
  const auto among = [](const auto&... tables) {
    const Group* out = nullptr;
    const auto look = [&](const auto& table) {
      if constexpr (is_in<Group>(decltype(&table){})) out = &std::get<Group>(table);
    };
    (look(tables), ...);
    return out;
  };
  const Kernels& all = kernels();
  return *among(all.tallies, all.histogram, all.scores, all.logistic, all.digests, all.labels);
}

// The names of those that can be used here, the best one last.
std::vector<std::string> instruction_sets();

// The name of the one in use.
std::string instruction_set();

// Uses the named one from now on, in all threads. std::invalid_argument: it cannot be used here; std::runtime_error: its
// library is missing or of another build.
void use(const std::string& name);

}  // namespace deciban
