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

/// One side of a talk between two processes over rails that carry nothing else: the drivers alone,
/// without the engine.
/// Threads:  one.
/// Progress: waits by polling; by sleeping where it is told to, and the first rail can wake it.
/// Errors:   `peer_lost`; `timed_out` when the other side is silent for `patience_ns`.
class talk {
 public:
  talk(std::span<rails::driver* const> rails, rails::peer_id other, std::uint64_t patience_ns);
  virtual ~talk() = default;

  /// Moves everything until `enough`.
  [[nodiscard]] base::result<> wait(const std::function<bool()>& enough, bool asleep = false);
  /// Over one of the rails, at once; `retry`: not now.
  [[nodiscard]] rails::post offer(std::size_t rail, const rails::packet& what);
  /// Over the first, until it is taken.
  [[nodiscard]] base::result<> send(const rails::packet& what);
  /// Into the other side's memory.
  [[nodiscard]] rails::post offer_put(std::size_t rail, const rails::remote_place& to,
                                      std::span<const std::byte> from);
  [[nodiscard]] base::result<> put(const rails::remote_place& to, std::span<const std::byte> from);
  /// What was posted has been sent.
  [[nodiscard]] bool all_sent() const noexcept { return posted_ == 0; }
  /// Bytes that were put into exposures, since the last `forget_landed`.
  [[nodiscard]] std::uint64_t landed() const noexcept { return landed_; }
  void forget_landed() noexcept { landed_ = 0; }
  /// The other side said what it should not.
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

/// The same in words of one shape, each with a `kind`. Shorter packets are passed over.
template <class Word>
class talk_in final : public talk {
 public:
  using talk::talk;

  [[nodiscard]] base::result<> say(const Word& w, std::span<const std::byte> payload = {}) {
    if (auto done = send({.header = std::as_bytes(std::span(&w, 1)), .payload = payload}); !done)
      return done;
    return wait([&] { return all_sent(); });
  }
  [[nodiscard]] base::result<Word> hear(bool asleep = false) {
    if (auto done = wait([&] { return !inbox_.empty(); }, asleep); !done)
      return std::unexpected(std::move(done).error());
    const Word w = inbox_.front();
    inbox_.erase(inbox_.begin());
    return w;
  }
  [[nodiscard]] base::result<Word> hear_only(decltype(Word::kind) wanted, bool asleep = false) {
    auto w = hear(asleep);
    if (!w || w->kind == wanted) return w;
    return refuse();
  }
  /// Of the last word that came with one and says that it shall be kept.
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
