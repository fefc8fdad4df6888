#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <string>

#include "datatypes/layout.hpp"
#include "mpi/objects/attributes.hpp"
#include "mpi/objects/object.hpp"

namespace headway::mpi {

/// How a derived datatype was made, for MPI_Type_get_envelope and get_contents.
struct type_recipe;

/// An MPI datatype: a layout with a name, attributes and a record of how it was made.
/// Threads:  the layout is immutable; name and attributes are accessed as the standard requires of
///           the program.
class datatype final : public object {
 public:
  using handle = MPI_Datatype;
  static constexpr object_kind object_kind_of = object_kind::type;
  static constexpr std::uintptr_t null_value = 0x200;

  explicit datatype(datatypes::layout_ptr layout);
  ~datatype() override;

  [[nodiscard]] const datatypes::layout& layout() const noexcept { return *layout_; }
  [[nodiscard]] const datatypes::layout_ptr& shared_layout() const noexcept { return layout_; }

  /// True if its elements are at absolute addresses, so that MPI_BOTTOM is a valid buffer.
  [[nodiscard]] bool is_absolute() const noexcept {
    return layout_->size() == 0 || layout_->true_lb() >= static_cast<long>(predefined_end) ||
           layout_->true_lb() < 0;
  }

  /// Counts the handle, and the operations whose user function may still use the type.
  void add_user() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }  // no data
  void drop_user() noexcept;

  /// The object for a datatype argument that is not significant; its size is 0.
  [[nodiscard]] static datatype& none() noexcept;

  bool committed = false;
  std::string name = {};
  std::shared_ptr<const type_recipe> recipe = {};  ///< null: predefined
  attribute_set attributes = {};

 private:
  datatypes::layout_ptr layout_;
  std::atomic<int> users_{1};
};

/// Makes the objects of the predefined datatypes. Called once, at start.
void define_datatypes();

}  // namespace headway::mpi
