#include "mpi/tools/event_calls.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/objects/info.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/tools/enumerations.hpp"
#include "mpi/tools/event_delivery.hpp"

namespace headway::mpi {
namespace tools {
namespace {

using value_type = unsigned long long;  // of every element of every event: MPI_UNSIGNED_LONG_LONG
static_assert(sizeof(value_type) == sizeof(std::uint64_t));

using registration_table = handle_table<event_registration, MPI_T_event_registration>;
registration_table& registered() HEADWAY_REQUIRES(lock) {
  static auto* const made = new registration_table;
  return *made;
}

int refuse_registration() {
  return fail(MPI_T_ERR_INVALID_HANDLE, "argument 1 is no event registration");
}
int refuse_safety(int level) {
  return fail(MPI_T_ERR_INVALID, "argument 2 (cb_safety) is {}, which is no level of safety",
              level);
}
int refuse_index(int index, std::size_t count) {
  return fail(MPI_T_ERR_INVALID_INDEX, "argument 1 is {}, but indices are 0 to {}", index,
              count - 1);
}

/// Of a call about a registration's callback: an error code if there is no such callback.
int check_callback(MPI_T_event_registration which, MPI_T_cb_safety level) HEADWAY_REQUIRES(lock) {
  if (!is_open()) return refuse_closed();
  const auto one = registered().find(which);
  if (one == nullptr) return refuse_registration();
  return is_safety_level(level) && one->has(level) ? MPI_SUCCESS : refuse_safety(level);
}

bool is_info(MPI_Info hints) { return hints == MPI_INFO_NULL || mpi::find<info>(hints) != nullptr; }
int refuse_info() { return fail(MPI_T_ERR_INVALID, "an argument is no info object"); }

/// No hint is known.
void give_no_hints(MPI_Info* to) {
  if (to != nullptr) *to = mpi::handle_of(pool<info>::all().make());
}

/// For a call that has no event: why.
int refuse_instance() {
  const section held;
  if (!is_open()) return refuse_closed();
  return fail(MPI_T_ERR_INVALID_HANDLE,
              "argument 1 is not the event for which the calling thread's callback runs");
}

}  // namespace

void free_registrations() {
  std::unordered_map<std::uintptr_t, std::shared_ptr<event_registration>> freed;
  const section held;
  freed = registered().take_all();
  for (const auto& [bits, one] : freed) {
    one->end({});
    end_delivery(one);
  }
}

}  // namespace tools

namespace calls {

// ---- sources ------------------------------------------------------------------------------------

// One source: every event has the time of the machine's clock. Threads raise events independently,
// so that callbacks may see them in another order.

int t_source_get_num(int* num_sources) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (num_sources == nullptr) return tools::refuse_null();
  *num_sources = 1;
  return MPI_SUCCESS;
}

int t_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                      MPI_T_source_order* ordering, MPI_Count* ticks_per_second,
                      MPI_Count* max_ticks, MPI_Info* info) {
  constexpr MPI_Count ns_per_s = 1'000'000'000;
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (source_index != 0) return tools::refuse_index(source_index, 1);
  tools::give_text("headway", name, name_len);
  tools::give_text("the threads of this process, with the time of the machine's clock", desc,
                   desc_len);
  tools::give(ordering, MPI_T_SOURCE_UNORDERED);
  tools::give(ticks_per_second, ns_per_s);
  tools::give(max_ticks, static_cast<MPI_Count>(INT64_MAX));
  tools::give_no_hints(info);
  return MPI_SUCCESS;
}

int t_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (source_index != 0) return tools::refuse_index(source_index, 1);
  if (timestamp == nullptr) return tools::refuse_null();
  *timestamp = static_cast<MPI_Count>(base::machine_now_ns());
  return MPI_SUCCESS;
}

// ---- event types --------------------------------------------------------------------------------

int t_event_get_num(int* num_events) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (num_events == nullptr) return tools::refuse_null();
  *num_events = static_cast<int>(tools::event_types().size());
  return MPI_SUCCESS;
}

int t_event_get_info(int event_index, char* name, int* name_len, int* verbosity,
                     MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                     int* num_elements, MPI_T_enum* enumtype, MPI_Info* info, char* desc,
                     int* desc_len, int* bind) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto all = tools::event_types();
  if (event_index < 0 || std::cmp_greater_equal(event_index, all.size()))
    return tools::refuse_index(event_index, all.size());
  const auto& one = *all[static_cast<std::size_t>(event_index)];
  const auto elements = one.elements();
  tools::give_text(one.name(), name, name_len);
  tools::give_text(one.why(), desc, desc_len);
  tools::give(verbosity, MPI_T_VERBOSITY_TUNER_DETAIL);
  tools::give(bind, MPI_T_BIND_NO_OBJECT);
  tools::give_no_hints(info);
  if (enumtype != nullptr)
    *enumtype = tools::enumeration(one.name(), {elements.begin(), elements.end()});
  if (num_elements == nullptr) return MPI_SUCCESS;
  const auto room = static_cast<std::size_t>(std::max(*num_elements, 0));
  for (std::size_t i = 0; i < std::min(room, elements.size()); ++i) {
    if (array_of_datatypes != nullptr) array_of_datatypes[i] = MPI_UNSIGNED_LONG_LONG;
    if (array_of_displacements != nullptr)
      array_of_displacements[i] = static_cast<MPI_Aint>(i * sizeof(tools::value_type));
  }
  *num_elements = static_cast<int>(elements.size());
  return MPI_SUCCESS;
}

