// The functions of include/headway/endpoint.h, as libheadway.so exports them: each calls the table
// of the library whose engine this process runs.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "c_api/endpoints/calls.hpp"

namespace {

using headway::endpoint_api::own_table;
using headway::endpoint_api::table;

constexpr const char* mpi_library = "libmpi_abi.so.1";
constexpr const char* mpi_table = "headway_endpoint_table";

/// Loads the MPI library in this library's folder, which contains the engine, too; if MPI is loaded
/// into the process later, the loader returns this one, so that both share an engine.
void* load_own_mpi() noexcept {
  Dl_info us;
  if (dladdr(reinterpret_cast<void*>(&load_own_mpi), &us) == 0 || !us.dli_fname) return nullptr;
  std::string path(us.dli_fname);
  path.resize(path.rfind('/') + 1);  // "" if there is none
  path += mpi_library;
  if (access(path.c_str(), R_OK) != 0) return nullptr;
  return dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

const table* table_of(void* mpi) noexcept {
  // Another implementation's library has no such table.
  auto give = reinterpret_cast<const table* (*)()>(dlsym(mpi, mpi_table));
  dlclose(mpi);  // it stays loaded: this was not its only reference
  if (give && give()->version == table::version_now) return give();
  if (give)
    std::fprintf(stderr, "headway: %s and libheadway.so are of different versions\n", mpi_library);
  return nullptr;
}

const table& find_table() noexcept {
  // If an MPI is already loaded (by Python's mpi4py, for example), it is used, even if it is
  // another implementation: two of them would conflict.
  void* mpi = dlopen(mpi_library, RTLD_LAZY | RTLD_NOLOAD);
  if (!mpi) mpi = load_own_mpi();
  const table* found = mpi ? table_of(mpi) : nullptr;
  return found ? *found : own_table();
}

// (F): release in `find_calls` -> acquire in `calls`: another library's table is relocated before
// use.
std::atomic<const table*> found_table{nullptr};

[[gnu::cold, gnu::noinline]] const table& find_calls() noexcept {
  static const table& found = find_table();
  found_table.store(&found, std::memory_order_release);  // (F)
  return found;
}

/// On the path of every call: a load and a jump.
const table& calls() noexcept {
  const table* found = found_table.load(std::memory_order_acquire);  // (F)
  return found ? *found : find_calls();
}

}  // namespace

extern "C" {

const char* headway_error_text(void) { return calls().error_text(); }
int headway_join(void) { return calls().join(); }
int headway_leave(void) { return calls().leave(); }
int headway_process(void) { return calls().process(); }
int headway_process_count(void) { return calls().process_count(); }

int headway_buffer_request(size_t bytes, void** buffer) { return calls().request(bytes, buffer); }
size_t headway_buffer_capacity(const void* buffer) { return calls().capacity(buffer); }
int headway_buffer_release(void* buffer) { return calls().release(buffer); }
int headway_buffer_probe(const void* buffer, int* idle) { return calls().probe(buffer, idle); }
int headway_buffer_release_later(void* buffer) { return calls().release_later(buffer); }
size_t headway_buffer_memory(void) { return calls().memory(); }

int headway_endpoint_open(const char* name, headway_endpoint* made) {
  return calls().open(name, made);
}
int headway_endpoint_close(headway_endpoint endpoint) { return calls().close(endpoint); }
headway_address headway_endpoint_address(headway_endpoint endpoint) {
  return calls().address(endpoint);
}
int headway_endpoint_lookup(const char* name, int64_t limit, headway_address* found) {
  return calls().lookup(name, limit, found);
}
int headway_endpoint_send(headway_endpoint from, headway_address to, int32_t tag, void* buffer,
                          size_t bytes, int64_t limit) {
  return calls().send(from, to, tag, buffer, bytes, limit);
}
int headway_endpoint_send_kept(headway_endpoint from, headway_address to, int32_t tag, void* buffer,
                               size_t bytes, int64_t limit) {
  return calls().send_kept(from, to, tag, buffer, bytes, limit);
}
int headway_endpoint_send_by_name(headway_endpoint from, const char* to, int32_t tag, void* buffer,
                                  size_t bytes, int64_t limit) {
  return calls().send_by_name(from, to, tag, buffer, bytes, limit);
}
int headway_endpoint_send_copy(headway_endpoint from, headway_address to, int32_t tag,
                               const void* data, size_t bytes, int64_t limit) {
  return calls().send_copy(from, to, tag, data, bytes, limit);
}
int headway_endpoint_receive(headway_endpoint endpoint, int32_t tag, const headway_address* from,
                             int64_t limit, headway_message* message) {
  return calls().receive(endpoint, tag, from, limit, message);
}
int headway_endpoint_wait_any(const headway_endpoint* endpoints, size_t count, int64_t limit,
                              size_t* which) {
  return calls().wait_any(endpoints, count, limit, which);
}
int headway_endpoint_descriptor(headway_endpoint endpoint, int* descriptor) {
  return calls().descriptor(endpoint, descriptor);
}
int headway_endpoint_handle(headway_endpoint endpoint, headway_handler handler, void* argument) {
  return calls().handle(endpoint, handler, argument);
}
size_t headway_endpoint_dispatch(unsigned rounds) { return calls().dispatch(rounds); }
int headway_endpoint_dispatch_policy(int policy) { return calls().dispatch_policy(policy); }

/* For a libmpi_abi.so.1 that is loaded later, from another folder than this library: the engine of
 * this library runs. */
HEADWAY_PUBLIC int headway_endpoint_engine_in_use(void);
int headway_endpoint_engine_in_use(void) { return headway::endpoint_api::in_use() ? 1 : 0; }

}  // extern "C"
