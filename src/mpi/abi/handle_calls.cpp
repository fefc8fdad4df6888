#include "mpi/abi/handle_calls.hpp"

#include "mpi/collectives/operation.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/files/file.hpp"
#include "mpi/one_sided/window.hpp"
#include "mpi/point_to_point/request.hpp"
#include "mpi/sessions/session.hpp"

namespace headway::mpi::calls {
namespace {

/// The integer of an ABI constant is its value, also before MPI_Init. 0: not a handle.
template <class T>
int to_number(typename T::handle handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  if (bits < predefined_end) return static_cast<int>(bits);
  T* what = find<T>(handle);
  return what == nullptr ? 0 : number_of(*what);
}

template <class T>
typename T::handle from_number(int number) {
  const auto handle = reinterpret_cast<typename T::handle>(bits_numbered(number));
  const bool is_constant = number >= 0 && static_cast<std::uintptr_t>(number) < predefined_end;
  return is_constant || find<T>(handle) != nullptr ? handle : null_handle<T>();
}

}  // namespace

int comm_toint(MPI_Comm handle) { return to_number<communicator>(handle); }
int errhandler_toint(MPI_Errhandler handle) { return to_number<errhandler>(handle); }
int file_toint(MPI_File handle) { return to_number<file>(handle); }
int group_toint(MPI_Group handle) { return to_number<group>(handle); }
int info_toint(MPI_Info handle) { return to_number<info>(handle); }
int message_toint(MPI_Message handle) { return to_number<message>(handle); }
int op_toint(MPI_Op handle) { return to_number<operation>(handle); }
int request_toint(MPI_Request handle) { return to_number<request>(handle); }
int session_toint(MPI_Session handle) { return to_number<session>(handle); }
int type_toint(MPI_Datatype handle) { return to_number<datatype>(handle); }
int win_toint(MPI_Win handle) { return to_number<window>(handle); }

MPI_Comm comm_fromint(int number) { return from_number<communicator>(number); }
MPI_Errhandler errhandler_fromint(int number) { return from_number<errhandler>(number); }
MPI_File file_fromint(int number) { return from_number<file>(number); }
MPI_Group group_fromint(int number) { return from_number<group>(number); }
MPI_Info info_fromint(int number) { return from_number<info>(number); }
MPI_Message message_fromint(int number) { return from_number<message>(number); }
MPI_Op op_fromint(int number) { return from_number<operation>(number); }
MPI_Request request_fromint(int number) { return from_number<request>(number); }
MPI_Session session_fromint(int number) { return from_number<session>(number); }
MPI_Datatype type_fromint(int number) { return from_number<datatype>(number); }
MPI_Win win_fromint(int number) { return from_number<window>(number); }

}  // namespace headway::mpi::calls
