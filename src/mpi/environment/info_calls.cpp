#include "mpi/environment/info_calls.hpp"

#include <limits.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi {
namespace {

info& environment() {
  static auto* const made = [] {
    auto* only = new info;
    define(*only, object_kind::info, reinterpret_cast<std::uintptr_t>(MPI_INFO_ENV));
    return only;
  }();
  return *made;
}

[[maybe_unused]] const info& defined_at_load = environment();

const char* thread_level() {
  if (the_library.world == nullptr) return "MPI_THREAD_MULTIPLE";  // sessions alone
  switch (the_library.thread_level) {
    case MPI_THREAD_MULTIPLE:
      return "MPI_THREAD_MULTIPLE";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    default:
      return "MPI_THREAD_SINGLE";
  }
}

/// What only the start tells, as MPI_INFO_ENV has it, also after the end. Before the start null.
std::optional<std::string> told_at_start(const char* key, std::string_view now) {
  auto kept = environment().get(key);
  if (!kept && the_library.runtime != nullptr) kept.emplace(now);
  return kept;
}

std::vector<std::pair<std::string, std::string>> environment_entries(
    const std::vector<std::string>& arguments) {
  std::vector<std::pair<std::string, std::string>> made;
  if (!arguments.empty()) made.emplace_back("command", arguments.front());
  std::string rest;
  for (std::size_t i = 1; i < arguments.size(); ++i) rest += (i > 1 ? " " : "") + arguments[i];
  if (!rest.empty()) made.emplace_back("argv", rest.substr(0, MPI_MAX_INFO_VAL - 1));
  const auto size = the_library.runtime ? std::to_string(the_library.runtime->size()) : "";
  for (const char* const key : {"maxprocs", "soft"})
    if (const auto value = told_at_start(key, size)) made.emplace_back(key, *value);
  utsname machine;
  if (uname(&machine) == 0) {
    made.emplace_back("host", machine.nodename);
    made.emplace_back("arch", machine.machine);
  }
  if (const auto level = told_at_start("thread_level", thread_level()))
    made.emplace_back("thread_level", *level);
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) != nullptr && std::strlen(folder) < MPI_MAX_INFO_VAL) {
    made.emplace_back("wdir", folder);
  }
  return made;
}

int check_key(const char* key) {
  const std::size_t length = std::strlen(key);
  if (length > 0 && length < MPI_MAX_INFO_KEY) return MPI_SUCCESS;
  return fail(MPI_ERR_INFO_KEY, "argument 2 (key) has {} characters, but must have 1 to {}", length,
              MPI_MAX_INFO_KEY - 1);
}

int refuse_to_change(const info& where) {
  if (!where.is_predefined()) return MPI_SUCCESS;
  return fail(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
}

}  // namespace

void fill_info_env() {
  info& made = environment();
  for (const auto& [key, value] : environment_entries({program_invocation_name})) {
    made.set(key, value);
  }
}

namespace calls {

int info_create(info*& made) {
  made = pool<info>::all().make();
  return MPI_SUCCESS;
}

int info_create_env(int argc, char* argv[], info*& made) {
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) arguments.emplace_back(argv[i]);
  made = pool<info>::all().make(environment_entries(arguments));
  return MPI_SUCCESS;
}

int info_dup(info& from, info*& made) {
  made = pool<info>::all().make(from.entries());
  return MPI_SUCCESS;
}

int info_free(info*& freed) {
  if (freed->is_predefined()) return fail(MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed");
  pool<info>::all().drop(freed);
  freed = nullptr;
  return MPI_SUCCESS;
}

int info_set(info& where, const char* key, const char* value) {
  if (const int code = check_key(key)) return code;
  if (const int code = refuse_to_change(where)) return code;
  if (std::strlen(value) >= MPI_MAX_INFO_VAL) {
    return fail(MPI_ERR_INFO_VALUE, "argument 3 (value) has {} characters, but at most {} fit",
                std::strlen(value), MPI_MAX_INFO_VAL - 1);
  }
  where.set(key, value);
  return MPI_SUCCESS;
}

int info_delete(info& where, const char* key) {
  if (const int code = check_key(key)) return code;
  if (const int code = refuse_to_change(where)) return code;
  return where.remove(key) ? MPI_SUCCESS : fail(MPI_ERR_INFO_NOKEY, "there is no key '{}'", key);
}

int info_get(info& where, const char* key, int valuelen, char* value, int& flag) {
  if (const int code = check_key(key)) return code;
  if (valuelen < 0) return fail(MPI_ERR_ARG, "argument 3 (valuelen) is {}", valuelen);
  const auto found = where.get(key);
  flag = found.has_value();
  if (!found) return MPI_SUCCESS;
  const auto length = std::min<std::size_t>(found->size(), static_cast<std::size_t>(valuelen));
  std::memcpy(value, found->data(), length);
  value[length] = '\0';
  return MPI_SUCCESS;
}

int info_get_string(info& where, const char* key, int& buflen, char* value, int& flag) {
  if (const int code = check_key(key)) return code;
  if (buflen < 0) return fail(MPI_ERR_ARG, "argument 3 (buflen) is {}", buflen);
  const auto found = where.get(key);
  flag = found.has_value();
  if (!found) return MPI_SUCCESS;
  if (buflen > 0) {
    const auto length = std::min<std::size_t>(found->size(), static_cast<std::size_t>(buflen - 1));
    std::memcpy(value, found->data(), length);
    value[length] = '\0';
  }
  buflen = static_cast<int>(found->size()) + 1;
  return MPI_SUCCESS;
}

int info_get_valuelen(info& where, const char* key, int& valuelen, int& flag) {
  if (const int code = check_key(key)) return code;
  const auto found = where.get(key);
  flag = found.has_value();
  if (found) valuelen = static_cast<int>(found->size());
  return MPI_SUCCESS;
}

int info_get_nkeys(info& where, int& nkeys) {
  nkeys = static_cast<int>(where.entries().size());
  return MPI_SUCCESS;
}

int info_get_nthkey(info& where, int n, char* key) {
  const auto all = where.entries();
  if (n < 0 || static_cast<std::size_t>(n) >= all.size()) {
    return fail(MPI_ERR_ARG, "argument 2 (n) is {}, but there are {} keys", n, all.size());
  }
  const auto& name = all[static_cast<std::size_t>(n)].first;  // at most MPI_MAX_INFO_KEY with its 0
  std::memcpy(key, name.c_str(), name.size() + 1);
  return MPI_SUCCESS;
}

}  // namespace calls
}  // namespace headway::mpi
