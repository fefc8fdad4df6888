#pragma once

#include <memory>

#include "mpi/objects/object.hpp"

namespace headway::mpi {

/// An attribute key with the program's callbacks. After MPI_X_free_keyval it exists until the last
/// attribute with this key is removed.
struct keyval {
  using any_function = void (*)();

  object_kind kind = object_kind::none;
  any_function copy = nullptr;    ///< null: not copied; 1: the value is copied; else a callback
  any_function remove = nullptr;  ///< null: nothing to do
  void* extra_state = nullptr;
  int key = 0;
};

/// Adds a key and returns its number.
/// Threads:  any; a lock.
[[nodiscard]] int add_keyval(const keyval& made);
/// The key of that number and kind; null if there is none or it was freed.
[[nodiscard]] std::shared_ptr<keyval> find_keyval(int key, object_kind kind);
[[nodiscard]] bool free_keyval(int key, object_kind kind);

}  // namespace headway::mpi
