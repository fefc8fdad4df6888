// Functions of a Fortran program that MPI calls, behind C functions of the same meaning.
#include <memory>
#include <utility>

#include "mpi/fortran/callback_slots.hpp"
#include "mpi/fortran/conversions.hpp"
#include "mpi/fortran/special.hpp"
#include "mpi/fortran/unrecorded.hpp"

namespace headway::mpi::fortran {
namespace {

/// Operators, with counts of type Count.
template <class Count>
struct operators {
  using in_c = void(void*, void*, Count*, MPI_Datatype*);
  using in_fortran = void(void*, void*, Count*, int*);
  using slots = callback_slots<in_fortran, 256>;

  static slots& all() {
    static slots made;
    return made;
  }
  template <std::size_t slot>
  static void call(void* in, void* inout, Count* count, MPI_Datatype* type) {
    int type_number = number(*type);
    all().at(slot)(in, inout, count, &type_number);
  }
};

/// Error handlers of one kind of object.
template <class Handle>
struct error_handlers {
  using in_c = void(Handle*, int*, ...);
  using in_fortran = void(int*, int*);
  using slots = callback_slots<in_fortran, 64>;

  static slots& all() {
    static slots made;
    return made;
  }
  template <std::size_t slot>
  static void call(Handle* object, int* code, ...) {
    int object_number = number(*object);
    all().at(slot)(&object_number, code);
  }
};

template <class Kind, std::size_t... slot>
constexpr auto trampolines(std::index_sequence<slot...>) {
  return std::array<typename Kind::in_c*, sizeof...(slot)>{&Kind::template call<slot>...};
}

/// The C function that calls the procedure. Null: there are too many procedures.
template <class Kind>
typename Kind::in_c* function_in_c(procedure* given) {
  static constexpr auto all = trampolines<Kind>(std::make_index_sequence<Kind::slots::none>{});
  const std::size_t slot = Kind::all().get(reinterpret_cast<typename Kind::in_fortran*>(given));
  return slot == Kind::slots::none ? nullptr : all[slot];
}

int refuse_procedure() {
  const unrecorded calls;
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

/// What a generalised request calls.
struct request_callbacks {
  void (*query)(MPI_Aint*, int*, int*);
  void (*free)(MPI_Aint*, int*);
  void (*cancel)(MPI_Aint*, int*, int*);
  MPI_Aint extra_state;
};

int query_request(void* given, MPI_Status* status) {
  auto& callbacks = *static_cast<request_callbacks*>(given);
  int code = MPI_SUCCESS;
  callbacks.query(&callbacks.extra_state, reinterpret_cast<int*>(status), &code);
  return code;
}

int free_request(void* given) {
  const std::unique_ptr<request_callbacks> callbacks(static_cast<request_callbacks*>(given));
  int code = MPI_SUCCESS;
  callbacks->free(&callbacks->extra_state, &code);
  return code;
}

int cancel_request(void* given, int complete) {
  auto& callbacks = *static_cast<request_callbacks*>(given);
  int code = MPI_SUCCESS;
  callbacks.cancel(&callbacks.extra_state, &complete, &code);
  return code;
}

/// What a data representation calls.
template <class Count>
struct representation {
  using conversion = void(void*, int*, Count*, void*, MPI_Offset*, MPI_Aint*, int*);
  conversion* read;
  conversion* write;
  void (*extent)(int*, MPI_Aint*, MPI_Aint*, int*);
  MPI_Aint extra_state;
};

template <class Count, bool reads>
int convert(void* user, MPI_Datatype type, Count count, void* file, MPI_Offset position,
            void* given) {
  auto& all = *static_cast<representation<Count>*>(given);
  int type_number = number(type);
  int code = MPI_SUCCESS;
  (reads ? all.read : all.write)(user, &type_number, &count, file, &position, &all.extra_state,
                                 &code);
  return code;
}

template <class Count>
int extent_in_file(MPI_Datatype type, MPI_Aint* extent, void* given) {
  auto& all = *static_cast<representation<Count>*>(given);
  int type_number = number(type);
  int code = MPI_SUCCESS;
  all.extent(&type_number, extent, &all.extra_state, &code);
  return code;
}

}  // namespace
}  // namespace headway::mpi::fortran

#pragma GCC visibility push(default)
extern "C" {
/// MPI_CONVERSION_FN_NULL and its large form: recognised by their addresses, never called.
void mpi_conversion_fn_null_() {}
void mpi_conversion_fn_null_c_() {}
}
#pragma GCC visibility pop

namespace headway::mpi::fortran::special {
namespace {

template <class Count, class Register, class Conversion>
int register_representation(const text_in& name, procedure* read, procedure* write,
                            procedure* extent, MPI_Aint extra_state, procedure* none,
                            Register* call, Conversion* none_in_c) {
  using kind = representation<Count>;
  auto made = std::make_unique<kind>(reinterpret_cast<typename kind::conversion*>(read),
                                     reinterpret_cast<typename kind::conversion*>(write),
                                     reinterpret_cast<decltype(kind::extent)>(extent), extra_state);
  const int code =
      call(name.get(), read == none ? none_in_c : &convert<Count, true>,
           write == none ? none_in_c : &convert<Count, false>, &extent_in_file<Count>, made.get());
  if (code == MPI_SUCCESS) static_cast<void>(made.release());  // representations last until the end
  return code;
}

template <class Handle, class Create>
int create_errhandler(procedure* function, int* errhandler, Create* create) {
  written<MPI_Errhandler> errhandler_(errhandler);
  auto* in_c = function_in_c<error_handlers<Handle>>(function);
  return in_c == nullptr ? refuse_procedure() : create(in_c, errhandler_.address());
}

}  // namespace

int op_create(procedure* function, const int* commute, int* op) {
  written<MPI_Op> op_(op);
  auto* in_c = function_in_c<operators<int>>(function);
  return in_c == nullptr ? refuse_procedure() : PMPI_Op_create(in_c, *commute, op_.address());
}

int op_create_c(procedure* function, const int* commute, int* op) {
  written<MPI_Op> op_(op);
  auto* in_c = function_in_c<operators<MPI_Count>>(function);
  return in_c == nullptr ? refuse_procedure() : PMPI_Op_create_c(in_c, *commute, op_.address());
}

int comm_create_errhandler(procedure* function, int* errhandler) {
  return create_errhandler<MPI_Comm>(function, errhandler, PMPI_Comm_create_errhandler);
}
int file_create_errhandler(procedure* function, int* errhandler) {
  return create_errhandler<MPI_File>(function, errhandler, PMPI_File_create_errhandler);
}
int session_create_errhandler(procedure* function, int* errhandler) {
  return create_errhandler<MPI_Session>(function, errhandler, PMPI_Session_create_errhandler);
}
int win_create_errhandler(procedure* function, int* errhandler) {
  return create_errhandler<MPI_Win>(function, errhandler, PMPI_Win_create_errhandler);
}

int grequest_start(procedure* query, procedure* free, procedure* cancel,
                   const MPI_Aint* extra_state, int* request) {
  auto made = std::make_unique<request_callbacks>(
      reinterpret_cast<decltype(request_callbacks::query)>(query),
      reinterpret_cast<decltype(request_callbacks::free)>(free),
      reinterpret_cast<decltype(request_callbacks::cancel)>(cancel), *extra_state);
  written<MPI_Request> request_(request);
  const int code = PMPI_Grequest_start(query_request, free_request, cancel_request, made.get(),
                                       request_.address());
  if (code == MPI_SUCCESS) static_cast<void>(made.release());  // free_request deletes it
  return code;
}

int register_datarep(const char* name, procedure* read, procedure* write, procedure* extent,
                     const MPI_Aint* extra_state, std::size_t name_length) {
  return register_representation<int>(text_in(name, name_length), read, write, extent, *extra_state,
                                      mpi_conversion_fn_null_, PMPI_Register_datarep,
                                      MPI_CONVERSION_FN_NULL);
}

int register_datarep_c(const char* name, procedure* read, procedure* write, procedure* extent,
                       const MPI_Aint* extra_state, std::size_t name_length) {
  return register_representation<MPI_Count>(text_in(name, name_length), read, write, extent,
                                            *extra_state, mpi_conversion_fn_null_c_,
                                            PMPI_Register_datarep_c, MPI_CONVERSION_FN_NULL_C);
}

}  // namespace headway::mpi::fortran::special
