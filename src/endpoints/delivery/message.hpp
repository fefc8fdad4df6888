#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "endpoints/buffers/block.hpp"

namespace headway::endpoints {

inline constexpr std::uint64_t no_wait = 0;
inline constexpr std::uint64_t for_ever = UINT64_MAX;
inline constexpr std::int32_t any_tag = std::numeric_limits<std::int32_t>::min();

/// A received message. `data` is a buffer that the receiver must release.
struct message {
  void* data = nullptr;
  std::size_t bytes = 0;
  std::int32_t tag = 0;
  address from;
};

/// What to send, and how.
struct sending {
  address to;
  std::int32_t tag = 0;
  std::uint32_t from = 0;  ///< id of an own end-point, or 0
  void* data = nullptr;    ///< a buffer; nullptr: an empty message
  std::size_t bytes = 0;
  bool keep = false;  ///< the buffer stays the sender's, which probes and releases it
};

/// Which messages a receiver takes.
struct filter {
  address from;  ///< id 0: any sender
  std::int32_t tag = any_tag;

  [[nodiscard]] bool admits(const parcel& p) const noexcept {
    return (tag == any_tag || tag == p.tag) && (from.id == 0 || from == p.from);
  }
};

/// A function of the program, and the function that calls it.
struct handler {
  void (*call)(const handler& self, const message& what) = nullptr;
  void (*target)() = nullptr;
  void* argument = nullptr;
};

}  // namespace headway::endpoints
