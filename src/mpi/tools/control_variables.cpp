#include "mpi/tools/control_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lock_guard.hpp"
#include "c_api/shared_runtime/shared_runtime.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/tools/control_calls.hpp"
#include "mpi/tools/enumerations.hpp"

namespace headway::mpi {
namespace tools {
namespace {

constexpr int text_count = 4096;  // characters of a variable of MPI_CHAR, the final zero included

struct control_handle {
  base::tunable* variable;
};

handle_table<control_handle, MPI_T_cvar_handle>& handles() HEADWAY_REQUIRES(lock) {
  static auto* const made = new handle_table<control_handle, MPI_T_cvar_handle>;
  return *made;
}

/// Null: no such index.
base::tunable* variable_at(int index) {
  const auto all = control_variables();
  if (index < 0 || std::cmp_greater_equal(index, all.size())) return nullptr;
  return all[static_cast<std::size_t>(index)];
}

int refuse_index(int index) {
  return fail(MPI_T_ERR_INVALID_INDEX, "argument 1 is {}, but there are {} control variables",
              index, control_variables().size());
}

int refuse_cvar() { return fail(MPI_T_ERR_INVALID_HANDLE, "argument 1 is no cvar handle"); }

/// The settings that README.md names are the user's, all others are for tuning.
int verbosity_of(std::string_view name) {
  for (const auto* basic : {"HEADWAY_RAILS", "HEADWAY_PROGRESS", "HEADWAY_WAIT"})
    if (name == basic) return MPI_T_VERBOSITY_USER_BASIC;
  return MPI_T_VERBOSITY_TUNER_DETAIL;
}

/// Some settings have to be the same in all processes, as the description of each one says.
int scope_of(std::string_view name) {
  for (const auto* same : {"HEADWAY_COLLECTIVES", "HEADWAY_RAILS_PER_PEER", "HEADWAY_RENDEZVOUS",
                           "HEADWAY_TCP_ENCRYPTION", "HEADWAY_TCP_RESUME"})
    if (name == same) return MPI_T_SCOPE_ALL_EQ;
  return MPI_T_SCOPE_LOCAL;
}

std::string description_of(const base::tunable& one) {
  const std::string unit = one.unit();
  return fmt::format("{}{}; {}, by default {}", one.why(),
                     unit.empty() ? "" : fmt::format(" ({})", unit), one.range_text(),
                     one.fallback_text());
}

void read(const base::tunable& from, void* to) {
  if (const auto* number = dynamic_cast<const base::number_tunable*>(&from)) {
    *static_cast<MPI_Count*>(to) = number->get();
  } else if (const auto* choice = dynamic_cast<const base::choice_tunable*>(&from)) {
    *static_cast<int*>(to) = choice->index();
  } else {
    int room = text_count;
    give_text(from.value_text(), static_cast<char*>(to), &room);
  }
}

/// False: the value is out of bounds.
bool write(base::tunable& to, const void* from) {
  if (auto* number = dynamic_cast<base::number_tunable*>(&to))
    return number->set(*static_cast<const MPI_Count*>(from));
  if (auto* choice = dynamic_cast<base::choice_tunable*>(&to))
    return choice->set(*static_cast<const int*>(from));
  const auto* text = static_cast<const char*>(from);
  const auto length = strnlen(text, text_count);
  if (length == text_count) return false;
  static_cast<base::text_tunable&>(to).set({text, length});
  return true;
}

}  // namespace

std::span<base::tunable* const> control_variables() {
  static const auto* const all = new std::vector<base::tunable*>(base::tunable::all());
  return *all;
}

void free_control_handles() { static_cast<void>(handles().take_all()); }

}  // namespace tools

namespace calls {

int t_cvar_get_num(int* num_cvar) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (num_cvar == nullptr) return fail(MPI_T_ERR_INVALID, "argument 1 is a null pointer");
  *num_cvar = static_cast<int>(tools::control_variables().size());
  return MPI_SUCCESS;
}

int t_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity,
                    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                    int* bind, int* scope) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto* one = tools::variable_at(cvar_index);
  if (one == nullptr) return tools::refuse_index(cvar_index);
  const auto* choice = dynamic_cast<const base::choice_tunable*>(one);
  const bool number = dynamic_cast<const base::number_tunable*>(one) != nullptr;
  tools::give_text(one->name(), name, name_len);
  tools::give_text(tools::description_of(*one), desc, desc_len);
  tools::give(verbosity, tools::verbosity_of(one->name()));
  tools::give(datatype, choice != nullptr ? MPI_INT : number ? MPI_COUNT : MPI_CHAR);
  tools::give(bind, MPI_T_BIND_NO_OBJECT);
  tools::give(scope, tools::scope_of(one->name()));
  if (enumtype != nullptr)
    *enumtype =
        choice == nullptr
            ? MPI_T_ENUM_NULL
            : tools::enumeration(one->name(), {choice->choices().begin(), choice->choices().end()});
  return MPI_SUCCESS;
}

int t_cvar_get_index(const char* name, int* cvar_index) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (name == nullptr || cvar_index == nullptr) return tools::refuse_null();
  const auto all = tools::control_variables();
  const auto found = std::ranges::find_if(
      all, [&](const auto* one) { return std::string_view(one->name()) == name; });
  if (found == all.end())
    return fail(MPI_T_ERR_INVALID_NAME, "there is no control variable '{}'", name);
  *cvar_index = static_cast<int>(found - all.begin());
  return MPI_SUCCESS;
}

int t_cvar_handle_alloc(int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  auto* one = tools::variable_at(cvar_index);
  if (one == nullptr) return tools::refuse_index(cvar_index);
  if (handle == nullptr || count == nullptr) return tools::refuse_null();
  *handle = tools::handles().add(std::make_shared<tools::control_handle>(one));
  *count = dynamic_cast<const base::text_tunable*>(one) != nullptr ? tools::text_count : 1;
  return MPI_SUCCESS;
}

int t_cvar_handle_free(MPI_T_cvar_handle* handle) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (handle == nullptr || tools::handles().remove(*handle) == nullptr) return tools::refuse_cvar();
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int t_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto found = tools::handles().find(handle);
  if (found == nullptr) return tools::refuse_cvar();
  if (buf == nullptr) return fail(MPI_T_ERR_INVALID, "argument 2 is a null pointer");
  tools::read(*found->variable, buf);
  return MPI_SUCCESS;
}

int t_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto found = tools::handles().find(handle);
  if (found == nullptr) return tools::refuse_cvar();
  if (buf == nullptr) return fail(MPI_T_ERR_INVALID, "argument 2 is a null pointer");
  bool good = false;
  if (!shared_runtime::change_setting([&] { good = tools::write(*found->variable, buf); }))
    return fail(MPI_T_ERR_CVAR_SET_NOT_NOW, "{} can be set before MPI is initialised",
                found->variable->name());
  if (!good)
    return fail(MPI_T_ERR_INVALID, "{} accepts {}", found->variable->name(),
                found->variable->range_text());
  return MPI_SUCCESS;
}

}  // namespace calls
}  // namespace headway::mpi
