#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpi/objects/attributes.hpp"
#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/hint_set.hpp"
#include "mpi/objects/object.hpp"
#include "mpi/one_sided/attached_operations.hpp"

namespace headway::windows {
class window;
enum class status : std::uint8_t;
}  // namespace headway::windows

namespace headway::mpi {

class communicator;
class epochs;

/// An MPI window (MPI-5.0 chapter 12): a windows::window with its epochs and all that a handle has.
/// Shape:    has a communicator of its own, whose collective context carries its messages.
/// Threads:  operations and synchronisations as `windows::window`; name, attributes, info and error
///           handler are accessed as the standard requires of the program.
class window final : public object {
 public:
  using handle = MPI_Win;
  static constexpr object_kind object_kind_of = object_kind::win;
  static constexpr std::uintptr_t null_value = 0x110;

  /// What MPI_Win_get_attr shows, at addresses that stay.
  struct facts {
    void* base = nullptr;
    MPI_Aint size = 0;
    int displacement_unit = 1;
    int flavor = MPI_WIN_FLAVOR_CREATE;
    int model = MPI_WIN_UNIFIED;
  };

  window(communicator& own, const facts& known, std::unique_ptr<windows::window> memory);
  ~window() override;

  [[nodiscard]] communicator& comm() const noexcept { return comm_; }
  [[nodiscard]] facts& known() noexcept { return facts_; }
  [[nodiscard]] windows::window& memory() noexcept { return *memory_; }
  [[nodiscard]] mpi::epochs& epochs() noexcept { return *epochs_; }
  [[nodiscard]] attached_operations& attached() noexcept { return attached_; }

  std::string name;
  errhandler_ref handler;
  attribute_set attributes;
  hint_set hints;

 private:
  communicator& comm_;
  facts facts_;
  const std::unique_ptr<windows::window> memory_;
  const std::unique_ptr<mpi::epochs> epochs_;
  attached_operations attached_;
};

/// The MPI error code of an operation or a synchronisation of a window.
[[nodiscard]] int code_of(windows::status how, const window& on);

}  // namespace headway::mpi
