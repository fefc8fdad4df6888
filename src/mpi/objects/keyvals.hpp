#pragma once

#include <memory>

#include "mpi/objects/object.hpp"

namespace headway::mpi {

/// An attribute key with the program's callbacks. After MPI_X_free_keyval it lives on until the
/// last attribute with this key is removed.
struct keyval {
  using any_function = void (*)();

  object_kind kind = object_kind::none;
  any_function copy = nullptr;    ///< null: not copied; 1: the value is copied; else the program's
  any_function remove = nullptr;  ///< null: nothing to do
  void* extra_state = nullptr;
  int key = 0;
};

/// Threads: any; a lock, control plane only.
[[nodiscard]] int add_keyval(const keyval& made);
/// Null if there is none of that kind, or it was freed.
[[nodiscard]] std::shared_ptr<keyval> find_keyval(int key, object_kind kind);
[[nodiscard]] bool free_keyval(int key, object_kind kind);

}  // namespace headway::mpi
