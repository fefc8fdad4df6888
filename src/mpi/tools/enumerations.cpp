#include "mpi/tools/enumerations.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/lock_guard.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/tools/enumeration_calls.hpp"
#include "mpi/tools/interface.hpp"

namespace headway::mpi {
namespace tools {
namespace {

struct words {
  std::string name;
  std::vector<std::string> items;
};

constexpr std::uintptr_t step = 16;  // the handle of the first; none is MPI_T_ENUM_NULL

base::mutex enumerations_lock;  // taken under `lock`
// By handle / step - 1; none is ever removed.
std::vector<words>& all() HEADWAY_REQUIRES(enumerations_lock) {
  static auto* const made = new std::vector<words>;
  return *made;
}

/// Null: no such enumeration.
const words* find(MPI_T_enum handle) HEADWAY_REQUIRES(enumerations_lock) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  if (bits == 0 || bits % step != 0 || bits / step > all().size()) return nullptr;
  return &all()[bits / step - 1];
}

int refuse() { return fail(MPI_T_ERR_INVALID_HANDLE, "argument 1 is no enumeration"); }

}  // namespace

MPI_T_enum enumeration(std::string name, std::vector<std::string> items) {
  const base::lock_guard held(enumerations_lock);
  auto& known = all();
  auto found = std::ranges::find(known, name, &words::name);
  if (found == known.end())
    found = known.insert(known.end(), {.name = std::move(name), .items = std::move(items)});
  return reinterpret_cast<MPI_T_enum>(static_cast<std::uintptr_t>(found - known.begin() + 1) *
                                      step);
}

}  // namespace tools

namespace calls {

int t_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const base::lock_guard here(tools::enumerations_lock);
  const auto* found = tools::find(enumtype);
  if (found == nullptr) return tools::refuse();
  tools::give(num, static_cast<int>(found->items.size()));
  tools::give_text(found->name, name, name_len);
  return MPI_SUCCESS;
}

int t_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const base::lock_guard here(tools::enumerations_lock);
  const auto* found = tools::find(enumtype);
  if (found == nullptr) return tools::refuse();
  if (index < 0 || std::cmp_greater_equal(index, found->items.size()))
    return fail(MPI_T_ERR_INVALID_INDEX, "argument 2 is {}, but '{}' has {} items", index,
                found->name, found->items.size());
  tools::give(value, index);
  tools::give_text(found->items[static_cast<std::size_t>(index)], name, name_len);
  return MPI_SUCCESS;
}

}  // namespace calls
}  // namespace headway::mpi
