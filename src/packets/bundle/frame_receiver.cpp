#include "packets/bundle/frame_receiver.hpp"

#include <cstring>
#include <new>

#include "packets/bundle/bundle_set.hpp"
#include "packets/bundle/frame_sender.hpp"
#include "packets/bundle/lane.hpp"

namespace headway::packets {
namespace {

constexpr std::uint32_t frames_owed_max = 64;

}  // namespace

void frame_receiver::arrived(const frame_head& head, std::span<const std::byte> contents) noexcept {
  using enum reorder_window::answer;
  of_.host.mark_active();
  switch (window_.arrived(head.sequence, head.packets, contents)) {
    case early:
      return statistics::add(of_.set.counts.early);
    case duplicate:
      // The peer has sent it again, so our acknowledgement was lost or is late.
      statistics::add(of_.set.counts.duplicates);
      sender_.acknowledge(true);
      return of_.host.pump();
    case nonsense:
      return of_.host.broken("a frame that is not due for long");
    case no_memory:
      return of_.host.broken("a frame for which there is no memory");
    case now:
      break;
  }
  take_frame(contents, head.packets);
  window_.taken();
  while (const auto* kept = window_.next()) {
    take_frame(kept->bytes, kept->packets);
    window_.taken();
  }
  sender_.received(window_.due());
  owed_bytes_ += contents.size();
  const auto owed = window_.due() - sender_.told();
  if (owed == 0) owed_bytes_ = 0;
  if (owed < frames_owed_max && owed_bytes_ < ring_bytes_ / 4) return;
  acknowledge_now();
  of_.host.pump();
}

void frame_receiver::acknowledge_now() noexcept {
  owed_bytes_ = 0;
  sender_.acknowledge();
}

bool frame_receiver::owes() const noexcept { return window_.due() != sender_.told(); }

void frame_receiver::take_frame(std::span<const std::byte> contents, std::size_t packets) noexcept {
  if (packets == 0 || !parts_.empty()) [[unlikely]]
    return take_part(contents, packets);
  take_packets(contents, packets);
}

/// Appends a part of a frame; the last part completes it.
void frame_receiver::take_part(std::span<const std::byte> contents, std::size_t packets) noexcept {
  const auto most = sender_.frame_bytes_max();
  if (contents.size() > most || parts_.size() > most - contents.size())
    return of_.host.broken("a packet in parts that is too long");
  try {
    parts_.insert(parts_.end(), contents.begin(), contents.end());
  } catch (const std::bad_alloc&) {
    return of_.host.broken("a packet in parts for which there is no memory");
  }
  if (packets == 0) return;
  take_packets(parts_, packets);
  parts_.clear();
}

void frame_receiver::take_packets(std::span<const std::byte> contents,
                                  std::size_t packets) noexcept {
  const bool sound = each_packet(
      contents, packets, [&](std::span<const std::byte> packet) { of_.host.deliver(packet); });
  if (!sound) of_.host.broken("a frame whose packets make no sense");
}

}  // namespace headway::packets
