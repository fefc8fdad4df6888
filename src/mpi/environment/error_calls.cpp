#include "mpi/environment/error_calls.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/abi/entry.hpp"
#include "mpi/environment/error_codes.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi::calls {
namespace {

int create(object_kind kind, errhandler::any_function function, errhandler*& made) {
  if (function == nullptr) return fail(MPI_ERR_ARG, "the function is a null pointer");
  made = pool<errhandler>::all().make(kind, function);
  return MPI_SUCCESS;
}

template <class T>
int set(T& which, errhandler& handler) {
  if (!handler.fits(T::object_kind_of)) {
    return fail(MPI_ERR_ERRHANDLER, "the error handler was made for objects of another kind");
  }
  which.handler = errhandler_ref(handler);
  return MPI_SUCCESS;
}

template <class T>
int get(T& which, errhandler*& handler) {
  handler = which.handler.get();
  if (handler != nullptr) handler->add_user();  // for the new handle, which the program frees
  return MPI_SUCCESS;
}

int call(const char* name, const object& where, int code) {
  const char* const no_arguments[] = {nullptr};
  const call_site site{name, no_arguments, handler_scope::common, {name, 0, false}};
  last_failure() = {};  // the program's code may equal that of an earlier failure
  (void)raise(site, &where, code);
  return MPI_SUCCESS;
}

int unknown_code(int code) {
  return fail(MPI_ERR_ARG, "{} is no error code, or one that cannot be changed", code);
}

}  // namespace

int comm_create_errhandler(MPI_Comm_errhandler_function* function, errhandler*& made) {
  return create(object_kind::comm, reinterpret_cast<errhandler::any_function>(function), made);
}
int win_create_errhandler(MPI_Win_errhandler_function* function, errhandler*& made) {
  return create(object_kind::win, reinterpret_cast<errhandler::any_function>(function), made);
}
int file_create_errhandler(MPI_File_errhandler_function* function, errhandler*& made) {
  return create(object_kind::file, reinterpret_cast<errhandler::any_function>(function), made);
}
int session_create_errhandler(MPI_Session_errhandler_function* function, errhandler*& made) {
  return create(object_kind::session, reinterpret_cast<errhandler::any_function>(function), made);
}

int errhandler_free(errhandler*& freed) {
  freed->drop_user();  // no effect on predefined ones, which programs may free
  freed = nullptr;
  return MPI_SUCCESS;
}

int comm_set_errhandler(communicator& comm, errhandler& handler) { return set(comm, handler); }
int win_set_errhandler(window& win, errhandler& handler) { return set(win, handler); }
int file_set_errhandler(file& which, errhandler& handler) { return set(which, handler); }
int session_set_errhandler(session& which, errhandler& handler) { return set(which, handler); }
int comm_get_errhandler(communicator& comm, errhandler*& handler) { return get(comm, handler); }
int win_get_errhandler(window& win, errhandler*& handler) { return get(win, handler); }
int file_get_errhandler(file& which, errhandler*& handler) { return get(which, handler); }
int session_get_errhandler(session& which, errhandler*& handler) { return get(which, handler); }

int comm_call_errhandler(communicator& comm, int errorcode) {
  return call("MPI_Comm_call_errhandler", comm, errorcode);
}
int win_call_errhandler(window& win, int errorcode) {
  return call("MPI_Win_call_errhandler", win, errorcode);
}
int file_call_errhandler(file& which, int errorcode) {
  return call("MPI_File_call_errhandler", which, errorcode);
}
int session_call_errhandler(session& which, int errorcode) {
  return call("MPI_Session_call_errhandler", which, errorcode);
}

int error_class(int errorcode, int& errorclass) {
  const auto found = error_class_of(errorcode);
  if (!found) return unknown_code(errorcode);
  errorclass = *found;
  return MPI_SUCCESS;
}

int error_string(int errorcode, char* string, int& resultlen) {
  auto text = error_text(errorcode);
  if (!text) return unknown_code(errorcode);
  // Append the detail of this thread's last failure if it has this code, unless the program has
  // added the code.
  const failure& last = last_failure();
  const bool is_ours = errorcode != MPI_SUCCESS && errorcode <= MPI_ERR_LASTCODE;
  if (is_ours && last.code == errorcode) *text += "; " + last.text;
  resultlen = static_cast<int>(std::min<std::size_t>(text->size(), MPI_MAX_ERROR_STRING - 1));
  std::memcpy(string, text->data(), static_cast<std::size_t>(resultlen));
  string[resultlen] = '\0';
  return MPI_SUCCESS;
}

int add_error_class(int& errorclass) {
  errorclass = mpi::add_error_class();
  return MPI_SUCCESS;
}

int add_error_code(int errorclass, int& errorcode) {
  const auto made = mpi::add_error_code(errorclass);
  if (!made) return fail(MPI_ERR_ARG, "{} is no error class", errorclass);
  errorcode = *made;
  return MPI_SUCCESS;
}

int add_error_string(int errorcode, const char* string) {
  if (std::strlen(string) >= MPI_MAX_ERROR_STRING) {
    return fail(MPI_ERR_ARG, "the string is longer than MPI_MAX_ERROR_STRING");
  }
  return set_error_text(errorcode, string) ? MPI_SUCCESS : unknown_code(errorcode);
}

int remove_error_class(int errorclass) {
  return mpi::remove_error_class(errorclass)
             ? MPI_SUCCESS
             : fail(MPI_ERR_ARG, "{} is no added error class, or still has codes or a text",
                    errorclass);
}

int remove_error_code(int errorcode) {
  return mpi::remove_error_code(errorcode) ? MPI_SUCCESS : unknown_code(errorcode);
}

int remove_error_string(int errorcode) {
  return remove_error_text(errorcode) ? MPI_SUCCESS : unknown_code(errorcode);
}

}  // namespace headway::mpi::calls
