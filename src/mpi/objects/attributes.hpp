#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/objects/object.hpp"

namespace headway::mpi {

struct keyval;

/// Attributes that users attach to a communicator, datatype or window: keyval and pointer.
/// Threads:  one at a time for each object, as the standard requires of the program.
/// Errors:   the code of a callback that fails is returned; the attribute then stays as it was.
class attribute_set {
 public:
  attribute_set() = default;
  ~attribute_set();
  attribute_set(const attribute_set&) = delete;
  attribute_set& operator=(const attribute_set&) = delete;

  /// Sets a value. Calls the delete callback of an older value first, with `owner`.
  [[nodiscard]] int set(object& owner, int key, void* value);
  /// False: the object has no such attribute.
  [[nodiscard]] bool get(int key, void*& value) const;
  [[nodiscard]] int remove(object& owner, int key);
  /// Calls the copy callbacks of `from`'s attributes, in the order in which they were set.
  [[nodiscard]] int copy_from(object& from_owner, const attribute_set& from);
  /// Removes all attributes, the latest first. Stops at a delete callback that fails, and returns
  /// its code.
  [[nodiscard]] int clear(object& owner);
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

 private:
  struct entry {
    std::shared_ptr<keyval> key;
    void* value;
  };
  std::vector<entry> entries_;
};

}  // namespace headway::mpi
