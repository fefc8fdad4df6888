// Attributes as Fortran sets and reads them.
#include <memory>
#include <unordered_map>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/fortran/conversions.hpp"
#include "mpi/fortran/special.hpp"

namespace headway::mpi::fortran {
namespace {

/// The attributes that Fortran has set. In C an attribute is an address: that of the number, in
/// here (MPI-5.0 section 19.3.7). An address that is not in here was set in C and is itself the
/// number.
/// Threads:  any; a lock.
class number_store {
 public:
  static number_store& all() {
    static auto* const made = new number_store;  // attributes are deleted until the very end
    return *made;
  }

  void* add(MPI_Aint value) {
    auto made = std::make_unique<MPI_Aint>(value);
    void* at = made.get();
    const base::lock_guard held(lock_);
    numbers_.emplace(at, std::move(made));
    return at;
  }

  MPI_Aint value_at(void* attribute) {
    const base::lock_guard held(lock_);
    const auto found = numbers_.find(attribute);
    return found == numbers_.end() ? reinterpret_cast<MPI_Aint>(attribute) : *found->second;
  }

  void remove(void* attribute) {
    const base::lock_guard held(lock_);
    numbers_.erase(attribute);
  }

 private:
  base::mutex lock_;
  std::unordered_map<void*, std::unique_ptr<MPI_Aint>> numbers_ HEADWAY_GUARDED_BY(lock_);
};

/// The callbacks of a key made in Fortran, whose attributes are of type Number. Never freed: the
/// key lasts as long as an attribute has it.
template <class Number>
struct key_callbacks {
  void (*copy)(int*, int*, Number*, Number*, Number*, int*, int*);
  void (*remove)(int*, int*, Number*, Number*, int*);
  Number extra_state;

  static key_callbacks* make(procedure* copy, procedure* remove, Number extra_state) {
    return new key_callbacks{reinterpret_cast<decltype(key_callbacks::copy)>(copy),
                             reinterpret_cast<decltype(key_callbacks::remove)>(remove),
                             extra_state};
  }
};

template <class Handle, class Number>
int copy_attribute(Handle object, int keyval, void* given, void* from, void* to, int* flag) {
  auto& key = *static_cast<key_callbacks<Number>*>(given);
  int object_number = number(object);
  auto value = static_cast<Number>(number_store::all().value_at(from));
  Number made = 0;
  int code = MPI_SUCCESS;
  key.copy(&object_number, &keyval, &key.extra_state, &value, &made, flag, &code);
  if (code == MPI_SUCCESS && *flag) *static_cast<void**>(to) = number_store::all().add(made);
  return code;
}

template <class Handle, class Number>
int remove_attribute(Handle object, int keyval, void* attribute, void* given) {
  auto& key = *static_cast<key_callbacks<Number>*>(given);
  int object_number = number(object);
  auto value = static_cast<Number>(number_store::all().value_at(attribute));
  int code = MPI_SUCCESS;
  key.remove(&object_number, &keyval, &value, &key.extra_state, &code);
  if (code == MPI_SUCCESS) number_store::all().remove(attribute);
  return code;
}

template <class Handle, class Set>
int set(Set* call, const int* object, const int* keyval, MPI_Aint value) {
  void* at = number_store::all().add(value);
  const int code = call(handle<Handle>(*object), *keyval, at);
  if (code != MPI_SUCCESS) number_store::all().remove(at);
  return code;
}

/// Attributes of the library are addresses of numbers in C, of different types.
bool is_of_library(int keyval) { return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE; }

MPI_Aint window_attribute(int keyval, void* at) {
  switch (keyval) {
    case MPI_WIN_SIZE:
      return *static_cast<MPI_Aint*>(at);
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *static_cast<int*>(at);
    default:
      return number_store::all().value_at(at);  // MPI_WIN_BASE is the address itself
  }
}

}  // namespace

namespace special {

int comm_create_keyval(procedure* copy, procedure* remove, int* keyval,
                       const MPI_Aint* extra_state) {
  return PMPI_Comm_create_keyval(copy_attribute<MPI_Comm, MPI_Aint>,
                                 remove_attribute<MPI_Comm, MPI_Aint>, keyval,
                                 key_callbacks<MPI_Aint>::make(copy, remove, *extra_state));
}
int type_create_keyval(procedure* copy, procedure* remove, int* keyval,
                       const MPI_Aint* extra_state) {
  return PMPI_Type_create_keyval(copy_attribute<MPI_Datatype, MPI_Aint>,
                                 remove_attribute<MPI_Datatype, MPI_Aint>, keyval,
                                 key_callbacks<MPI_Aint>::make(copy, remove, *extra_state));
}
int win_create_keyval(procedure* copy, procedure* remove, int* keyval,
                      const MPI_Aint* extra_state) {
  return PMPI_Win_create_keyval(copy_attribute<MPI_Win, MPI_Aint>,
                                remove_attribute<MPI_Win, MPI_Aint>, keyval,
                                key_callbacks<MPI_Aint>::make(copy, remove, *extra_state));
}
int keyval_create(procedure* copy, procedure* remove, int* keyval, const int* extra_state) {
  return PMPI_Comm_create_keyval(copy_attribute<MPI_Comm, int>, remove_attribute<MPI_Comm, int>,
                                 keyval, key_callbacks<int>::make(copy, remove, *extra_state));
}

int comm_set_attr(const int* comm, const int* keyval, const MPI_Aint* value) {
  return set<MPI_Comm>(PMPI_Comm_set_attr, comm, keyval, *value);
}
int type_set_attr(const int* type, const int* keyval, const MPI_Aint* value) {
  return set<MPI_Datatype>(PMPI_Type_set_attr, type, keyval, *value);
}
int win_set_attr(const int* win, const int* keyval, const MPI_Aint* value) {
  return set<MPI_Win>(PMPI_Win_set_attr, win, keyval, *value);
}
int attr_put(const int* comm, const int* keyval, const int* value) {
  return set<MPI_Comm>(PMPI_Comm_set_attr, comm, keyval, *value);
}

int comm_get_attr(const int* comm, const int* keyval, MPI_Aint* value, int* flag) {
  void* at = nullptr;
  const int code = PMPI_Comm_get_attr(handle<MPI_Comm>(*comm), *keyval, &at, flag);
  if (code != MPI_SUCCESS || !*flag) return code;
  *value = is_of_library(*keyval) ? *static_cast<int*>(at) : number_store::all().value_at(at);
  return code;
}
int type_get_attr(const int* type, const int* keyval, MPI_Aint* value, int* flag) {
  void* at = nullptr;
  const int code = PMPI_Type_get_attr(handle<MPI_Datatype>(*type), *keyval, &at, flag);
  if (code == MPI_SUCCESS && *flag) *value = number_store::all().value_at(at);
  return code;
}
int win_get_attr(const int* win, const int* keyval, MPI_Aint* value, int* flag) {
  void* at = nullptr;
  const int code = PMPI_Win_get_attr(handle<MPI_Win>(*win), *keyval, &at, flag);
  if (code == MPI_SUCCESS && *flag) *value = window_attribute(*keyval, at);
  return code;
}
int attr_get(const int* comm, const int* keyval, int* value, int* flag) {
  MPI_Aint wide = 0;
  const int code = comm_get_attr(comm, keyval, &wide, flag);
  if (code == MPI_SUCCESS && *flag) *value = static_cast<int>(wide);
  return code;
}

}  // namespace special
}  // namespace headway::mpi::fortran