int t_event_get_index(const char* name, int* event_index) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (name == nullptr || event_index == nullptr) return tools::refuse_null();
  const auto all = tools::event_types();
  const auto found = std::ranges::find_if(
      all, [&](const auto* one) { return std::string_view(one->name()) == name; });
  if (found == all.end()) return fail(MPI_T_ERR_INVALID_NAME, "there is no event '{}'", name);
  *event_index = static_cast<int>(found - all.begin());
  return MPI_SUCCESS;
}

// ---- registrations ------------------------------------------------------------------------------

int t_event_handle_alloc(int event_index, void*, MPI_Info info,
                         MPI_T_event_registration* event_registration) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto all = tools::event_types();
  if (event_index < 0 || std::cmp_greater_equal(event_index, all.size()))
    return tools::refuse_index(event_index, all.size());
  if (event_registration == nullptr) return tools::refuse_null();
  if (!tools::is_info(info)) return tools::refuse_info();
  const auto made =
      std::make_shared<tools::event_registration>(*all[static_cast<std::size_t>(event_index)]);
  *event_registration = tools::registered().add(made);
  made->name(*event_registration);
  tools::begin_delivery(made);
  return MPI_SUCCESS;
}

int t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (tools::registered().find(event_registration) == nullptr) return tools::refuse_registration();
  return tools::is_info(info) ? MPI_SUCCESS : tools::refuse_info();
}

int t_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (tools::registered().find(event_registration) == nullptr) return tools::refuse_registration();
  if (info_used == nullptr) return tools::refuse_null();
  tools::give_no_hints(info_used);
  return MPI_SUCCESS;
}

int t_event_register_callback(MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety, MPI_Info info, void* user_data,
                              MPI_T_event_cb_function event_cb_function) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto one = tools::registered().find(event_registration);
  if (one == nullptr) return tools::refuse_registration();
  if (!tools::is_safety_level(cb_safety)) return tools::refuse_safety(cb_safety);
  if (!tools::is_info(info)) return tools::refuse_info();
  one->set(cb_safety, {.function = event_cb_function, .user_data = user_data});
  return MPI_SUCCESS;
}

int t_event_callback_set_info(MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety, MPI_Info info) {
  const tools::section held;
  if (const int code = tools::check_callback(event_registration, cb_safety)) return code;
  return tools::is_info(info) ? MPI_SUCCESS : tools::refuse_info();
}

int t_event_callback_get_info(MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety, MPI_Info* info_used) {
  const tools::section held;
  if (const int code = tools::check_callback(event_registration, cb_safety)) return code;
  if (info_used == nullptr) return tools::refuse_null();
  tools::give_no_hints(info_used);
  return MPI_SUCCESS;
}

int t_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                        MPI_T_event_free_cb_function free_cb_function) {
  // Destroyed after the lock is released: its destructor calls the program.
  std::shared_ptr<tools::event_registration> freed;
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  freed = tools::registered().remove(event_registration);
  if (freed == nullptr) return tools::refuse_registration();
  freed->end({.function = free_cb_function, .user_data = user_data});
  tools::end_delivery(freed);
  return MPI_SUCCESS;
}

int t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                MPI_T_event_dropped_cb_function dropped_cb_function) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto one = tools::registered().find(event_registration);
  if (one == nullptr) return tools::refuse_registration();
  one->set_dropped(dropped_cb_function);
  return MPI_SUCCESS;
}

// ---- instances, in a callback: without locks ----------------------------------------------------

int t_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer) {
  const auto* one = tools::find_instance(event_instance);
  if (one == nullptr) return tools::refuse_instance();
  const auto count = one->what->elements().size();
  if (element_index < 0 || std::cmp_greater_equal(element_index, count))
    return fail(MPI_T_ERR_INVALID_INDEX, "argument 2 is {}, but the event has {} elements",
                element_index, count);
  if (buffer == nullptr) return tools::refuse_null();
  *static_cast<tools::value_type*>(buffer) = one->with[static_cast<std::size_t>(element_index)];
  return MPI_SUCCESS;
}

int t_event_copy(MPI_T_event_instance event_instance, void* buffer) {
  const auto* one = tools::find_instance(event_instance);
  if (one == nullptr) return tools::refuse_instance();
  if (buffer == nullptr) return tools::refuse_null();
  std::memcpy(buffer, one->with.data(), one->what->elements().size() * sizeof(tools::value_type));
  return MPI_SUCCESS;
}

int t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
  const auto* one = tools::find_instance(event_instance);
  if (one == nullptr) return tools::refuse_instance();
  if (event_timestamp == nullptr) return tools::refuse_null();
  *event_timestamp = static_cast<MPI_Count>(one->at_ns);
  return MPI_SUCCESS;
}

int t_event_get_source(MPI_T_event_instance event_instance, int* source_index) {
  if (tools::find_instance(event_instance) == nullptr) return tools::refuse_instance();
  if (source_index == nullptr) return tools::refuse_null();
  *source_index = 0;
  return MPI_SUCCESS;
}

}  // namespace calls
}  // namespace headway::mpi
