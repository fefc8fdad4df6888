#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "launch/rendezvous/rendezvous_handshake.hpp"
#include "launch/rendezvous/rendezvous_settings.hpp"
#include "launch/settings.hpp"
#include "launch/stream_socket.hpp"

namespace headway::launch {

/// The host's part of a rendezvous: accepts connections until all expected processes are
/// authenticated.
/// Shape:    at most `unauthenticated_max` unauthenticated connections at a time, each for five
///           seconds. If there are more, the one that has been silent for longest is closed once
///           that is `silent_ns`, because guests send first.
/// Threads:  one.
/// Progress: `gather` waits, at most until its deadline.
/// Errors:   connections without the secret are logged, a few times; so is the resource without
///           which no connection can be accepted.
class rendezvous_server {
 public:
  static constexpr std::size_t unauthenticated_max = 64;
  static constexpr std::uint64_t silent_ns = 200'000'000;
  using job_nonce = std::array<std::byte, authentication::nonce_bytes>;

  rendezvous_server(stream_socket listener, const rendezvous_key& key,
                    const rendezvous_settings& where, const settings& how)
      : listener_(std::move(listener)), key_(key), where_(where), how_(how) {}

  /// The sockets of the guests in the order of their ranks, from 1 on.
  [[nodiscard]] base::result<std::vector<stream_socket>> gather(const job_nonce& nonce,
                                                                std::uint64_t deadline_ns);

 private:
  struct pending_connection {
    stream_socket socket;
    rendezvous_handshake talk;
    std::uint64_t since_ns = 0;
    bool has_sent = false;  ///< something has come from it
  };
  /// How many connections are authenticated.
  [[nodiscard]] std::size_t guests() const noexcept;
  [[nodiscard]] bool full() const noexcept;
  /// False: every unauthenticated connection is young, or has sent something.
  [[nodiscard]] bool make_room() noexcept;
  void wait(std::uint64_t deadline_ns) const;
  void accept_all();
  void cannot_accept(int error);
  /// False: the connection is refused, or was closed.
  [[nodiscard]] bool advance(pending_connection& c);
  [[nodiscard]] static bool send_output(pending_connection& c);
  [[nodiscard]] bool refuse_unauthenticated(const pending_connection& c);
  [[nodiscard]] rendezvous_decision decision(admission how) const;

  stream_socket listener_;
  const rendezvous_key key_;
  const rendezvous_settings& where_;
  const settings& how_;
  std::vector<std::unique_ptr<pending_connection>> pending_;
  int refused_ = 0;        ///< connections without the secret
  bool accepting_ = true;  ///< at the last look; else no descriptor, memory or room
  bool said_why_ = false;  ///< it was logged that no connection can be accepted
};

}  // namespace headway::launch
