#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "launch/greeting.hpp"
#include "launch/meeting_socket.hpp"
#include "launch/rendezvous_settings.hpp"

namespace headway::launch {

/// The host's part of a meeting: lets callers in until all have come that are expected.
/// Shape:    at most `visitors_max` callers at a time that have not proved themselves, each for
///           five seconds.
/// Threads:  one.
/// Progress: `gather` waits, at most until its deadline.
/// Errors:   a caller that does not know the secret is named in the log, a few times.
class reception_desk {
 public:
  static constexpr std::size_t visitors_max = 64;

  reception_desk(meeting_socket listener, const meeting_key& key, const rendezvous_settings& where)
      : listener_(std::move(listener)), key_(key), where_(where) {}

  /// The sockets of the others in the order of their ranks, from 1 on. `nonce` is the job's.
  [[nodiscard]] base::result<std::vector<meeting_socket>> gather(std::span<const std::byte> nonce,
                                                                 std::uint64_t deadline_ns);

 private:
  struct visitor {
    meeting_socket socket;
    greeting talk;
    std::vector<std::byte> heard = {};
    std::uint64_t until_ns = 0;
  };
  [[nodiscard]] std::size_t guests() const noexcept;
  void wait(std::uint64_t deadline_ns) const;
  void admit();
  /// False: it is sent away, or has gone.
  [[nodiscard]] bool attend(visitor& v, std::span<const std::byte> nonce);
  [[nodiscard]] static bool answer(visitor& v);
  [[nodiscard]] bool stranger(const visitor& v);

  meeting_socket listener_;
  const meeting_key key_;
  const rendezvous_settings& where_;
  std::vector<std::unique_ptr<visitor>> visitors_;
  int strangers_ = 0;
};

}  // namespace headway::launch
