#include "base/event_type.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/mutex.hpp"

namespace headway::base {
namespace {

struct type_registry {
  mutex lock;  // taken when an event type is built and when all are listed
  std::vector<event_type*> entries HEADWAY_GUARDED_BY(lock);
};

type_registry& all_types() {
  static auto* const one = new type_registry;  // never destroyed: the types may outlive it
  return *one;
}

}  // namespace

event_type::event_type(const char* name, std::initializer_list<const char*> elements,
                       const char* why)
    : name_(name), why_(why) {
  HEADWAY_ASSERT(elements.size() <= elements_max);
  for (const char* element : elements) elements_[element_count_++] = element;
  auto& r = all_types();
  const lock_guard guard(r.lock);
  r.entries.push_back(this);
}

event_type::~event_type() {
  auto& r = all_types();
  const lock_guard guard(r.lock);
  std::erase(r.entries, this);
}

std::vector<event_type*> event_type::all() {
  auto& r = all_types();
  const lock_guard guard(r.lock);
  auto sorted = r.entries;
  std::ranges::sort(sorted, [](auto* a, auto* b) { return std::strcmp(a->name(), b->name()) < 0; });
  return sorted;
}

}  // namespace headway::base
