// Any bytes in a peer's slot of a segment: ring, piece lines, transfer lines. The driver may report
// the peer lost; it may not crash, hang or write outside of exposed memory.
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "rails/shm/host.hpp"
#include "rails/shm/segment.hpp"
#include "rails/shm/shm_driver.hpp"
#include "tests/job_table.hpp"

namespace {

using namespace headway;
using namespace headway::rails;

shm::config config_of(std::uint32_t rank) {
  static auto& known = headway::testing::table_of("fuzz", 2);
  return {.known = &known,
          .me = peer_id{rank},
          .job_name = "fuzz-" + std::to_string(getpid()),
          .size = 2};
}

/// Copies the next part of the input to `to`, as long as there is some.
void pour(std::span<const std::byte>& input, std::span<std::byte> to) {
  const std::size_t bytes = std::min(input.size(), to.size());
  std::memcpy(to.data(), input.data(), bytes);
  input = input.subspan(bytes);
}

void reap_all(shm::shm_driver& d) {
  std::array<event, 4> events;
  unsigned sum = 0;
  for (int round = 0; round < 50; ++round) {
    const std::size_t count = d.reap(events);
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].kind != event_kind::received && events[i].kind != event_kind::continued)
        continue;
      for (const std::byte b : events[i].bytes) sum += static_cast<unsigned>(b);
      d.release(events[i]);
    }
    if (round % 8 == 7) {
      static_cast<void>(d.arm(true));
      static_cast<void>(d.arm(false));
    }
  }
  HEADWAY_ASSERT(sum != 1u << 31);  // only so that the bytes are read
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Each broken peer causes a line in the log, and here all are broken: only the sanitizer's
  // reports (and its stack of an abort) are let through.
  const int report = dup(STDERR_FILENO);
  __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(report)));
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = std::as_bytes(std::span(data, size));
  shm::shm_driver victim(config_of(0)), friendly(config_of(1));
  const auto to_victim = victim.open(), to_friend = friendly.open();
  HEADWAY_ASSERT(to_victim && to_friend);
  // The slot of rank 1 is claimed by the fuzzer; the driver that rank 1 reads from is a real one.
  auto mad = shm::attachment::attach(shm::address::parse(*to_victim).value(),
                                     config_of(0).known->at(peer_id{1}));
  HEADWAY_ASSERT(mad && victim.connect(peer_id{1}, *to_friend));
  std::vector<std::byte> guarded(40'000, std::byte{0x5a});
  const auto zone = std::span(guarded).subspan(4096, 30'000);
  const auto shown = victim.memory()->expose({.bytes = zone});
  HEADWAY_ASSERT(shown);

  const shm::slot_view& slot = (*mad)->slot();
  std::array<std::byte, 4> choice{};
  pour(input, choice);
  if (choice[0] != std::byte{0})
    pour(input, std::as_writable_bytes(std::span(slot.control->pieces)).first(256));
  if (choice[1] != std::byte{0})
    pour(input, std::as_writable_bytes(std::span(slot.control->transfers)).first(256));
  pour(input, {slot.ring, (*mad)->shape().ring_bytes});
  (*mad)->head().active[0].fetch_or(1u | static_cast<unsigned>(choice[2]));
  reap_all(victim);

  const auto untouched = [](std::byte b) { return b == std::byte{0x5a}; };
  HEADWAY_ASSERT(std::all_of(guarded.begin(), guarded.begin() + 4096, untouched));
  HEADWAY_ASSERT(std::all_of(guarded.begin() + 34'096, guarded.end(), untouched));
  victim.memory()->withdraw(*shown);
  return 0;
}
