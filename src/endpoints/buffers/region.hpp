#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "endpoints/buffers/block.hpp"
#include "endpoints/buffers/return_list.hpp"

namespace headway::endpoints {

/// What another process of the machine needs to map a region. Part of a packet.
struct region_offer {
  std::uint32_t owner = 0;
  std::uint32_t pid = 0;
  std::uint32_t descriptor = 0;
  std::uint32_t zero = 0;
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 2> nonce = {};  ///< proves that the opened file is the region
};
static_assert(sizeof(region_offer) == 40);

/// The memory of one process's buffers. This process maps it twice: two views.
///
/// The sender of a kept buffer uses its address in the first view, receivers use the one in the
/// second: so the address passed to `release` shows which of them releases.
///
/// Shape:    `bytes` of address space for each view; memory is taken when it is touched. The second
///           half is for messages that arrive when the first one is used up (arrival_reserve).
/// Threads:  constant after `make` or `map`, except for the list.
/// Errors:   those of the kernel, as text. A process whose memory cannot be opened (another
///           container or user) is an ordinary case for the caller.
class region {
 public:
  [[nodiscard]] static base::result<std::unique_ptr<region>> make(std::uint32_t owner,
                                                                  std::size_t bytes,
                                                                  std::uint64_t job);
  /// Maps another process's region, from the description by its owner.
  [[nodiscard]] static base::result<std::unique_ptr<region>> map(const region_offer& offer,
                                                                 std::uint64_t job);
  ~region();
  region(const region&) = delete;
  region& operator=(const region&) = delete;

  [[nodiscard]] const region_offer& offer() const noexcept { return offer_; }
  [[nodiscard]] std::uint32_t owner() const noexcept { return offer_.owner; }
  [[nodiscard]] std::size_t bytes() const noexcept { return offer_.bytes; }
  /// The place where the second half begins.
  [[nodiscard]] std::uint64_t reserve_begin() const noexcept { return bytes() / 2; }
  [[nodiscard]] bool contains(const void* p) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(p) - base_) < 2 * bytes();
  }
  [[nodiscard]] bool in_lent_view(const void* p) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(p) - base_) >= bytes();
  }
  /// The header of the buffer at `data`, in the first view whichever view `data` is in; nullptr:
  /// there is no buffer of this region.
  [[nodiscard]] block* header_of(const void* data) const noexcept {
    const auto place = place_of(data);
    if (place == 0) return nullptr;
    block* found = at(place);
    return found->mark == block::mark_value && found->place == place ? found : nullptr;
  }
  /// If `header_of` found none: whether the range contains parts of one.
  [[nodiscard]] bool damaged(const void* data) const noexcept;
  [[nodiscard]] block* at(std::uint64_t place) const noexcept {
    return reinterpret_cast<block*>(base_ + place);
  }
  /// The buffer's address for a receiver: in the second view if it is only lent.
  [[nodiscard]] void* address_of(block& b, bool lent) const noexcept {
    return b.data() + (lent ? bytes() : 0);
  }
  /// The same, or nullptr if there is no header: `place` was read from memory that the program can
  /// overwrite.
  [[nodiscard]] block* intact(std::uint64_t place) const noexcept {
    if (place - first_place >= bytes() - first_place - sizeof(block) || place % 64 != 0)
      return nullptr;
    block* b = at(place);
    return b->mark == block::mark_value && b->place == place ? b : nullptr;
  }
  /// The same with all checks, for places received from a peer: nullptr if there is no such block.
  [[nodiscard]] block* checked(std::uint64_t place, std::size_t message_bytes) const noexcept;

  basic_return_list<>& returned() const noexcept { return head().returned; }
  /// The first page is the region's own header.
  static constexpr std::size_t first_place = 4096;

 private:
  struct header {
    std::array<std::uint64_t, 2> nonce;
    std::uint64_t job;
    std::uint64_t bytes;
    alignas(64) basic_return_list<> returned;
  };
  explicit region(const region_offer& offer) noexcept : offer_(offer) {}
  [[nodiscard]] base::result<> map_views(int descriptor);
  /// The place of the header before `data`; 0: no buffer can begin there.
  [[nodiscard]] std::uint64_t place_of(const void* data) const noexcept {
    auto place = static_cast<std::size_t>(static_cast<const std::byte*>(data) - base_);
    if (place >= bytes()) place -= bytes();
    constexpr auto first_data = first_place + sizeof(block);
    const bool possible = place - first_data < bytes() - first_data && place % 64 == 0;
    return possible ? place - sizeof(block) : 0;
  }
  [[nodiscard]] header& head() const noexcept { return *reinterpret_cast<header*>(base_); }

  region_offer offer_;
  std::byte* base_ = nullptr;
  int own_descriptor_ = -1;
};

}  // namespace headway::endpoints
