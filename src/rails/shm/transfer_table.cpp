#include "rails/shm/transfer_table.hpp"

#include "base/clock.hpp"
#include "base/thread_role.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {

transfer_notice transfer_table::begin(const remote_place& to, std::span<const std::byte> from,
                                      std::uint64_t cookie, bool crosses) noexcept {
  using way = way_choice::way;
  const std::uint32_t number = posted_.load(std::memory_order_relaxed);  // as in `full`
  // Behind others, and while such payloads come from the peer, it goes through buffers: both ends
  // are busy, and copy at the same time. There is no choice then, and no timing. New buffers are
  // used once without timing: their memory is in no cache, so that a time would be too long.
  const bool large = from.size() >= placed_bytes_min;
  const bool chooses =
      large && !crosses && buffers_were_used() && number == done_.load(std::memory_order_relaxed);
  const bool can_place = large && writable_pid() != 0;
  const bool places =
      can_place && (!push_ || (chooses && choice_.choose(from.size()) == way::placing));
  // The peer reads this line only between the notice, which publishes it, and the end of the
  // transfer.
  transfer_line& shared = line(number);
  shared.target.store(0, std::memory_order_relaxed);
  shared.pulled.store(0, std::memory_order_relaxed);
  shared.returned.store(0, std::memory_order_relaxed);
  shared.alone.store(0, std::memory_order_relaxed);
  shared.claim.store(std::uint64_t{number} << 32, std::memory_order_relaxed);  // from piece 0 on
  entry(number) = {.payload = from,
                   .cookie = cookie,
                   .begun_ns = chooses ? base::machine_now_ns() : 0,
                   .chosen = places ? way::placing : way::buffers,
                   .can_place = can_place};
  return {.number = number,
          .lends = places      ? lending::always
                   : can_place ? lending::if_left
                               : lending::none,
          .attends = base::thread_waits(),
          .id = to.exposed.id,
          .offset = to.offset,
          .bytes = from.size(),
          .address = reinterpret_cast<std::uint64_t>(from.data())};
}

/// Each of them, at least once.
bool transfer_table::buffers_were_used() const noexcept {
  const geometry& shape = way_->shape();
  return buffered_bytes_.load(std::memory_order_relaxed) >=
         std::uint64_t{shape.piece_bytes} * shape.piece_count;
}

bool transfer_table::is_whole(std::uint32_t number) const noexcept {
  const posting& p = entry(number);
  return p.pushed + pulled_bytes(line(number).pulled) >= p.payload.size();
}

bool transfer_table::take_returned(std::uint32_t number) noexcept {
  auto& returned = line(number).returned;
  if (returned.load(std::memory_order_relaxed) == 0) return false;
  const std::uint64_t what = returned.exchange(0, std::memory_order_acquire);
  posting& p = entry(number);
  p.returned_first = static_cast<std::uint32_t>(what) - 1;
  p.returned_count = static_cast<std::uint32_t>(what >> 32);
  return p.returned_count != 0;
}

bool transfer_table::leaves_copying() const noexcept {
  return is_pulled() && base::runs_in_background();
}

bool transfer_table::copies_alone(std::uint32_t number) const noexcept {
  return target_of(number) != 0 &&
         line(number).alone.load(std::memory_order_relaxed) != 0;  // after (G)
}

bool transfer_table::may_place(std::uint32_t number) const noexcept {
  return entry(number).can_place && writable_pid() != 0;
}

std::uint64_t transfer_table::target_of(std::uint32_t number) const noexcept {
  if (!may_place(number)) return 0;
  const auto lent = line(number).target.load(std::memory_order_acquire);  // (G)
  return shm::target_of(lent, lap_of(number));
}

void transfer_table::stop_placing(std::uint32_t number) noexcept {
  writable_pid_.store(0, std::memory_order_relaxed);
  line(number).alone.store(0, std::memory_order_relaxed);
}

std::size_t transfer_table::report(peer_id peer, bool down, std::span<event> out) noexcept {
  std::size_t count = 0;
  std::uint32_t number = oldest();
  for (const std::uint32_t all = end(); number != all && count < out.size(); ++number, ++count) {
    const bool whole = is_whole(number);
    if (!whole && !down) break;
    const posting& p = entry(number);
    if (whole && p.begun_ns != 0 && !copies_alone(number))
      choice_.learn(p.payload.size(), p.chosen, base::machine_now_ns() - p.begun_ns);
    if (p.chosen == way_choice::way::buffers)
      buffered_bytes_.store(buffered_bytes_.load(std::memory_order_relaxed) + p.pushed,
                            std::memory_order_relaxed);
    out[count] = {
        .kind = whole ? event_kind::sent : event_kind::failed, .peer = peer, .cookie = p.cookie};
  }
  if (count > 0) done_.store(number, std::memory_order_release);  // (D)
  return count;
}

}  // namespace headway::rails::shm
