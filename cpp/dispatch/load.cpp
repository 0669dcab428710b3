#include "dispatch/load.hpp"
#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include "dispatch/table.hpp"
#if !defined(DECIBAN_LINKED_KERNELS)
#include <dlfcn.h>
#include "dispatch/processor.hpp"
#endif

namespace deciban {

std::atomic<const Kernels*> kernels_in_use{nullptr};

namespace {

std::mutex mutex;
std::string name_in_use;
std::map<std::string, const Kernels*> loaded;

#if defined(DECIBAN_LINKED_KERNELS)  // one instruction set, part of this module

const Kernels* load(const std::string&) { return DECIBAN_TABLE(); }

#else

// The folder of this module, with its last slash.
std::string own_folder() {
  Dl_info own;
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &own) || !own.dli_fname)
    throw std::runtime_error("the folder of deciban's compiled module is not known");
  const std::string path = own.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

const Kernels* load(const std::string& name) {
#define DECIBAN_QUOTED(symbol) #symbol
#define DECIBAN_NAME(symbol) DECIBAN_QUOTED(symbol)
  const std::string path = own_folder() + "_kernels_" + name + ".so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open as long as the process runs
  void* table = library ? dlsym(library, DECIBAN_NAME(DECIBAN_TABLE)) : nullptr;
  if (!table) throw std::runtime_error(std::string("the kernel library cannot be used: ") + dlerror());
  return reinterpret_cast<const Kernels* (*)()>(table)();
}

#endif

}  // namespace

std::vector<std::string> instruction_sets() {
#if defined(DECIBAN_LINKED_KERNELS)
  return {"default"};
#else
  std::vector<std::string> out;
  for (const int level : {DECIBAN_LEVELS})
    if (level <= processor_level()) out.push_back(std::string(1, 'v').append(std::to_string(level)));
  return out;
#endif
}

std::string instruction_set() {
  const std::lock_guard<std::mutex> alone(mutex);
  return name_in_use;
}

void use(const std::string& name) {
  const std::vector<std::string> known = instruction_sets();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw std::invalid_argument("instruction set " + name + " was not built, or this processor does not have it");
  const std::lock_guard<std::mutex> alone(mutex);
  const Kernels*& table = loaded[name];
  if (!table) table = load(name);
  kernels_in_use = table;
  name_in_use = name;
}

}  // namespace deciban
