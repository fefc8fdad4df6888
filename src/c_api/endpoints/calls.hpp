#pragma once

#include <cstdint>

#include "headway/endpoint.h"

namespace headway::endpoint_api {

/// The C interface of end-points as a table. It comes from the library that runs the process's
/// engine: libheadway, or libmpi_abi if that is in the process, too, so that both use one engine.
/// Shape:    `version` first; it changes with any other member.
struct table {
  static constexpr std::uint32_t version_now = 2;

  std::uint32_t version = version_now;
  int (*join)();
  int (*leave)();
  int (*process)();
  int (*process_count)();
  const char* (*error_text)();
  int (*request)(size_t bytes, void** buffer);
  size_t (*capacity)(const void* buffer);
  int (*release)(void* buffer);
  int (*probe)(const void* buffer, int* idle);
  int (*release_later)(void* buffer);
  size_t (*memory)();
  int (*open)(const char* name, headway_endpoint* made);
  int (*close)(headway_endpoint endpoint);
  headway_address (*address)(headway_endpoint endpoint);
  int (*lookup)(const char* name, int64_t limit, headway_address* found);
  int (*send)(headway_endpoint from, headway_address to, int32_t tag, void* buffer, size_t bytes,
              int64_t limit);
  int (*send_kept)(headway_endpoint from, headway_address to, int32_t tag, void* buffer,
                   size_t bytes, int64_t limit);
  int (*send_by_name)(headway_endpoint from, const char* to, int32_t tag, void* buffer,
                      size_t bytes, int64_t limit);
  int (*send_copy)(headway_endpoint from, headway_address to, int32_t tag, const void* data,
                   size_t bytes, int64_t limit);
  int (*receive)(headway_endpoint endpoint, int32_t tag, const headway_address* from, int64_t limit,
                 headway_message* message);
  int (*wait_any)(const headway_endpoint* endpoints, size_t count, int64_t limit, size_t* which);
  int (*descriptor)(headway_endpoint endpoint, int* descriptor);
  int (*handle)(headway_endpoint endpoint, headway_handler handler, void* argument);
  size_t (*dispatch)(unsigned rounds);
  int (*dispatch_policy)(int policy);
};

/// The table of this library.
[[nodiscard]] const table& own_table() noexcept;
/// Whether this library's own engine runs for end-points.
[[nodiscard]] bool in_use() noexcept;
/// For libmpi_abi: whether an engine of libheadway runs, because libheadway was loaded first and
/// did not find this library.
[[nodiscard]] bool other_engine_in_use() noexcept;

}  // namespace headway::endpoint_api
