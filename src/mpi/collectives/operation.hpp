#pragma once

#include <mpi.h>

#include <optional>

#include "collectives/operators.hpp"
#include "mpi/objects/object.hpp"

namespace headway::mpi {

/// An MPI reduction operation, predefined or the user's.
/// Threads:  immutable.
class operation final : public object {
 public:
  using handle = MPI_Op;
  static constexpr object_kind object_kind_of = object_kind::op;
  static constexpr std::uintptr_t null_value = 0x20;

  operation() = default;
  explicit operation(MPI_User_function* made, bool is_commutative) noexcept
      : user(made), commutative(is_commutative) {}
  explicit operation(MPI_User_function_c* made, bool is_commutative) noexcept
      : user_large(made), commutative(is_commutative) {}

  /// Takes the place of an argument that is not significant.
  [[nodiscard]] static operation& none() noexcept;

  const char* name = "the user's operation";
  std::optional<collectives::operation> predefined = {};
  MPI_User_function* user = nullptr;
  MPI_User_function_c* user_large = nullptr;
  bool commutative = true;
};

/// Makes the objects of the predefined operations. Called once, at start.
void define_operations();

}  // namespace headway::mpi
