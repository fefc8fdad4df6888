#include "mpi/tools/categories.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/environment/failure.hpp"
#include "mpi/tools/category_calls.hpp"
#include "mpi/tools/control_variables.hpp"
#include "mpi/tools/event_delivery.hpp"
#include "mpi/tools/interface.hpp"
#include "mpi/tools/performance_variables.hpp"

namespace headway::mpi {
namespace tools {
namespace {

/// A category: what begins with one of its prefixes. Settings that begin with no longer prefix of
/// another category.
struct category {
  const char* name;
  const char* parent;  ///< nullptr: the root
  const char* why;
  std::array<const char*, 12> prefixes;  // the rest is null
};

constexpr category categories[] = {
    {"headway", nullptr, "everything", {}},
    {"collectives", "headway", "collective operations", {"HEADWAY_COLLECTIVES"}},
    {"endpoints",
     "headway",
     "end-points of threads (docs/endpoints.md)",
     {"HEADWAY_ENDPOINT_", "HEADWAY_DISPATCH"}},
    {"launch",
     "headway",
     "how the processes find each other",
     {"HEADWAY_START_TIMEOUT", "HEADWAY_RENDEZVOUS"}},
    {"messages", "headway", "matching of messages and receives", {"messages."}},
    {"mpi",
     "headway",
     "checks of arguments, and what is logged",
     {"HEADWAY_CHECKS", "HEADWAY_LOG"}},
    {"packets",
     "headway",
     "what leaves together, over which rails, and what happens when one is lost",
     {"packets.", "bundle.", "HEADWAY_CUT_OFF_MS", "HEADWAY_EAGER_", "HEADWAY_RAILS_PER_PEER",
      "HEADWAY_STRATEGY"}},
    {"progress",
     "headway",
     "background progression and waiting (docs/waiting.md)",
     {"progress.", "queue.", "point.", "HEADWAY_EVENT_CLASS", "HEADWAY_IDLE_", "HEADWAY_LOCKING",
      "HEADWAY_OFFLOAD", "HEADWAY_PROGRESS", "HEADWAY_SPIN_US", "HEADWAY_TIMER_US", "HEADWAY_WAIT",
      "HEADWAY_YIELD_US"}},
    {"rails",
     "headway",
     "the rails that carry messages (docs/rails.md)",
     {"rail.", "HEADWAY_RAILS", "HEADWAY_CONNECTIONS"}},
    {"sampling", "headway", "the profiles of rails", {"HEADWAY_CACHE", "HEADWAY_PROFILE_DAYS"}},
    {"shm", "rails", "the rail over shared memory", {"HEADWAY_SHM_"}},
    {"tcp", "rails", "the rails over TCP", {"HEADWAY_TCP_"}},
    {"topology",
     "headway",
     "the machine as the library sees it",
     {"HEADWAY_TOPOLOGY", "HEADWAY_NODE_PROCESSORS"}},
    {"watch",
     "headway",
     "reports, statistics and timelines (docs/watching.md)",
     {"overlap.", "HEADWAY_REPORT", "HEADWAY_STATS", "HEADWAY_TRACE"}},
    {"windows",
     "headway",
     "one-sided communication (docs/one-sided.md)",
     {"windows.", "HEADWAY_WINDOWS"}},
};

/// The category with the longest prefix that fits; the root where none does.
std::size_t category_of(std::string_view name) {
  std::size_t best = 0, best_length = 0;
  for (std::size_t i = 0; i < std::size(categories); ++i)
    for (const char* prefix : categories[i].prefixes)
      if (prefix != nullptr && name.starts_with(prefix) &&
          std::string_view(prefix).size() > best_length) {
        best = i;
        best_length = std::string_view(prefix).size();
      }
  return best;
}

template <class List, class Name>
std::vector<int> members_of(std::size_t which, const List& all, Name name) {
  std::vector<int> found;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (category_of(name(all[i])) == which) found.push_back(static_cast<int>(i));
  return found;
}

std::vector<int> settings_in(std::size_t which) {
  return members_of(which, control_variables(), [](const auto* one) { return one->name(); });
}
std::vector<int> counters_in(std::size_t which) HEADWAY_REQUIRES(lock) {
  static_cast<void>(update_performance_variables());
  return members_of(which, performance_variables(), [](const auto& one) { return one.name; });
}
std::vector<int> events_in(std::size_t which) {
  return members_of(which, event_types(), [](const auto* one) { return one->name(); });
}
std::vector<int> categories_in(std::size_t which) {
  std::vector<int> found;
  for (std::size_t i = 0; i < std::size(categories); ++i)
    if (categories[i].parent != nullptr &&
        std::string_view(categories[i].parent) == categories[which].name)
      found.push_back(static_cast<int>(i));
  return found;
}

bool is_category(int index) { return index >= 0 && std::cmp_less(index, std::size(categories)); }
int refuse_category(int index) {
  return fail(MPI_T_ERR_INVALID_INDEX, "argument 1 is {}, but there are {} categories", index,
              std::size(categories));
}

/// Writes the members that `list(category)` finds, as far as the caller has room.
template <class List>
int give_members(int cat_index, int len, int indices[], List&& list) HEADWAY_REQUIRES(lock) {
  if (!is_open()) return refuse_closed();
  if (!is_category(cat_index)) return refuse_category(cat_index);
  if (len < 0 || (len > 0 && indices == nullptr))
    return fail(MPI_T_ERR_INVALID, "arguments 2 and 3 are no array");
  const std::vector<int> found = list(static_cast<std::size_t>(cat_index));
  std::copy_n(found.begin(), std::min(found.size(), static_cast<std::size_t>(len)), indices);
  return MPI_SUCCESS;
}

}  // namespace

category_text category_of_setting(std::string_view name) noexcept {
  const auto& found = categories[category_of(name)];
  return {found.name, found.why};
}
}  // namespace tools

namespace calls {

int t_category_get_num(int* num_cat) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (num_cat == nullptr) return tools::refuse_null();
  *num_cat = static_cast<int>(std::size(tools::categories));
  return MPI_SUCCESS;
}

int t_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len,
                        int* num_cvars, int* num_pvars, int* num_categories) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (!tools::is_category(cat_index)) return tools::refuse_category(cat_index);
  const auto which = static_cast<std::size_t>(cat_index);
  tools::give_text(tools::categories[which].name, name, name_len);
  tools::give_text(tools::categories[which].why, desc, desc_len);
  tools::give(num_cvars, static_cast<int>(tools::settings_in(which).size()));
  tools::give(num_pvars, static_cast<int>(tools::counters_in(which).size()));
  tools::give(num_categories, static_cast<int>(tools::categories_in(which).size()));
  return MPI_SUCCESS;
}

