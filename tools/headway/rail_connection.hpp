#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "rails/memory.hpp"

namespace headway::tool {

/// One end of a connection between two processes over rails that carry nothing else, for
/// measurements: it uses the drivers without the engine.
/// Threads:  one.
/// Progress: waits by polling; with `asleep`, by sleeping if the first rail can wake it.
/// Errors:   `peer_lost`; `timed_out` when the other end is silent for `patience_ns`.
class rail_connection {
 public:
  rail_connection(std::span<rails::driver* const> rails, rails::peer_id other,
                  std::uint64_t patience_ns);
  virtual ~rail_connection() = default;

  /// Reaps all rails until `enough()`.
  [[nodiscard]] base::result<> wait(const std::function<bool()>& enough, bool asleep = false);
  /// Sends a packet over one of the rails, without waiting.
  [[nodiscard]] rails::post try_send(std::size_t rail, const rails::packet& what);
  /// Sends a packet over the first rail; waits until the rail takes it.
  [[nodiscard]] base::result<> send(const rails::packet& what);
  /// Puts bytes into the other end's memory, without waiting.
  [[nodiscard]] rails::post try_put(std::size_t rail, const rails::remote_place& to,
                                    std::span<const std::byte> from);
  [[nodiscard]] base::result<> put(const rails::remote_place& to, std::span<const std::byte> from);
  /// Whether everything that was posted has been sent.
  [[nodiscard]] bool all_sent() const noexcept { return posted_ == 0; }
  /// Bytes that have landed in this end's exposures since the last `forget_landed`.
  [[nodiscard]] std::uint64_t landed() const noexcept { return landed_; }
  void forget_landed() noexcept { landed_ = 0; }
  /// The fault for a packet of the wrong kind.
  [[nodiscard]] std::unexpected<base::fault> refuse() const;

 protected:
  virtual void take(std::span<const std::byte> packet) = 0;

 private:
  rails::post note(rails::post answer);
  std::size_t pump();
  std::size_t pump(rails::driver& rail);
  void sleep();
  [[nodiscard]] std::unexpected<base::fault> failed(base::fault_kind kind, const char* what) const;

  const std::span<rails::driver* const> rails_;
  const rails::peer_id other_;
  const std::uint64_t patience_ns_;
  std::uint64_t landed_ = 0;
  int posted_ = 0;
  bool lost_ = false;
  std::uint64_t ticked_ns_ = 0;
};

/// A connection whose packets begin with a Word, which has a `kind`. Ignores shorter packets.
template <class Word>
class typed_connection final : public rail_connection {
 public:
  using rail_connection::rail_connection;

  [[nodiscard]] base::result<> send_word(const Word& w, std::span<const std::byte> payload = {}) {
    if (auto done = send({.header = std::as_bytes(std::span(&w, 1)), .payload = payload}); !done)
      return done;
    return wait([&] { return all_sent(); });
  }
  [[nodiscard]] base::result<Word> receive(bool asleep = false) {
    if (auto done = wait([&] { return !inbox_.empty(); }, asleep); !done)
      return std::unexpected(std::move(done).error());
    const Word w = inbox_.front();
    inbox_.erase(inbox_.begin());
    return w;
  }
  [[nodiscard]] base::result<Word> receive_kind(decltype(Word::kind) wanted, bool asleep = false) {
    auto w = receive(asleep);
    if (!w || w->kind == wanted) return w;
    return refuse();
  }
  /// The payload of the last packet whose word `keeps_payload()`.
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }

 private:
  void take(std::span<const std::byte> packet) override {
    Word w;
    if (packet.size() < sizeof w) return;
    std::memcpy(&w, packet.data(), sizeof w);
    inbox_.push_back(w);
    if (w.keeps_payload()) payload_.assign(packet.begin() + sizeof w, packet.end());
  }

  std::vector<Word> inbox_;
  std::vector<std::byte> payload_;
};

}  // namespace headway::tool
