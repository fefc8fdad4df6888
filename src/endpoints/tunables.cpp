// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "endpoints/settings.hpp"

namespace headway::endpoints {
namespace {

base::number_tunable memory_bytes{
    "HEADWAY_ENDPOINT_MEMORY",
    "bytes",
    std::int64_t{4} << 30,
    16 << 20,
    std::int64_t{1} << 40,
    "most memory for the buffers of end-points in a process, and as much again for messages that "
    "arrive when it is used up; taken when it is touched"};

base::choice_tunable sharing{
    "HEADWAY_ENDPOINT_SHARE",
    {"auto", "off"},
    "auto",
    "auto hands buffers to processes of the same machine in place, where shm is among the rails"};

base::choice_tunable checks{
    "HEADWAY_ENDPOINT_CHECKS",
    {"off", "on"},
    "off",
    "on notices writes to buffers in flight and after their release; reads every byte twice"};

base::number_tunable inline_bytes{
    "HEADWAY_ENDPOINT_INLINE",
    "bytes",
    1024,
    0,
    1 << 20,
    "messages up to here are copied through the rail even where the buffer could be handed over, "
    "for which a reference has to come back"};

base::number_tunable pack_bytes{
    "HEADWAY_ENDPOINT_PACK",
    "bytes",
    2048,
    0,
    4096,
    "messages up to here that follow each other within 2 us leave in one packet where a packet is "
    "a system call; 0: each alone"};

base::number_tunable ahead_bytes{
    "HEADWAY_ENDPOINT_AHEAD",
    "bytes",
    4 << 20,
    0,
    1 << 30,
    "a process that received a message larger than a packet from another machine opens memory for "
    "the next one like it, up to this size, so that its sender need not ask; 0: never"};

base::number_tunable window{
    "HEADWAY_ENDPOINT_WINDOW",
    "messages",
    256,
    8,
    16384,
    "how far a process may be ahead of an end-point of another; a message counts once more for "
    "each 64 KiB, and for each 4 KiB, up to an eighth of the window, where its buffer is handed "
    "over in place"};

base::number_tunable queue_max{
    "HEADWAY_ENDPOINT_QUEUE",
    "messages",
    1024,
    2,
    65536,
    "how many messages from threads of its own process may wait at an end-point; a message counts "
    "once more for each 64 KiB"};

base::choice_tunable dispatch{
    "HEADWAY_DISPATCH",
    {"auto", "pause", "yield", "loop", "event"},
    "auto",
    "what looks for messages to end-points while no thread waits for one: a background thread that "
    "pauses 20 us, yields, or does nothing else; or the kernel's events alone"};

}  // namespace

settings settings::from_environment() {
  return {.memory_bytes = static_cast<std::size_t>(endpoints::memory_bytes.get()),
          .share = sharing.index() == 0,
          .checks = endpoints::checks.index() == 1,
          .inline_bytes = static_cast<std::size_t>(endpoints::inline_bytes.get()),
          .pack_bytes = static_cast<std::size_t>(endpoints::pack_bytes.get()),
          .ahead_bytes = static_cast<std::size_t>(endpoints::ahead_bytes.get()),
          .window = static_cast<std::uint32_t>(endpoints::window.get()),
          .queue = static_cast<std::uint32_t>(queue_max.get()),
          .dispatch = static_cast<policy>(endpoints::dispatch.index())};
}

}  // namespace headway::endpoints
