#include "mpi/communicators/attribute_calls.hpp"

#include <cstring>

#include "mpi/environment/error_codes.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/keyvals.hpp"
#include "mpi/point_to_point/message_request.hpp"

namespace headway::mpi::calls {
namespace {

template <class Copy, class Remove>
int create(object_kind kind, Copy* copy, Remove* remove, int& key, void* extra_state) {
  keyval made;
  made.kind = kind;
  made.copy = reinterpret_cast<keyval::any_function>(copy);
  made.remove = reinterpret_cast<keyval::any_function>(remove);
  made.extra_state = extra_state;
  key = add_keyval(made);
  return MPI_SUCCESS;
}

int bad_key(int key) { return fail(MPI_ERR_KEYVAL, "{} is no attribute key, or a freed one", key); }

int free_key(object_kind kind, int& key) {
  if (!free_keyval(key, kind)) return bad_key(key);
  key = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

void put_pointer(void* room, const void* value) { std::memcpy(room, &value, sizeof value); }

template <class T>
int get(T& owner, int key, void* room, int& flag) {
  void* value = nullptr;
  flag = owner.attributes.get(key, value);
  if (flag) {
    put_pointer(room, value);
  } else if (!find_keyval(key, T::object_kind_of)) {
    return bad_key(key);
  }
  return MPI_SUCCESS;
}

/// The value of a predefined key of communicators; null: the key is known, but has no value.
struct predefined_value {
  bool known = false;
  const int* number = nullptr;
};

predefined_value predefined_attribute(int key) {
  static const int largest_tag = messages::program_tag_max, no_host = MPI_PROC_NULL,
                   any_rank = MPI_ANY_SOURCE, not_global = 0;
  static int app_number, universe;
  const auto& job = the_library.runtime->job().who();
  switch (key) {
    case MPI_TAG_UB:
      return {true, &largest_tag};
    case MPI_HOST:
      return {true, &no_host};
    case MPI_IO:
      return {true, &any_rank};
    case MPI_WTIME_IS_GLOBAL:
      return {true, &not_global};
    case MPI_LASTUSEDCODE:
      return {true, last_used_code()};
    case MPI_APPNUM:
      app_number = job.app_number;
      return {true, app_number >= 0 ? &app_number : nullptr};
    case MPI_UNIVERSE_SIZE:
      universe = job.universe_size;
      return {true, universe >= 0 ? &universe : nullptr};
    default:
      return {};
  }
}

int refuse_predefined(int key) {
  if (!predefined_attribute(key).known) return MPI_SUCCESS;
  return fail(MPI_ERR_KEYVAL, "{} is a predefined attribute key, which cannot be changed", key);
}

}  // namespace

int comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                       int& key, void* extra_state) {
  return create(object_kind::comm, copy, remove, key, extra_state);
}

int comm_free_keyval(int& key) { return free_key(object_kind::comm, key); }

int comm_set_attr(communicator& comm, int key, void* value) {
  if (const int code = refuse_predefined(key)) return code;
  return comm.attributes.set(comm, key, value);
}

int comm_get_attr(communicator& comm, int key, void* value, int& flag) {
  const predefined_value known = predefined_attribute(key);
  if (!known.known) return get(comm, key, value, flag);
  flag = known.number != nullptr;
  if (flag) put_pointer(value, known.number);
  return MPI_SUCCESS;
}

int comm_delete_attr(communicator& comm, int key) {
  if (const int code = refuse_predefined(key)) return code;
  return comm.attributes.remove(comm, key);
}

int type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove,
                       int& key, void* extra_state) {
  return create(object_kind::type, copy, remove, key, extra_state);
}

int type_free_keyval(int& key) { return free_key(object_kind::type, key); }

int type_set_attr(datatype& type, int key, void* value) {
  return type.attributes.set(type, key, value);
}

int type_get_attr(datatype& type, int key, void* value, int& flag) {
  return get(type, key, value, flag);
}

int type_delete_attr(datatype& type, int key) { return type.attributes.remove(type, key); }

int win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove,
                      int& key, void* extra_state) {
  return create(object_kind::win, copy, remove, key, extra_state);
}

int win_free_keyval(int& key) { return free_key(object_kind::win, key); }

}  // namespace headway::mpi::calls
