#include "mpi/environment/error_codes.hpp"

#include <mpi.h>

#include <map>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::mpi {
namespace {

struct standard_class {
  int code;
  const char* name;
  const char* text;
};

#define HEADWAY_CLASS(name, text) {name, #name, text}
constexpr standard_class standard_classes[] = {
    HEADWAY_CLASS(MPI_SUCCESS, "no error"),
    HEADWAY_CLASS(MPI_ERR_BUFFER, "invalid buffer pointer"),
    HEADWAY_CLASS(MPI_ERR_COUNT, "invalid count"),
    HEADWAY_CLASS(MPI_ERR_TYPE, "invalid datatype"),
    HEADWAY_CLASS(MPI_ERR_TAG, "invalid tag"),
    HEADWAY_CLASS(MPI_ERR_COMM, "invalid communicator"),
    HEADWAY_CLASS(MPI_ERR_RANK, "invalid rank"),
    HEADWAY_CLASS(MPI_ERR_REQUEST, "invalid request"),
    HEADWAY_CLASS(MPI_ERR_ROOT, "invalid root"),
    HEADWAY_CLASS(MPI_ERR_GROUP, "invalid group"),
    HEADWAY_CLASS(MPI_ERR_OP, "invalid reduction operation"),
    HEADWAY_CLASS(MPI_ERR_TOPOLOGY, "invalid topology"),
    HEADWAY_CLASS(MPI_ERR_DIMS, "invalid dimensions"),
    HEADWAY_CLASS(MPI_ERR_ARG, "invalid argument"),
    HEADWAY_CLASS(MPI_ERR_UNKNOWN, "unknown error"),
    HEADWAY_CLASS(MPI_ERR_TRUNCATE, "message longer than the receive buffer"),
    HEADWAY_CLASS(MPI_ERR_OTHER, "other error"),
    HEADWAY_CLASS(MPI_ERR_INTERN, "internal error"),
    HEADWAY_CLASS(MPI_ERR_PENDING, "operation not complete yet"),
    HEADWAY_CLASS(MPI_ERR_IN_STATUS, "the error codes are in the statuses"),
    HEADWAY_CLASS(MPI_ERR_ACCESS, "permission denied"),
    HEADWAY_CLASS(MPI_ERR_AMODE, "invalid file access mode"),
    HEADWAY_CLASS(MPI_ERR_ASSERT, "invalid assertion"),
    HEADWAY_CLASS(MPI_ERR_BAD_FILE, "invalid file name"),
    HEADWAY_CLASS(MPI_ERR_BASE, "invalid base of a window"),
    HEADWAY_CLASS(MPI_ERR_CONVERSION, "a data conversion function failed"),
    HEADWAY_CLASS(MPI_ERR_DISP, "invalid displacement"),
    HEADWAY_CLASS(MPI_ERR_DUP_DATAREP, "data representation defined already"),
    HEADWAY_CLASS(MPI_ERR_FILE_EXISTS, "file exists"),
    HEADWAY_CLASS(MPI_ERR_FILE_IN_USE, "file in use"),
    HEADWAY_CLASS(MPI_ERR_FILE, "invalid file"),
    HEADWAY_CLASS(MPI_ERR_INFO_KEY, "invalid info key"),
    HEADWAY_CLASS(MPI_ERR_INFO_NOKEY, "no such info key"),
    HEADWAY_CLASS(MPI_ERR_INFO_VALUE, "invalid info value"),
    HEADWAY_CLASS(MPI_ERR_INFO, "invalid info object"),
    HEADWAY_CLASS(MPI_ERR_IO, "input or output failed"),
    HEADWAY_CLASS(MPI_ERR_KEYVAL, "invalid attribute key"),
    HEADWAY_CLASS(MPI_ERR_LOCKTYPE, "invalid lock type"),
    HEADWAY_CLASS(MPI_ERR_NAME, "no such service name"),
    HEADWAY_CLASS(MPI_ERR_NO_MEM, "out of memory"),
    HEADWAY_CLASS(MPI_ERR_NOT_SAME, "arguments differ between processes"),
    HEADWAY_CLASS(MPI_ERR_NO_SPACE, "no space left"),
    HEADWAY_CLASS(MPI_ERR_NO_SUCH_FILE, "no such file"),
    HEADWAY_CLASS(MPI_ERR_PORT, "invalid port"),
    HEADWAY_CLASS(MPI_ERR_QUOTA, "quota exceeded"),
    HEADWAY_CLASS(MPI_ERR_READ_ONLY, "read-only"),
    HEADWAY_CLASS(MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
    HEADWAY_CLASS(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    HEADWAY_CLASS(MPI_ERR_RMA_RANGE, "access outside of a window"),
    HEADWAY_CLASS(MPI_ERR_RMA_SHARED, "memory cannot be shared"),
    HEADWAY_CLASS(MPI_ERR_RMA_SYNC, "wrong synchronisation of a window"),
    HEADWAY_CLASS(MPI_ERR_SERVICE, "invalid service name"),
    HEADWAY_CLASS(MPI_ERR_SIZE, "invalid size"),
    HEADWAY_CLASS(MPI_ERR_SPAWN, "processes could not be started"),
    HEADWAY_CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "data representation not supported"),
    HEADWAY_CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "operation not supported"),
    HEADWAY_CLASS(MPI_ERR_WIN, "invalid window"),
    HEADWAY_CLASS(MPI_ERR_RMA_FLAVOR, "wrong flavour of window"),
    HEADWAY_CLASS(MPI_ERR_PROC_ABORTED, "a process is gone"),
    HEADWAY_CLASS(MPI_ERR_VALUE_TOO_LARGE, "value too large for its type"),
    HEADWAY_CLASS(MPI_ERR_SESSION, "invalid session"),
    HEADWAY_CLASS(MPI_ERR_ERRHANDLER, "invalid error handler"),
    HEADWAY_CLASS(MPI_ERR_ABI, "not possible in this ABI"),
    HEADWAY_CLASS(MPI_T_ERR_CANNOT_INIT, "tool interface: cannot be initialised"),
    HEADWAY_CLASS(MPI_T_ERR_NOT_ACCESSIBLE, "tool interface: not accessible now"),
    HEADWAY_CLASS(MPI_T_ERR_NOT_INITIALIZED, "tool interface: not initialised"),
    HEADWAY_CLASS(MPI_T_ERR_NOT_SUPPORTED, "tool interface: not supported"),
    HEADWAY_CLASS(MPI_T_ERR_MEMORY, "tool interface: out of memory"),
    HEADWAY_CLASS(MPI_T_ERR_INVALID, "tool interface: invalid argument"),
    HEADWAY_CLASS(MPI_T_ERR_INVALID_INDEX, "tool interface: no such index"),
    HEADWAY_CLASS(MPI_T_ERR_INVALID_ITEM, "tool interface: no such item"),
    HEADWAY_CLASS(MPI_T_ERR_INVALID_SESSION, "tool interface: invalid session"),
    HEADWAY_CLASS(MPI_T_ERR_INVALID_HANDLE, "tool interface: invalid handle"),
    HEADWAY_CLASS(MPI_T_ERR_INVALID_NAME, "tool interface: no such name"),
    HEADWAY_CLASS(MPI_T_ERR_OUT_OF_HANDLES, "tool interface: out of handles"),
    HEADWAY_CLASS(MPI_T_ERR_OUT_OF_SESSIONS, "tool interface: out of sessions"),
    HEADWAY_CLASS(MPI_T_ERR_CVAR_SET_NOT_NOW, "tool interface: cannot be set now"),
    HEADWAY_CLASS(MPI_T_ERR_CVAR_SET_NEVER, "tool interface: cannot be set"),
    HEADWAY_CLASS(MPI_T_ERR_PVAR_NO_WRITE, "tool interface: cannot be written"),
    HEADWAY_CLASS(MPI_T_ERR_PVAR_NO_STARTSTOP, "tool interface: cannot be started or stopped"),
    HEADWAY_CLASS(MPI_T_ERR_PVAR_NO_ATOMIC, "tool interface: cannot be read and reset at once"),
    HEADWAY_CLASS(MPI_ERR_LASTCODE, "last predefined error code"),
};
#undef HEADWAY_CLASS

const standard_class* find_standard(int code) {
  for (const auto& each : standard_classes) {
    if (each.code == code) return &each;
  }
  return nullptr;
}

struct added_code {
  int error_class;
  std::string text;
};

struct added_codes {
  base::mutex lock;
  std::map<int, added_code> by_code HEADWAY_GUARDED_BY(lock);
  int last = MPI_ERR_LASTCODE;  // read by programs through the attribute MPI_LASTUSEDCODE
};

added_codes& added() {
  static auto* const made = new added_codes;
  return *made;
}

/// A new code of that class, which may be the code itself.
int add(added_codes& all, int error_class) HEADWAY_REQUIRES(all.lock) {
  const int code = all.last + 1;
  HEADWAY_ASSERT(code > MPI_ERR_LASTCODE && error_class <= code);
  const bool is_new = all.by_code.emplace(code, added_code{error_class, ""}).second;
  HEADWAY_ASSERT(is_new);
  return all.last = code;
}

void shrink(added_codes& all) HEADWAY_REQUIRES(all.lock) {
  all.last = all.by_code.empty() ? MPI_ERR_LASTCODE : all.by_code.rbegin()->first;
}

}  // namespace

