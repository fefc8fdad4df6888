#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "rails/memory.hpp"

namespace headway::windows {

/// Copies at addresses of this process, as the kernel does at those of another one.
class memory_of_this_process final : public rails::memory {
 public:
  [[nodiscard]] rails::memory_limits limits_to(rails::peer_id) const noexcept override {
    return {.put = true, .get = true, .direct = true};
  }
  [[nodiscard]] base::result<rails::ticket> expose(const rails::exposure&) noexcept override {
    return rails::ticket{};
  }
  void withdraw(const rails::ticket&) noexcept override {}
  [[nodiscard]] rails::post put(rails::peer_id, const rails::remote_place& to,
                                std::span<const std::byte> from, std::uint64_t) noexcept override {
    std::memcpy(reinterpret_cast<void*>(to.exposed.address), from.data(), from.size());
    return rails::post::done;
  }
  [[nodiscard]] rails::post get(rails::peer_id, const rails::remote_place& from,
                                std::span<std::byte> to, std::uint64_t) noexcept override {
    std::memcpy(to.data(), reinterpret_cast<const void*>(from.exposed.address), to.size());
    return rails::post::done;
  }
};

}  // namespace headway::windows
