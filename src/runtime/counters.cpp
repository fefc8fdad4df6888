#include "runtime/counters.hpp"

#include <memory>

#include "base/assert.hpp"
#include "packets/peers.hpp"
#include "watch/page.hpp"

namespace headway::runtime {
namespace {

struct sources {
  const progress::engine_statistics progress;
  const packets::statistics& packets;
};

std::uint64_t value_of(std::uint64_t number) noexcept { return number; }
std::uint64_t value_of(const packets::statistics::count& number) noexcept {
  return number.load(std::memory_order_relaxed);  // a count, carries nothing
}

using reader = std::uint64_t (*)(const sources& from);
template <auto Member>
std::uint64_t progress_count(const sources& from) {
  return value_of(from.progress.*Member);
}
template <auto Member>
std::uint64_t packets_count(const sources& from) {
  return value_of(from.packets.*Member);
}

using in_progress = progress::engine_statistics;
using in_packets = packets::statistics;

constexpr counter_entry entries[] = {
    {"progress.explicit_rounds",
     "visits of a queue with something in it, from calls of the program"},
    {"progress.background_rounds",
     "visits of a queue with something in it, from background threads"},
    {"progress.hits", "visits of a queue in which something advanced"},
    {"progress.runs", "runs of the bodies of ltasks"},
    {"progress.skips", "visits that found the mask of the queue taken"},
    {"progress.sleeps", "sleeps of waiting threads on their futex"},
    {"progress.kernel_sleeps", "sleeps of waiting threads on the descriptors of the rails"},
    {"progress.hand_overs",
     "waiting threads that stopped polling for the others because they woke one"},
    {"progress.event_looks", "timed wake-ups of the event thread"},
    {"progress.attended_looks", "looks of other pollers that found the queues attended"},
    {"progress.event_sleeps", "sleeps of the event thread on the descriptors of the rails"},
    {"progress.quiet_sleeps", "sleeps of background threads until something is pending"},
    {"progress.parked_sleeps", "sleeps of the event thread on descriptors that are not armed"},
    {"progress.armings", "times that a thread which started something armed them"},
    {"progress.lifts", "threads that lost the processor in a round and got a higher priority"},
    {"progress.spare_spells", "stretches of polling on a spare processor"},
    {"progress.spare_withdrawals",
     "ends of such a stretch because the processor was not spare any more"},
    {"progress.idle_rests", "rests of idle pollers on whose core a bound thread computes"},
    {"progress.demotions", "times that a real-time event thread had used up its time"},
    {"progress.delays", "looks at which a waiting thread had lost a fifth of its time"},
    {"packets.cut", "packets that left in parts, over several rails at once"},
    {"packets.replays", "frames sent again after the loss of a rail"},
    {"packets.duplicates", "frames that came again and were dropped"},
    {"packets.early", "frames that came before their turn"},
    {"packets.pieces", "pieces of large messages, asked for"},
    {"packets.pieces_again", "pieces asked for again on another rail"},
    {"packets.acknowledgements", "acknowledgements sent without data to ride on"},
    {"packets.questions", "heartbeats sent"},
    {"packets.rail_proofs", "rails on which a peer has answered for the first time"},
    {"packets.rail_losses", "losses of a rail to a peer"},
    {"packets.rail_returns", "returns of a lost rail"},
};

// In the order of `entries`.
constexpr reader readers[] = {
    progress_count<&in_progress::explicit_rounds>,
    progress_count<&in_progress::background_rounds>,
    progress_count<&in_progress::hits>,
    progress_count<&in_progress::runs>,
    progress_count<&in_progress::skips>,
    progress_count<&in_progress::sleeps>,
    progress_count<&in_progress::kernel_sleeps>,
    progress_count<&in_progress::hand_overs>,
    progress_count<&in_progress::event_looks>,
    progress_count<&in_progress::attended_looks>,
    progress_count<&in_progress::event_sleeps>,
    progress_count<&in_progress::quiet_sleeps>,
    progress_count<&in_progress::parked_sleeps>,
    progress_count<&in_progress::armings>,
    progress_count<&in_progress::lifts>,
    progress_count<&in_progress::spare_spells>,
    progress_count<&in_progress::spare_withdrawals>,
    progress_count<&in_progress::idle_rests>,
    progress_count<&in_progress::demotions>,
    progress_count<&in_progress::delays>,
    packets_count<&in_packets::cut>,
    packets_count<&in_packets::replays>,
    packets_count<&in_packets::duplicates>,
    packets_count<&in_packets::early>,
    packets_count<&in_packets::pieces>,
    packets_count<&in_packets::pieces_again>,
    packets_count<&in_packets::acknowledgements>,
    packets_count<&in_packets::questions>,
    packets_count<&in_packets::rail_proofs>,
    packets_count<&in_packets::rail_losses>,
    packets_count<&in_packets::rail_returns>,
};
static_assert(std::size(entries) == std::size(readers));

}  // namespace

std::span<const counter_entry> counter_list() noexcept { return entries; }

std::uint64_t read_counter(const instance& of, std::size_t index) {
  HEADWAY_ASSERT(index < std::size(readers));
  return readers[index]({.progress = of.progress().statistics(), .packets = of.peers().counts()});
}

std::vector<named_count> object_counters(const instance& of) {
  const auto image = std::make_unique<watch::page_image>();
  of.gather(*image);
  std::vector<named_count> found;
  for (std::size_t i = 0; i < image->row_count; ++i) {
    const auto& row = image->rows[i];
    const std::string_view kind = row.kind.data();
    if (kind == "thread" || kind == "job") continue;  // the row of the job only names it
    for (std::size_t j = 0; j < row.cell_count; ++j)
      found.push_back(
          {.name = std::string(kind) + "." + row.name.data() + "." + row.cells[j].name.data(),
           .value = row.cells[j].value});
  }
  return found;
}

}  // namespace headway::runtime