std::string error_name(int code) {
  if (const auto* known = find_standard(code)) return known->name;
  return "an error of the program's";
}

std::optional<std::string> error_text(int code) {
  if (const auto* known = find_standard(code)) return std::string(known->name) + ": " + known->text;
  auto& all = added();
  const base::lock_guard held(all.lock);
  const auto found = all.by_code.find(code);
  if (found == all.by_code.end()) return std::nullopt;
  return found->second.text;
}

std::optional<int> error_class_of(int code) {
  if (find_standard(code)) return code;
  auto& all = added();
  const base::lock_guard held(all.lock);
  const auto found = all.by_code.find(code);
  if (found == all.by_code.end()) return std::nullopt;
  return found->second.error_class;
}

int add_error_class() {
  auto& all = added();
  const base::lock_guard held(all.lock);
  return add(all, all.last + 1);
}

std::optional<int> add_error_code(int error_class) {
  if (error_class_of(error_class) != error_class) return std::nullopt;
  auto& all = added();
  const base::lock_guard held(all.lock);
  return add(all, error_class);
}

bool set_error_text(int code, std::string_view text) {
  auto& all = added();
  const base::lock_guard held(all.lock);
  const auto found = all.by_code.find(code);
  if (found == all.by_code.end()) return false;
  found->second.text = text;
  return true;
}

bool remove_error_class(int error_class) {
  auto& all = added();
  const base::lock_guard held(all.lock);
  const auto found = all.by_code.find(error_class);
  if (found == all.by_code.end() || found->second.error_class != error_class) return false;
  if (!found->second.text.empty()) return false;
  for (const auto& [code, entry] : all.by_code) {
    if (entry.error_class == error_class && code != error_class) return false;
  }
  all.by_code.erase(found);
  shrink(all);
  return true;
}

bool remove_error_code(int code) {
  auto& all = added();
  const base::lock_guard held(all.lock);
  const auto found = all.by_code.find(code);
  if (found == all.by_code.end() || found->second.error_class == code) return false;
  if (!found->second.text.empty()) return false;
  all.by_code.erase(found);
  shrink(all);
  return true;
}

bool remove_error_text(int code) {
  auto& all = added();
  const base::lock_guard held(all.lock);
  const auto found = all.by_code.find(code);
  if (found == all.by_code.end() || found->second.text.empty()) return false;
  found->second.text.clear();
  return true;
}

int* last_used_code() noexcept { return &added().last; }

}  // namespace headway::mpi
