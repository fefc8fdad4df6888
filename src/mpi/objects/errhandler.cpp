#include "mpi/objects/errhandler.hpp"

#include "mpi/communicators/communicator.hpp"
#include "mpi/files/file.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/one_sided/window.hpp"
#include "mpi/sessions/session.hpp"

namespace headway::mpi {
namespace {

// Defined when the library is loaded: they are valid before MPI_Init.
struct predefined_errhandlers {
  errhandler fatal{errhandler::action::end_job};
  errhandler abort{errhandler::action::end_job};
  errhandler give_back{errhandler::action::return_code};

  predefined_errhandlers() {
    define(fatal, object_kind::errhandler, reinterpret_cast<std::uintptr_t>(MPI_ERRORS_ARE_FATAL));
    define(abort, object_kind::errhandler, reinterpret_cast<std::uintptr_t>(MPI_ERRORS_ABORT));
    define(give_back, object_kind::errhandler, reinterpret_cast<std::uintptr_t>(MPI_ERRORS_RETURN));
  }
};

predefined_errhandlers& standard() {
  static auto* const made = new predefined_errhandlers;
  return *made;
}

[[maybe_unused]] const auto& standard_at_load = standard();

/// With a null handle where `where` is not of the type.
template <class T, class Function>
void call(errhandler::any_function user, const object& where, int code) {
  const bool fits = where.kind() == T::object_kind_of;
  auto h = handle_of(fits ? static_cast<const T*>(&where) : nullptr);
  reinterpret_cast<Function*>(user)(&h, &code);
}

}  // namespace

void errhandler::call_user(const object& where, int code) const {
  switch (of_) {
    case object_kind::comm:
      return call<communicator, MPI_Comm_errhandler_function>(user_, where, code);
    case object_kind::win:
      return call<window, MPI_Win_errhandler_function>(user_, where, code);
    case object_kind::file:
      return call<file, MPI_File_errhandler_function>(user_, where, code);
    case object_kind::session:
      return call<session, MPI_Session_errhandler_function>(user_, where, code);
    default:
      break;
  }
}

void errhandler::drop_user() noexcept {
  if (is_predefined()) return;
  // (G) release: this user's accesses are over; (D) acquire: so are those of all others.
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) pool<errhandler>::all().drop(this);
}

errhandler& errors_are_fatal() noexcept { return standard().fatal; }
errhandler& errors_return() noexcept { return standard().give_back; }

}  // namespace headway::mpi
