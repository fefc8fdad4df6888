#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/abi/integers.hpp"
#include "mpi/abi/recorded_call.hpp"
#include "mpi/collectives/operation.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/communicators/group.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/files/file.hpp"
#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/info.hpp"
#include "mpi/objects/object.hpp"
#include "mpi/one_sided/window.hpp"
#include "mpi/point_to_point/message_request.hpp"
#include "mpi/point_to_point/request.hpp"
#include "mpi/sessions/session.hpp"

/// What the generated entry points (api/entries.py) call to check arguments. The checks are inline;
/// the functions that refuse an argument are out of line: they compose the message and call the
/// error handler.
namespace headway::mpi {

/// Which error handler is called for a call without communicator, window, file or session.
enum class handler_scope : std::uint8_t {
  common,  ///< that of MPI_COMM_SELF
  file,    ///< the default error handler of files
  tool,    ///< none: MPI_T functions only return codes
};

struct call_site {
  const char* name;
  const char* const* arguments;
  handler_scope scope;
  report::function recorded;
};

/// Calls the error handler of `where` for a call that failed. Returns the call's return value.
[[gnu::cold]] int raise(const call_site& site, const object* where, int code);

[[gnu::cold]] int refuse_state(const call_site& site);
[[gnu::cold]] int refuse_unsupported(const call_site& site, const object* where);
[[gnu::cold]] int refuse_object(const call_site& site, const object* where, int argument,
                                object_kind kind, std::uintptr_t bits, std::uintptr_t null_bits);
[[gnu::cold]] int refuse_negative(const call_site& site, const object* where, int error,
                                  int argument, MPI_Count value);
[[gnu::cold]] int refuse_rank(const call_site& site, const communicator& comm, int error,
                              int argument, int value);
[[gnu::cold]] int refuse_inter(const call_site& site, const communicator& comm, int argument);
[[gnu::cold]] int refuse_tag(const call_site& site, const object* where, int argument, int value);
[[gnu::cold]] int refuse_null(const call_site& site, const object* where, int argument);
[[gnu::cold]] int refuse_uncommitted(const call_site& site, const object* where, int argument);
[[gnu::cold]] int refuse_buffer(const call_site& site, const object* where, int argument,
                                MPI_Count count);

/// MPI_SUCCESS if every element is valid, else the call's return value.
int refuse_counts(const call_site& site, const object* where, int argument, integers values,
                  MPI_Count count);
int refuse_types(const call_site& site, const object* where, int argument,
                 const MPI_Datatype* values, MPI_Count count, bool must_be_committed);
int refuse_requests(const call_site& site, const object* where, int argument,
                    const MPI_Request* values, MPI_Count count);

template <class H>
struct object_of;
template <>
struct object_of<MPI_Comm> {
  using type = communicator;
};
template <>
struct object_of<MPI_Datatype> {
  using type = datatype;
};
template <>
struct object_of<MPI_Op> {
  using type = operation;
};
template <>
struct object_of<MPI_Group> {
  using type = group;
};
template <>
struct object_of<MPI_Info> {
  using type = info;
};
template <>
struct object_of<MPI_Errhandler> {
  using type = errhandler;
};
template <>
struct object_of<MPI_Win> {
  using type = window;
};
template <>
struct object_of<MPI_File> {
  using type = file;
};
template <>
struct object_of<MPI_Session> {
  using type = session;
};
template <>
struct object_of<MPI_Request> {
  using type = request;
};
template <>
struct object_of<MPI_Message> {
  using type = message;
};

template <class H>
[[gnu::cold]] int refuse_handle(const call_site& site, const object* where, int argument, H value) {
  using T = typename object_of<H>::type;
  return refuse_object(site, where, argument, T::object_kind_of,
                       reinterpret_cast<std::uintptr_t>(value), T::null_value);
}

/// The object for a handle argument that is not significant in this process or call. The handle's
/// value is not read.
template <class T>
[[nodiscard]] T& nothing() noexcept;
template <>
inline datatype& nothing<datatype>() noexcept {
  return datatype::none();
}
template <>
inline operation& nothing<operation>() noexcept {
  return operation::none();
}

[[nodiscard]] inline bool is_tag(int tag) noexcept {
  return tag >= 0 && tag <= messages::program_tag_max;
}

/// A large number in the int form of a procedure: MPI_UNDEFINED where it does not fit.
[[nodiscard]] inline int narrowed(MPI_Count value) noexcept {
  const int narrow = static_cast<int>(value);
  return narrow == value ? narrow : MPI_UNDEFINED;
}

}  // namespace headway::mpi