int t_category_get_num_events(int cat_index, int* num_events) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (!tools::is_category(cat_index)) return tools::refuse_category(cat_index);
  if (num_events == nullptr) return tools::refuse_null();
  *num_events = static_cast<int>(tools::events_in(static_cast<std::size_t>(cat_index)).size());
  return MPI_SUCCESS;
}

int t_category_get_index(const char* name, int* cat_index) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (name == nullptr || cat_index == nullptr) return tools::refuse_null();
  const auto* found = std::ranges::find_if(
      tools::categories, [&](const auto& one) { return std::string_view(one.name) == name; });
  if (found == std::end(tools::categories))
    return fail(MPI_T_ERR_INVALID_NAME, "there is no category '{}'", name);
  *cat_index = static_cast<int>(found - std::begin(tools::categories));
  return MPI_SUCCESS;
}

int t_category_get_cvars(int cat_index, int len, int indices[]) {
  const tools::section held;
  return tools::give_members(cat_index, len, indices, tools::settings_in);
}

int t_category_get_pvars(int cat_index, int len, int indices[]) {
  const tools::section held;
  return tools::give_members(
      cat_index, len, indices,
      [](std::size_t which) HEADWAY_REQUIRES(tools::lock) { return tools::counters_in(which); });
}

int t_category_get_events(int cat_index, int len, int indices[]) {
  const tools::section held;
  return tools::give_members(cat_index, len, indices, tools::events_in);
}

int t_category_get_categories(int cat_index, int len, int indices[]) {
  const tools::section held;
  return tools::give_members(cat_index, len, indices, tools::categories_in);
}

/// The number grows when a category gets members; only performance variables come.
int t_category_changed(int* update_number) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (update_number == nullptr) return tools::refuse_null();
  *update_number = static_cast<int>(tools::update_performance_variables());
  return MPI_SUCCESS;
}

}  // namespace calls
}  // namespace headway::mpi
