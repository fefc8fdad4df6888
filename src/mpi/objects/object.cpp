#include "mpi/objects/object.hpp"

#include <unordered_map>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::mpi {
namespace {

// The numbers of objects whose handles a program has converted to integers, for another language.
struct numbering {
  base::mutex lock;
  std::unordered_map<int, object*> by_number HEADWAY_GUARDED_BY(lock);
  int next HEADWAY_GUARDED_BY(lock) = static_cast<int>(predefined_end);
};

numbering& numbers() {
  static auto* const made = new numbering;  // never destroyed: objects may outlive `exit`
  return *made;
}

}  // namespace

constinit object* predefined[predefined_end] = {};

const char* kind_name(object_kind kind) noexcept {
  switch (kind) {
    case object_kind::comm:
      return "communicator";
    case object_kind::group:
      return "group";
    case object_kind::type:
      return "datatype";
    case object_kind::op:
      return "operation";
    case object_kind::info:
      return "info object";
    case object_kind::errhandler:
      return "error handler";
    case object_kind::request:
      return "request";
    case object_kind::message:
      return "message";
    case object_kind::session:
      return "session";
    case object_kind::win:
      return "window";
    case object_kind::file:
      return "file";
    case object_kind::none:
    case object_kind::placeholder:
      break;
  }
  return "object";
}

void define(object& what, object_kind kind, std::uintptr_t value) noexcept {
  HEADWAY_ASSERT(value < predefined_end);
  what.become(kind, value);
  predefined[value] = &what;
}

void undefine(object& what) noexcept {
  if (what.is_predefined()) predefined[what.bits()] = nullptr;
  what.retire();
}

int number_of(object& what) {
  if (what.is_predefined()) return static_cast<int>(what.bits());
  numbering& all = numbers();
  const base::lock_guard held(all.lock);
  if (what.number_ == 0) {
    while (all.by_number.contains(all.next)) ++all.next;
    what.number_ = all.next;
    all.by_number.emplace(what.number_, &what);
    all.next = all.next == 0x7fffffff ? static_cast<int>(predefined_end) : all.next + 1;
  }
  return what.number_;
}

object* object_numbered(int number) noexcept {
  if (number < 0) return nullptr;
  if (static_cast<std::uintptr_t>(number) < predefined_end) return predefined[number];
  numbering& all = numbers();
  const base::lock_guard held(all.lock);
  const auto found = all.by_number.find(number);
  return found == all.by_number.end() ? nullptr : found->second;
}

void forget_number(object& what) noexcept {
  if (what.number_ == 0) return;
  numbering& all = numbers();
  const base::lock_guard held(all.lock);
  all.by_number.erase(what.number_);
  what.number_ = 0;
}

}  // namespace headway::mpi
