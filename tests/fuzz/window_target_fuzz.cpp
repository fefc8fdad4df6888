// Requests of an origin of a window, with any runs, lengths and bytes, as the target serves them:
// nothing outside of the window is read or changed.

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "messages/exchange.hpp"
#include "messages/numbers.hpp"
#include "messages/wire.hpp"
#include "packets/peers.hpp"
#include "tests/fuzz/bytes_of_input.hpp"
#include "tests/fuzz/this_machine.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"
#include "windows/target.hpp"

namespace {

using namespace headway;
using windows::action;

constexpr std::size_t window_bytes = 300;  // not a multiple of any element with a gap
constexpr std::int32_t answer_tag = messages::window_answer_tags.first;

/// The process whose window it is. It has one origin.
class victim {
 public:
  victim() {
    peers_.add_rail(ends_.make_rail(), packets::rail_use::from_start);
    exchange_ = std::make_unique<messages::exchange>(peers_, *engine_);
    context_ = exchange_->open_context(0, 0, processes::consecutive(2), true);
    target_ = std::make_unique<windows::target>(
        *exchange_, *context_, memory_, windows::target::own_line{line_, windows::own_holder()},
        served_);
    target_->start();
    HEADWAY_ASSERT(peers_.use(rails::peer_id{1}));
  }

  void deliver(std::int32_t tag, std::span<const std::byte> message) {
    const messages::envelope head{.source = 1, .tag = tag};
    std::vector<std::byte> packet(sizeof head + message.size());
    std::memcpy(packet.data(), &head, sizeof head);
    std::ranges::copy(message, packet.begin() + sizeof head);
    ends_.send(1, packet);
    poll();
  }

  /// The origin is gone: what it has not finished ends.
  void end() {
    ends_.net.kill(1, 0);
    poll();
    HEADWAY_ASSERT(target_->has_lost());
    target_.reset();
    exchange_->close_context(context_);
  }

 private:
  void poll() {
    while (ends_.due()) engine_->poll();
  }

  simulation::bare_ends ends_;
  std::unique_ptr<progress::engine> engine_ =
      progress::engine::start(this_machine(), {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes_;
  packets::peers peers_{*engine_, rails::peer_id{0}, routes_, {.processes = 2}};
  std::unique_ptr<std::byte[]> window_ = std::make_unique<std::byte[]>(window_bytes);
  windows::exposed_memory memory_{window_.get(), window_bytes};
  windows::control_line line_;
  windows::statistics::row served_;
  std::unique_ptr<messages::exchange> exchange_;
  messages::context* context_ = nullptr;
  std::unique_ptr<windows::target> target_;
};

[[nodiscard]] windows::element_run some_run(bytes_of_input& input) {
  constexpr std::int64_t end = window_bytes;
  constexpr std::array<std::int64_t, 8> offsets{0,       end - 12, 64, end - 8,
                                                end - 1, end,      -1, INT64_MAX};
  constexpr std::array<std::int64_t, 8> counts{1, 1, 2, 0, 8, end, -1, std::int64_t{1} << 56};
  const auto which = input.byte();
  return {.offset = offsets[which % offsets.size()], .count = counts[which / 8 % counts.size()]};
}

/// A request whose payload has the length that it should have, or another one.
void append_request(bytes_of_input& input, std::vector<std::byte>& message) {
  windows::request_head head{
      .what = static_cast<action>(input.byte() % 14),
      .op = static_cast<collectives::operation>(input.byte() % 15),
      .kind = static_cast<datatypes::number>(input.byte() % (datatypes::number_count + 1)),
      .tag = answer_tag};
  const auto how = input.byte();
  if (how % 4 < 2 && head.what <= action::get) head.kind = datatypes::number::byte;
  head.lock = static_cast<windows::lock_type>(how / 16 % 2);
  std::vector<windows::element_run> runs;
  std::uint64_t elements = 0;
  for (int left = how / 4 % 4; left > 0; --left) {
    runs.push_back(some_run(input));
    elements += static_cast<std::uint64_t>(runs.back().count);
  }
  head.runs = static_cast<std::uint32_t>(runs.size());
  std::uint64_t payload = input.byte();
  if (how < 0xe0 && head.kind != datatypes::number::none &&
      static_cast<int>(head.kind) < datatypes::number_count) {
    payload = elements * static_cast<std::uint64_t>(datatypes::layout::of(head.kind).extent());
    if (head.what == action::compare_and_swap) payload *= 2;
  }
  constexpr std::uint64_t payload_bytes_max = 2048;
  const bool has_payload = head.what == action::put || head.what == action::accumulate ||
                           head.what == action::fetch || head.what == action::compare_and_swap;
  head.payload_bytes =
      has_payload ? static_cast<std::uint32_t>(std::min(payload, payload_bytes_max)) : 0;
  const auto add = [&](std::span<const std::byte> part) {
    message.insert(message.end(), part.begin(), part.end());
  };
  add(std::as_bytes(std::span(&head, 1)));
  add(std::as_bytes(std::span(runs)));
  message.resize(message.size() + windows::padded(head.payload_bytes),
                 static_cast<std::byte>(payload));
}

void act(bytes_of_input& input, victim& on) {
  std::vector<std::byte> message;
  const auto what = input.byte();
  switch (what % 8) {
    case 0:  // any bytes
      return on.deliver(messages::window_request_tag, input.some());
    case 1:  // those of a large put
      message.resize(input.byte() + std::size_t{what});
      return on.deliver(answer_tag, message);
    default:
      for (int i = what % 8; i > 1; --i) append_request(input, message);
      on.deliver(messages::window_request_tag, message);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int actions_max = 32;
  bytes_of_input input({data, size});
  victim attacked;
  for (int i = 0; input.any() && i < actions_max; ++i) act(input, attacked);
  attacked.end();
  return 0;
}
