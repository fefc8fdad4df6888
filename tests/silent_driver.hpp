#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rails/driver.hpp"

namespace headway::rails::testing {

/// What most drivers in memory have nothing to say to: an address of one byte, everybody reached,
/// no memory to give back, nothing to sleep on.
class silent_driver : public rails::driver {
 public:
  base::result<std::vector<std::byte>> open() override { return std::vector<std::byte>(1); }
  base::result<> connect(rails::peer_id, std::span<const std::byte>) override { return {}; }
  void release(const rails::event&) noexcept override {}
  int descriptor() const noexcept override { return -1; }
  bool arm(bool) noexcept override { return true; }
  void tick(std::uint64_t) noexcept override {}
  void close() noexcept override {}
};

}  // namespace headway::rails::testing
