// Packets of any bytes, and messages with any headers, as a rail may deliver them, while receives
// are posted, an rts is under way, memory is exposed and collective operations run: no field may be
// trusted.

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "messages/exchange.hpp"
#include "messages/operation_log.hpp"
#include "messages/wire.hpp"
#include "packets/peers.hpp"
#include "tests/fuzz/bytes_of_input.hpp"
#include "tests/fuzz/this_machine.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"

namespace {

using namespace headway;

constexpr int rank_count = 3;
constexpr std::size_t room = 512;

/// The process that is attacked. Of its contexts, the second is collective, and the third is opened
/// when all packets have come.
class victim {
 public:
  victim() {
    auto made = ends.make_rail();
    rail = made.get();
    peers_.add_rail(std::move(made), packets::rail_use::from_start);
    for (const auto peer : {1u, 2u}) HEADWAY_ASSERT(peers_.use(rails::peer_id{peer}));
    exchange_ = std::make_unique<messages::exchange>(peers_, *engine_);
    open();
    open();
    messages::exchange::use_expectation(
        *contexts_[1], [](const void*, int source) noexcept { return source == 1; });
    auto& log = messages::exchange::log_of(*contexts_[1]);
    for (const messages::operation_log::word call : {1u, 2u, 3u}) log.note(call);
    const messages::label third{messages::operation_tags.of(3), log.history()};
    exchange_->receive(*contexts_[1], requests_.emplace_back(), std::span(memory_).first(8), 1,
                       third);
    for (const int source : {1, 2, messages::any_source}) receive(0, source, 0);
    receive(0, messages::any_source, messages::any_tag);
    send(0, 0);
  }

  void receive(std::size_t where, int source, int tag) {
    if (where >= contexts_.size()) return;
    exchange_->receive(*contexts_[where], requests_.emplace_back(), memory_, source, tag);
  }
  void receive_probed(std::size_t where, int tag) {
    messages::arrival found;
    if (where >= contexts_.size()) return;
    auto* const message =
        exchange_->probe_matched(*contexts_[where], messages::any_source, tag, found);
    if (message != nullptr)
      exchange_->receive_unexpected(*contexts_[where], requests_.emplace_back(), message, memory_);
  }
  void send(std::size_t where, int tag) {
    if (where >= contexts_.size()) return;
    exchange_->send(*contexts_[where], requests_.emplace_back(), memory_, 1, tag,
                    messages::send_mode::synchronous);
  }

  void open() {
    const auto id = static_cast<std::uint32_t>(contexts_.size());
    const messages::context_name name{id, id == 1 ? 1u : 0u};
    contexts_.push_back(
        exchange_->open_context(name, 0, processes::consecutive(rank_count), id == 1));
  }
  void poll() {
    while (ends.due()) engine_->poll();
    engine_->poll();
  }

  /// Every peer is gone, one of them within a packet: every request ends.
  void end() {
    constexpr messages::envelope begun{.source = 2};
    rail->answer(rails::post::down);
    ends.send_part(2, std::as_bytes(std::span(&begun, 1)), room);
    for (auto& r : requests_) exchange_->cancel(r);
    for (const auto peer : {0u, 1u, 2u})
      rail->report({.kind = rails::event_kind::lost, .peer = rails::peer_id{peer}});
    poll();
    for (const auto& r : requests_)
      if (!r.test()) std::abort();
    for (auto* one : contexts_) exchange_->close_context(one);
  }

  simulation::bare_ends ends{2, {simulation::bare_ends::immediate_but([](auto& plan) {
                               plan.limits.eager_bytes_max = 256;
                               plan.limits.inline_bytes_max = 0;
                             })}};
  /// Answers what it is given as the fuzzer says.
  simulation::driver* rail = nullptr;

 private:
  std::unique_ptr<progress::engine> engine_ =
      progress::engine::start(this_machine(), {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes_;
  packets::peers peers_{*engine_, rails::peer_id{0}, routes_, {.processes = rank_count}};
  std::array<std::byte, room> memory_{};
  std::deque<messages::request> requests_;
  std::unique_ptr<messages::exchange> exchange_;
  std::vector<messages::context*> contexts_;
};

/// What the peers send, and what the process does meanwhile.
class attacker {
 public:
  attacker(victim& of, bytes_of_input& input) : of_(of), input_(input) {}

  void act() {
    const auto what = input_.byte();
    switch (what % 8) {
      case 0: {
        const auto low = input_.byte(), high = input_.byte();
        return deliver(input_.bytes(low | (high & 7u) << 8), what);
      }
      case 1: {
        const auto payload = what < 64 ? std::vector<std::byte>(room) : some_bytes();
        return deliver(packet_of(match(messages::wire_kind::eager), payload), what);
      }
      case 2: {
        messages::rts announced;
        announced.match = match(messages::wire_kind::request_to_send);
        announced.bytes = input_.byte() % 4 == 0 ? room : input_.byte();
        announced.message.number = input_.byte();
        return deliver(packet_of(announced, {}), what);
      }
      case 3:
        return deliver(packet_of(match(messages::wire_kind::given_up), {}), what);
      case 4:
        return of_.receive(what / 8 % 4, what < 64 ? messages::any_source : 1 + what % 2, tag());
      case 5:
        return of_.receive_probed(what / 8 % 4, what < 64 ? messages::any_tag : tag());
      case 6:
        return of_.send(what / 8 % 4, tag());
      default:
        of_.rail->answer(static_cast<rails::post>(what / 8 % 3));  // not `down`
        of_.rail->report({.kind = rails::event_kind::landed,
                          .peer = rails::peer_id{1},
                          .count = std::uint64_t{2} * input_.byte(),
                          .cookie = 1u << 20 | (input_.byte() & 3u)});
    }
  }

 private:
  [[nodiscard]] std::vector<std::byte> some_bytes() {
    const auto bytes = input_.some();
    return {bytes.begin(), bytes.end()};
  }
  /// Mostly one of few, so that messages and receives match.
  [[nodiscard]] int tag() {
    const auto one = input_.byte();
    return one < 0xc0 ? one % 4 : one;
  }
  [[nodiscard]] messages::envelope match(messages::wire_kind kind) {
    const auto what = input_.byte();
    return {.kind = kind,
            .given_up = static_cast<std::uint8_t>(what >= 0xf0),
            .context = static_cast<std::uint16_t>(what % 4),
            .source = what / 4u % rank_count,
            .tag = tag()};
  }
  template <class Head>
  [[nodiscard]] static std::vector<std::byte> packet_of(const Head& head,
                                                        const std::vector<std::byte>& payload) {
    std::vector<std::byte> all(sizeof head);
    std::memcpy(all.data(), &head, sizeof head);
    all.insert(all.end(), payload.begin(), payload.end());
    return all;
  }

  /// Whole, or in two parts.
  void deliver(std::span<const std::byte> packet, unsigned what) {
    const auto peer = 1 + (what / 8 & 1);
    const auto first = (what & 16) != 0 ? std::min<std::size_t>(packet.size(), 24) : packet.size();
    of_.ends.send_part(peer, packet.first(first), packet.size() - first);
    if (first < packet.size()) of_.ends.send_part(peer, packet.subspan(first), 0);
  }

  victim& of_;
  bytes_of_input& input_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int actions_max = 96;
  bytes_of_input input({data, size});
  victim attacked;
  attacker by(attacked, input);
  for (int i = 0; input.any() && i < actions_max; ++i) {
    by.act();
    attacked.poll();
  }
  attacked.open();
  attacked.receive(2, messages::any_source, 0);
  attacked.poll();
  attacked.end();
  return 0;
}
