#include "rails/tcp/handshake.hpp"

#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::size_t verdict_bytes = 8;

/// Payload of the hello: job and rank of the dialler, job and rank of the answerer, and 1 if the
/// dialler encrypts, otherwise 0.
struct introduction {
  static constexpr std::size_t bytes = 32;
  processes::process_id dialler, answerer;
  std::uint64_t encrypts = 0;

  [[nodiscard]] std::array<std::byte, bytes> packed() const noexcept {
    std::array<std::byte, bytes> made;
    put_number(&made[0], dialler.job);
    put_number(&made[8], dialler.rank);
    put_number(&made[12], answerer.job);
    put_number(&made[20], answerer.rank);
    put_number(&made[24], encrypts);
    return made;
  }
  [[nodiscard]] static introduction unpacked(std::span<const std::byte> from) noexcept {
    return {.dialler = {.job = get_number<std::uint64_t>(&from[0]),
                        .rank = get_number<std::uint32_t>(&from[8])},
            .answerer = {.job = get_number<std::uint64_t>(&from[12]),
                         .rank = get_number<std::uint32_t>(&from[20])},
            .encrypts = get_number<std::uint64_t>(&from[24])};
  }
};

constexpr authentication::protocol tcp_protocol{.name = "headway tcp   3\n",
                                                .hello_bytes = introduction::bytes,
                                                .decision_bytes = verdict_bytes};

}  // namespace

handshake handshake::dial(const credentials& own, processes::process_id peer) noexcept {
  const introduction said{
      .dialler = own.self, .answerer = peer, .encrypts = own.encrypts ? 1u : 0u};
  handshake h(
      own, authentication::handshake::initiator(own.secret, tcp_protocol, said.packed(), {}), true);
  h.peer_ = peer;
  return h;
}

handshake handshake::answer(const credentials& own) noexcept {
  return {own, authentication::handshake::responder(own.secret, tcp_protocol), false};
}

/// Reads the hello. It must name this process as the answerer, and another one as the dialler.
bool handshake::is_for_us() noexcept {
  const auto said = introduction::unpacked(talk_.hello());
  peer_ = said.dialler;
  peer_encrypts_ = said.encrypts != 0;
  return said.answerer == own_->self && peer_ != own_->self && said.encrypts <= 1;
}

handshake::stage handshake::received(std::size_t bytes) noexcept {
  const auto at = talk_.received(bytes);
  if (at == stage::claimed) {
    if (is_for_us()) talk_.accept();
    else talk_.refuse();
  }
  if (at == stage::finished) {
    const auto code = get_number<std::uint64_t>(talk_.decision().data());
    if (code < 1 || code > static_cast<std::uint64_t>(verdict::other_encryption)) talk_.refuse();
    else judged_ = static_cast<verdict>(code);
  }
  return talk_.now();
}

stream_keys handshake::keys() const noexcept {
  const auto made = talk_.keys();
  return dials_ ? stream_keys{.send = made.from_initiator, .receive = made.from_responder}
                : stream_keys{.send = made.from_responder, .receive = made.from_initiator};
}

void handshake::decide(verdict v) noexcept {
  std::array<std::byte, verdict_bytes> decision;
  put_number(decision.data(), static_cast<std::uint64_t>(v));
  talk_.decide(decision);
  judged_ = v;
}

}  // namespace headway::rails::tcp
