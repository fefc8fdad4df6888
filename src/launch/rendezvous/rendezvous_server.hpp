#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "launch/rendezvous/rendezvous_handshake.hpp"
#include "launch/rendezvous/rendezvous_settings.hpp"
#include "launch/rendezvous/rendezvous_socket.hpp"
#include "launch/settings.hpp"

namespace headway::launch {

/// The host's part of a rendezvous: accepts connections until all expected processes have proved
/// themselves.
/// Shape:    at most `unauthenticated_max` connections at a time that have not proved themselves,
///           each for five seconds. When there are more, the one that has been silent for longest
///           makes room, once that is `silent_ns`: guests speak first.
/// Threads:  one.
/// Progress: `gather` waits, at most until its deadline.
/// Errors:   a connection that does not know the secret is named in the log, a few times; so is the
///           resource without which no connection can be accepted.
class rendezvous_server {
 public:
  static constexpr std::size_t unauthenticated_max = 64;
  static constexpr std::uint64_t silent_ns = 200'000'000;
  using job_nonce = std::array<std::byte, authentication::nonce_bytes>;

  rendezvous_server(rendezvous_socket listener, const rendezvous_key& key,
                    const rendezvous_settings& where, const settings& how)
      : listener_(std::move(listener)), key_(key), where_(where), how_(how) {}

  /// The sockets of the guests in the order of their ranks, from 1 on.
  [[nodiscard]] base::result<std::vector<rendezvous_socket>> gather(const job_nonce& nonce,
                                                                    std::uint64_t deadline_ns);

 private:
  struct pending_connection {
    rendezvous_socket socket;
    rendezvous_handshake talk;
    std::uint64_t since_ns = 0;
    bool heard = false;  ///< it has said something
  };
  /// How many connections have proved themselves.
  [[nodiscard]] std::size_t guests() const noexcept;
  [[nodiscard]] bool full() const noexcept;
  /// False: every connection without a proof is young, or has said something.
  [[nodiscard]] bool make_room() noexcept;
  void wait(std::uint64_t deadline_ns) const;
  void accept_all();
  void cannot_accept(int error);
  /// False: the connection is refused, or was closed.
  [[nodiscard]] bool advance(pending_connection& c);
  [[nodiscard]] static bool send_output(pending_connection& c);
  [[nodiscard]] bool refuse_unauthenticated(const pending_connection& c);
  [[nodiscard]] rendezvous_decision decision(reception how) const;

  rendezvous_socket listener_;
  const rendezvous_key key_;
  const rendezvous_settings& where_;
  const settings& how_;
  std::vector<std::unique_ptr<pending_connection>> pending_;
  int refused_ = 0;        ///< connections that did not know the secret
  bool accepting_ = true;  ///< at the last look; else no descriptor or memory, or no room
  bool said_why_ = false;  ///< a connection could not be accepted
};

}  // namespace headway::launch
