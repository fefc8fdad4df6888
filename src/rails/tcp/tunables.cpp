// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "rails/tcp/settings.hpp"

namespace headway::rails::tcp {
namespace {

using base::number_tunable;

constexpr std::int64_t mega = 1 << 20;
constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr settings fallback;

constexpr std::int64_t in_ms(std::uint64_t ns) { return static_cast<std::int64_t>(ns / ns_per_ms); }

number_tunable refused_ms{
    "HEADWAY_TCP_REFUSED_MS",
    "ms",
    in_ms(fallback.refused_ns),
    0,
    3'600'000,
    "how long a peer that refuses connections is tried: every process listens before its address "
    "is known, so a refusal means that it is gone, unless a firewall refuses for it"};
number_tunable connect_ms{"HEADWAY_TCP_CONNECT_MS",
                          "ms",
                          in_ms(fallback.connect_ns),
                          1,
                          3'600'000,
                          "how long a peer that cannot be reached is tried before it is lost"};
number_tunable dead_ms{"HEADWAY_TCP_DEAD_MS",
                       "ms",
                       in_ms(fallback.dead_ns),
                       0,
                       3'600'000,
                       "how long a peer's machine may leave unanswered what was sent before it "
                       "counts as dead: a cable that is put back in time costs nothing but the "
                       "wait; 0: for ever"};
number_tunable segment{"HEADWAY_TCP_SEGMENT",
                       "bytes",
                       fallback.segment_bytes,
                       4096,
                       16 * mega,
                       "large payloads are framed in parts of this size, so that small packets "
                       "pass between them"};
number_tunable low_water{"HEADWAY_TCP_LOW_WATER",
                         "bytes",
                         fallback.low_water_bytes,
                         1,
                         16 * mega,
                         "while a large payload comes in, a sleeper is woken for each quarter of "
                         "what is missing, so many bytes at most (SO_RCVLOWAT), instead of for "
                         "each segment of the network"};
number_tunable send_buffer{"HEADWAY_TCP_SNDBUF",
                           "bytes",
                           0,
                           0,
                           1024 * mega,
                           "SO_SNDBUF of a connection; 0: the kernel sizes it"};
number_tunable receive_buffer{"HEADWAY_TCP_RCVBUF",
                              "bytes",
                              0,
                              0,
                              1024 * mega,
                              "SO_RCVBUF of a connection; 0: the kernel sizes it"};
number_tunable unsent{"HEADWAY_TCP_UNSENT",
                      "bytes",
                      0,
                      0,
                      1024 * mega,
                      "TCP_NOTSENT_LOWAT of a connection; 0: the kernel's"};
base::choice_tunable pacing_choice{
    "HEADWAY_TCP_PACING",
    {"auto", "kernel"},
    "auto",
    "auto: where the kernel's default congestion control paces what it sends (BBR), connections "
    "with a round trip of at most 1 ms use one that does not (Reno); kernel: all use the default"};
base::choice_tunable encryption_choice{
    "HEADWAY_TCP_ENCRYPTION",
    {"off", "on"},
    "off",
    "whether what follows the handshake of a connection is encrypted, so that the network between "
    "the machines can neither read nor change it. The same in all processes"};

base::choice_tunable resume_choice{
    "HEADWAY_TCP_RESUME",
    {"off", "on"},
    "on",
    "whether the only connection to a peer is made again when it is cut, and goes on where it was; "
    "off: operations with that peer end with an error. The same in all processes"};

std::uint64_t as_ns(const number_tunable& ms) {
  return static_cast<std::uint64_t>(ms.get()) * ns_per_ms;
}

}  // namespace

settings settings::from_environment() {
  return {.refused_ns = as_ns(refused_ms),
          .connect_ns = as_ns(connect_ms),
          .dead_ns = as_ns(dead_ms),
          .segment_bytes = static_cast<std::uint32_t>(segment.get()),
          .low_water_bytes = static_cast<int>(low_water.get()),
          .send_buffer_bytes = static_cast<int>(send_buffer.get()),
          .receive_buffer_bytes = static_cast<int>(receive_buffer.get()),
          .unsent_bytes_max = static_cast<int>(unsent.get()),
          .unpaced = pacing_choice.index() == 0,
          .encryption = encryption_choice.index() == 1,
          .resume = resume_choice.index() == 1};
}

}  // namespace headway::rails::tcp