// The predefined callbacks. A program may also call them, or pass them to MPI as its own.
#pragma GCC visibility push(default)
extern "C" {

void pmpi_comm_dup_fn_(int*, int*, MPI_Aint*, MPI_Aint* from, MPI_Aint* to, int* flag, int* code) {
  *to = *from;
  *flag = 1;
  *code = MPI_SUCCESS;
}
void pmpi_comm_null_copy_fn_(int*, int*, MPI_Aint*, MPI_Aint*, MPI_Aint*, int* flag, int* code) {
  *flag = 0;
  *code = MPI_SUCCESS;
}
void pmpi_comm_null_delete_fn_(int*, int*, MPI_Aint*, MPI_Aint*, int* code) { *code = MPI_SUCCESS; }
void pmpi_dup_fn_(int*, int*, int*, int* from, int* to, int* flag, int* code) {
  *to = *from;
  *flag = 1;
  *code = MPI_SUCCESS;
}

// NOLINTBEGIN(bugprone-macro-parentheses): it declares `other`
#define HEADWAY_NAME(other, name) \
  extern __typeof__(name) other __attribute__((weak, alias(#name), visibility("default")));
// NOLINTEND(bugprone-macro-parentheses)
HEADWAY_NAME(mpi_comm_dup_fn_, pmpi_comm_dup_fn_)
HEADWAY_NAME(mpi_type_dup_fn_, pmpi_comm_dup_fn_)
HEADWAY_NAME(mpi_win_dup_fn_, pmpi_comm_dup_fn_)
HEADWAY_NAME(mpi_dup_fn_, pmpi_dup_fn_)
HEADWAY_NAME(mpi_comm_null_copy_fn_, pmpi_comm_null_copy_fn_)
HEADWAY_NAME(mpi_type_null_copy_fn_, pmpi_comm_null_copy_fn_)
HEADWAY_NAME(mpi_win_null_copy_fn_, pmpi_comm_null_copy_fn_)
HEADWAY_NAME(mpi_null_copy_fn_, pmpi_comm_null_copy_fn_)
HEADWAY_NAME(mpi_comm_null_delete_fn_, pmpi_comm_null_delete_fn_)
HEADWAY_NAME(mpi_type_null_delete_fn_, pmpi_comm_null_delete_fn_)
HEADWAY_NAME(mpi_win_null_delete_fn_, pmpi_comm_null_delete_fn_)
HEADWAY_NAME(mpi_null_delete_fn_, pmpi_comm_null_delete_fn_)
}
#pragma GCC visibility pop
