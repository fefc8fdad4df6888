#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/exposures.hpp"

namespace headway::rails {

/// The gets, atomics and flushes under way from this process to its peers, for a driver whose peers
/// reply with puts. The replies are put into exposures whose ids bear `answer_bit` on the wire.
/// Shape:    at most `calls_max` without a reply; the first one allocates one page.
/// Threads:  every function any thread.
class memory_calls {
 public:
  static constexpr std::size_t calls_max = 256;
  static constexpr std::uint64_t answer_bit = std::uint64_t{1} << 62;

  struct ended {
    std::uint64_t cookie = 0;
    event_kind how = event_kind::failed;
  };

  /// The exposure for the reply, to be sent in the request; nothing: try again later. A flush is a
  /// request for no bytes of exposures::never: the refusal is its reply.
  [[nodiscard]] std::optional<std::uint64_t> begin(peer_id peer, std::span<std::byte> to,
                                                   std::uint64_t cookie) noexcept;
  /// The request was not sent.
  void cancel(std::uint64_t answer) noexcept { static_cast<void>(end(answer)); }
  /// Part of the reply has arrived. The cookie, if that was the last part.
  [[nodiscard]] std::optional<std::uint64_t> arrived(std::uint64_t token,
                                                     std::size_t bytes) noexcept;
  /// The peer refuses the request. Nothing: there is no such call to that peer.
  [[nodiscard]] std::optional<ended> refused(peer_id peer, std::uint64_t answer) noexcept;
  /// The peer is lost: removes one of its calls. Nothing: there is none left.
  [[nodiscard]] std::optional<std::uint64_t> drop(peer_id peer) noexcept;

  [[nodiscard]] exposures& answers() noexcept { return answers_; }

 private:
  struct call {
    std::uint64_t answer = 0;  // 0: free
    std::uint64_t cookie = 0;
    std::size_t bytes_left = 0;
    peer_id peer{};
  };
  [[nodiscard]] std::optional<std::uint64_t> end(std::uint64_t answer) noexcept;

  exposures answers_;
  base::spinlock lock_;
  std::array<call, calls_max> calls_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::rails
