#include "mpi/one_sided/window_calls.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/keyvals.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/one_sided/creation.hpp"
#include "mpi/one_sided/epochs.hpp"
#include "mpi/one_sided/window_hints.hpp"
#include "windows/window.hpp"

namespace headway::mpi::calls {
namespace {

void put_pointer(void* room, const void* value) { std::memcpy(room, &value, sizeof value); }

[[nodiscard]] int allocate(int flavor, MPI_Aint size, MPI_Count disp_unit, const info* hints,
                           communicator& comm, void* baseptr, window*& win) {
  if (const int code = make_window(
          comm, {.flavor = flavor, .size = size, .displacement_unit = disp_unit, .hints = hints},
          win))
    return code;
  put_pointer(baseptr, win->known().base);
  return MPI_SUCCESS;
}

/// The value of a predefined attribute; null: the key is none.
[[nodiscard]] const void* predefined_attribute(window& win, int key) {
  auto& known = win.known();
  switch (key) {
    case MPI_WIN_SIZE:
      return &known.size;
    case MPI_WIN_DISP_UNIT:
      return &known.displacement_unit;
    case MPI_WIN_CREATE_FLAVOR:
      return &known.flavor;
    case MPI_WIN_MODEL:
      return &known.model;
    default:
      return nullptr;
  }
}

[[nodiscard]] int refuse_predefined(window& win, int key) {
  if (key != MPI_WIN_BASE && predefined_attribute(win, key) == nullptr) return MPI_SUCCESS;
  return fail(MPI_ERR_KEYVAL, "{} is a predefined attribute key, which cannot be changed", key);
}

[[nodiscard]] int refuse_unless_dynamic(window& win) {
  if (win.known().flavor == MPI_WIN_FLAVOR_DYNAMIC) return MPI_SUCCESS;
  return fail(MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_create_dynamic");
}

}  // namespace

int win_create(void* base, MPI_Aint size, MPI_Count disp_unit, info* hints, communicator& comm,
               window*& win) {
  if (base == nullptr && size > 0) return fail(MPI_ERR_BASE, "argument 1 (base) is a null pointer");
  return make_window(
      comm, {.base = base, .size = size, .displacement_unit = disp_unit, .hints = hints}, win);
}

int win_allocate(MPI_Aint size, MPI_Count disp_unit, info* hints, communicator& comm, void* baseptr,
                 window*& win) {
  return allocate(MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, hints, comm, baseptr, win);
}

int win_allocate_shared(MPI_Aint size, MPI_Count disp_unit, info* hints, communicator& comm,
                        void* baseptr, window*& win) {
  return allocate(MPI_WIN_FLAVOR_SHARED, size, disp_unit, hints, comm, baseptr, win);
}

int win_create_dynamic(info* hints, communicator& comm, window*& win) {
  return make_window(comm, {.flavor = MPI_WIN_FLAVOR_DYNAMIC, .hints = hints}, win);
}

int win_free(window*& win) {
  if (!win->epochs().is_idle())
    return fail(MPI_ERR_RMA_SYNC, "there are locks or other epochs of the window");
  if (const int code = win->attributes.clear(*win)) return code;
  if (const int code = free_window(*win)) return code;
  win = nullptr;
  return MPI_SUCCESS;
}

int win_attach(window& win, void* base, MPI_Aint size) {
  if (const int code = refuse_unless_dynamic(win)) return code;
  if (size < 0) return fail(MPI_ERR_SIZE, "argument 3 (size) is {}", size);
  if (base == nullptr && size > 0) return fail(MPI_ERR_BASE, "argument 2 (base) is a null pointer");
  if (win.memory().memory().attach(static_cast<std::byte*>(base), size)) return MPI_SUCCESS;
  return fail(MPI_ERR_RMA_ATTACH, "the memory overlaps memory that is attached already");
}

int win_detach(window& win, const void* base) {
  if (const int code = refuse_unless_dynamic(win)) return code;
  if (win.memory().memory().detach(static_cast<const std::byte*>(base))) return MPI_SUCCESS;
  return fail(MPI_ERR_BASE, "no memory is attached that begins there");
}

int win_shared_query(window& win, int rank, MPI_Aint& size, MPI_Count& disp_unit, void* baseptr) {
  auto& memory = win.memory();
  if (rank == MPI_PROC_NULL) {  // the first that has some
    rank = 0;
    while (rank + 1 < memory.size() && memory.at(rank).bytes == 0) ++rank;
  }
  if (rank < 0 || rank >= memory.size())
    return fail(MPI_ERR_RANK, "argument 2 (rank) is {}, but the window has {} processes", rank,
                memory.size());
  const auto& found = memory.at(rank);
  const bool is_seen = found.mapped != nullptr || found.bytes == 0;
  size = is_seen ? found.bytes : 0;
  disp_unit = found.displacement_unit;
  put_pointer(baseptr, found.mapped);
  return MPI_SUCCESS;
}

int win_get_group(window& win, group*& made) {
  made = make_group(win.comm().shared_members(), win.comm().origin);
  return MPI_SUCCESS;
}

int win_set_attr(window& win, int key, void* value) {
  if (const int code = refuse_predefined(win, key)) return code;
  return win.attributes.set(win, key, value);
}

int win_get_attr(window& win, int key, void* value, int& flag) {
  if (key == MPI_WIN_BASE) {
    flag = 1;
    put_pointer(value, win.known().base);
    return MPI_SUCCESS;
  }
  if (const void* const known = predefined_attribute(win, key)) {
    flag = 1;
    put_pointer(value, known);
    return MPI_SUCCESS;
  }
  void* found = nullptr;
  flag = win.attributes.get(key, found);
  if (flag) {
    put_pointer(value, found);
  } else if (!find_keyval(key, object_kind::win)) {
    return fail(MPI_ERR_KEYVAL, "{} is no attribute key, or a freed one", key);
  }
  return MPI_SUCCESS;
}

int win_delete_attr(window& win, int key) {
  if (const int code = refuse_predefined(win, key)) return code;
  return win.attributes.remove(win, key);
}

int win_set_name(window& win, const char* name) {
  win.name = std::string_view(name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  return MPI_SUCCESS;
}

int win_get_name(window* win, char* name, int& resultlen) {
  const std::string& text = win == nullptr ? std::string("MPI_WIN_NULL") : win->name;
  std::memcpy(name, text.c_str(), text.size() + 1);
  resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int win_set_info(window& win, info* hints) {
  if (hints != nullptr) win.hints.set(hints->entries());
  return MPI_SUCCESS;
}

int win_get_info(window& win, info*& hints) {
  hints = pool<info>::all().make(hints_in_force(win));
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
