#include "mpi/environment/environment_calls.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/clock.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "c_api/shared_runtime/shared_runtime.hpp"
#include "mpi/communicators/hardware_split.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/memory_alignment.hpp"
#include "mpi/objects/pool.hpp"
#include "progress/core/settings.hpp"

namespace headway::mpi::calls {
namespace {

/// What a Fortran binding has set about its types (MPI-5.0 section 20.4), once.
struct fortran_facts {
  base::mutex lock;
  bool has_info HEADWAY_GUARDED_BY(lock) = false;
  std::vector<std::pair<std::string, std::string>> info HEADWAY_GUARDED_BY(lock);
  int logical_size HEADWAY_GUARDED_BY(lock) = 0;  // 0: not set
  char logical_true[16] HEADWAY_GUARDED_BY(lock) = {};
  char logical_false[16] HEADWAY_GUARDED_BY(lock) = {};
};

fortran_facts& fortran() {
  static auto* const made = new fortran_facts;
  return *made;
}

bool is_power_of_two_to_16(int size) { return size > 0 && size <= 16 && (size & (size - 1)) == 0; }

void put_text(const std::string& text, char* room, int room_bytes, int& length) {
  length = std::min(static_cast<int>(text.size()), room_bytes - 1);
  std::memcpy(room, text.data(), static_cast<std::size_t>(length));
  room[length] = '\0';
}

}  // namespace

int init(int* argc, char*** argv) {
  int provided = 0;
  return init_thread(argc, argv, MPI_THREAD_SINGLE, provided);
}

int init_thread(int*, char***, int required, int& provided) {
  const auto world = the_library.world_is.load(std::memory_order_relaxed);  // as in `running`
  if (world == library::phase::running) return fail(MPI_ERR_OTHER, "MPI is initialised already");
  if (world == library::phase::over) {
    return fail(MPI_ERR_OTHER, "MPI was finalised, and cannot be initialised again");
  }
  // The provided level is the required one, except with HEADWAY_LOCKING=none: without locks two
  // threads may not call at the same time.
  const bool locks = shared_runtime::own_settings().progress.locks != progress::locking::none;
  const int level = required >= MPI_THREAD_MULTIPLE && locks ? MPI_THREAD_MULTIPLE
                    : required >= MPI_THREAD_SERIALIZED      ? MPI_THREAD_SERIALIZED
                    : required >= MPI_THREAD_FUNNELED        ? MPI_THREAD_FUNNELED
                                                             : MPI_THREAD_SINGLE;
  provided = level;
  return open_world(level);
}

int initialized(int& flag) {
  flag = the_library.world_is.load(std::memory_order_relaxed) != library::phase::before;
  return MPI_SUCCESS;
}

int finalize() { return close_world(); }

int finalized(int& flag) {
  flag = the_library.world_is.load(std::memory_order_relaxed) == library::phase::over;
  return MPI_SUCCESS;
}

int query_thread(int& provided) {
  provided = the_library.thread_level;
  return MPI_SUCCESS;
}

int is_thread_main(int& flag) {
  flag = pthread_equal(pthread_self(), the_library.main_thread) != 0;
  return MPI_SUCCESS;
}

int abort(communicator& comm, int errorcode) {
  end_job(errorcode, fmt::format("MPI_Abort({}, {}) was called",
                                 comm.name.empty() ? "communicator" : comm.name, errorcode));
}

double wtime() {
  static const std::uint64_t origin = base::machine_now_ns();
  return static_cast<double>(base::machine_now_ns() - origin) * 1e-9;
}

double wtick() { return 1e-9; }

int get_version(int& version, int& subversion) {
  version = MPI_VERSION;
  subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int get_library_version(char* version, int& resultlen) {
  put_text("Headway " HEADWAY_VERSION_TEXT, version, MPI_MAX_LIBRARY_VERSION_STRING, resultlen);
  return MPI_SUCCESS;
}

int get_processor_name(char* name, int& resultlen) {
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "unknown");
  put_text(host, name, MPI_MAX_PROCESSOR_NAME, resultlen);
  return MPI_SUCCESS;
}

int get_hw_resource_info(info*& hw_info) {
  hw_info = pool<info>::all().make();
  const auto mine = topology::binding::own();
  hw_info->set(package_resource, mine.package >= 0 ? "true" : "false");
  hw_info->set(numa_resource, mine.numa_node >= 0 ? "true" : "false");
  hw_info->set(cache_resource, mine.cache >= 0 ? "true" : "false");
  hw_info->set(core_resource, mine.core >= 0 ? "true" : "false");
  return MPI_SUCCESS;
}

int alloc_mem(MPI_Aint size, info* hints, void* baseptr) {
  constexpr std::size_t line = 64;  // against false sharing
  const auto alignment = std::max(line, minimum_alignment(hints));
  const auto bytes = (static_cast<std::size_t>(size) + alignment) / alignment * alignment;
  void* made = std::aligned_alloc(alignment, bytes);
  if (made == nullptr) return fail(MPI_ERR_NO_MEM, "no {} bytes of memory left", size);
  std::memcpy(baseptr, &made, sizeof made);
  return MPI_SUCCESS;
}

int free_mem(void* base) {
  std::free(base);
  return MPI_SUCCESS;
}

int pcontrol(int) { return MPI_SUCCESS; }

int abi_get_version(int& abi_major, int& abi_minor) {
  abi_major = MPI_ABI_VERSION;
  abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

int abi_get_info(info*& made) {
  made = pool<info>::all().make();
  made->set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
  made->set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
  made->set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
  return MPI_SUCCESS;
}

int abi_get_fortran_info(info*& made) {
  auto& facts = fortran();
  const base::lock_guard held(facts.lock);
  made = facts.has_info ? pool<info>::all().make(facts.info) : nullptr;
  return MPI_SUCCESS;
}

int abi_set_fortran_info(info& given) {
  auto& facts = fortran();
  const base::lock_guard held(facts.lock);
  if (facts.has_info) return fail(MPI_ERR_ABI, "the facts about Fortran were set before");
  facts.info = given.entries();
  facts.has_info = true;
  return MPI_SUCCESS;
}

int abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false,
                             int& is_set) {
  if (!is_power_of_two_to_16(logical_size)) {
    return fail(MPI_ERR_ARG, "a LOGICAL of {} bytes is not possible", logical_size);
  }
  auto& facts = fortran();
  const base::lock_guard held(facts.lock);
  is_set = facts.logical_size == logical_size;
  if (!is_set) return MPI_SUCCESS;
  std::memcpy(logical_true, facts.logical_true, static_cast<std::size_t>(logical_size));
  std::memcpy(logical_false, facts.logical_false, static_cast<std::size_t>(logical_size));
  return MPI_SUCCESS;
}

int abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  if (!is_power_of_two_to_16(logical_size)) {
    return fail(MPI_ERR_ARG, "a LOGICAL of {} bytes is not possible", logical_size);
  }
  auto& facts = fortran();
  const base::lock_guard held(facts.lock);
  if (facts.logical_size != 0) return fail(MPI_ERR_ABI, "Fortran's truth values were set before");
  facts.logical_size = logical_size;
  std::memcpy(facts.logical_true, logical_true, static_cast<std::size_t>(logical_size));
  std::memcpy(facts.logical_false, logical_false, static_cast<std::size_t>(logical_size));
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
