#include "rails/tcp/handshake.hpp"

#include "base/assert.hpp"
#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::size_t resume_point_bytes = 16;
constexpr std::size_t decision_bytes = 8 + resume_point_bytes;  // the verdict comes first

void put_resume_point(std::byte* where, const resume_point& at) noexcept {
  put_number(where, at.received);
  put_number(where + 8, at.calls);
}

resume_point get_resume_point(const std::byte* where) noexcept {
  return {.received = get_number<std::uint64_t>(where),
          .calls = get_number<std::uint64_t>(where + 8)};
}

/// Payload of the hello: job and rank of the dialler, job and rank of the answerer, 1 if the
/// dialler encrypts, otherwise 0, and the dialler's resume point.
struct introduction {
  static constexpr std::size_t bytes = 32 + resume_point_bytes;
  processes::process_id dialler, answerer;
  std::uint64_t encrypts = 0;
  resume_point at;

  [[nodiscard]] std::array<std::byte, bytes> packed() const noexcept {
    std::array<std::byte, bytes> made;
    put_number(&made[0], dialler.job);
    put_number(&made[8], dialler.rank);
    put_number(&made[12], answerer.job);
    put_number(&made[20], answerer.rank);
    put_number(&made[24], encrypts);
    put_resume_point(&made[32], at);
    return made;
  }
  [[nodiscard]] static introduction unpacked(std::span<const std::byte> from) noexcept {
    return {.dialler = {.job = get_number<std::uint64_t>(&from[0]),
                        .rank = get_number<std::uint32_t>(&from[8])},
            .answerer = {.job = get_number<std::uint64_t>(&from[12]),
                         .rank = get_number<std::uint32_t>(&from[20])},
            .encrypts = get_number<std::uint64_t>(&from[24]),
            .at = get_resume_point(&from[32])};
  }
};

constexpr authentication::protocol tcp_protocol{.name = "headway tcp   4\n",
                                                .hello_bytes = introduction::bytes,
                                                .decision_bytes = decision_bytes};

}  // namespace

handshake handshake::dial(const credentials& own, processes::process_id peer,
                          const resume_point& at) noexcept {
  const introduction said{
      .dialler = own.self, .answerer = peer, .encrypts = own.encrypts ? 1u : 0u, .at = at};
  const auto key = own.key_for(peer.job);
  HEADWAY_ASSERT(key.has_value());
  handshake h(own, authentication::handshake::initiator(*key, tcp_protocol, said.packed(), {}),
              true);
  h.peer_ = peer;
  return h;
}

handshake handshake::answer(const credentials& own) noexcept {
  return {own, authentication::handshake::responder(tcp_protocol), false};
}

/// Reads the hello. It must name this process as the answerer, and another one as the dialler.
bool handshake::is_for_us() noexcept {
  const auto said = introduction::unpacked(talk_.hello());
  peer_ = said.dialler;
  peer_encrypts_ = said.encrypts != 0;
  peer_at_ = said.at;
  return said.answerer == own_->self && peer_ != own_->self && said.encrypts <= 1;
}

handshake::stage handshake::received(std::size_t bytes) noexcept {
  const auto at = talk_.received(bytes);
  if (at == stage::claimed) {
    const auto key = is_for_us() ? own_->key_for(peer_.job) : std::nullopt;
    if (key) talk_.accept(*key);
    else talk_.refuse();
  }
  if (at == stage::finished) {
    const auto code = get_number<std::uint64_t>(talk_.decision().data());
    peer_at_ = get_resume_point(&talk_.decision()[8]);
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

void handshake::decide(verdict v, const resume_point& at) noexcept {
  std::array<std::byte, decision_bytes> decision;
  put_number(&decision[0], static_cast<std::uint64_t>(v));
  put_resume_point(&decision[8], at);
  talk_.decide(decision);
  judged_ = v;
}

}  // namespace headway::rails::tcp
