#include "rails/tcp/link_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/thread_role.hpp"

namespace headway::rails::tcp {
namespace {

// Below this size a wake-up for each arrival is cheap enough.
constexpr std::size_t low_water_bytes_min = 64 * 1024;

// How long to wait for more of a large payload: about the cost of a wake-up, in which a sender on
// the same machine copies some hundred kilobytes (docs/experiments/E16.md).
constexpr std::uint64_t next_read_ns = 30'000;
constexpr int relaxes_between_reads = 16;
constexpr unsigned in_vain_max = 6;  // afterwards one time in 63

}  // namespace

void link_reader::read(std::uint32_t peer, event_sink& out) noexcept {
  auto& l = links_->at(peer);
  if (!l.in || !l.fd || !l.known.load(std::memory_order_acquire)) return;  // (K)
  const auto before = out.count();
  const auto received = l.in->received();
  const auto state = l.in->read(l.fd.get(), out, budget_bytes);
  if (l.in->received() != received) l.told.note(l.in->peer_received());
  if (out.count() != before) {
    touch(peer);
    more_follows_ = l.in->awaited_bytes() != 0;
  }
  if (!l.in->asked().empty() || l.in->owes_receipt()) told_->asked(peer);
  switch (state) {
    case input::state::waiting:
      break;
    case input::state::more:
      if (!l.ready) ready_.push_back(peer);
      l.ready = true;
      break;
    case input::state::ended:
    case input::state::broken:
    case input::state::unverified:
      return told_->ended(peer, state);
  }
  lower_low_water(l);
}

void link_reader::read_ready(event_sink& out) noexcept {
  ready_now_.swap(ready_);
  for (const auto peer : ready_now_) {
    links_->at(peer).ready = false;
    read(peer, out);  // may put the link on the list again
  }
  ready_now_.clear();
}

void link_reader::read_recent(event_sink& out) noexcept {
  const auto recent = recent_;  // reading moves and removes entries
  const auto count = recent_count_;
  for (std::size_t i = 0; i < count && !out.full(); ++i)
    if (!links_->at(recent[i]).ready) read(recent[i], out);
}

void link_reader::nothing_came(event_sink& out) noexcept {
  if (std::exchange(more_follows_, false)) linger(out);
  if (out.count() == 0) raise_low_water();
}

/// If the reader sleeps between the parts of a payload while a sender on the same machine copies
/// them, each wake-up is late, and the two copies do not overlap. So it waits a moment; if parts
/// come slowly it stops doing so, and tries again from time to time. Not while the process
/// computes: the wait would take a processor from it.
void link_reader::linger(event_sink& out) noexcept {
  if (base::runs_in_background()) return;
  if (lingers_left_out_ > 0) {
    --lingers_left_out_;
    return;
  }
  const auto peer = recent_[0];
  const auto until_ns = base::machine_now_ns() + next_read_ns;
  do {
    for (int i = 0; i < relaxes_between_reads; ++i) base::relax();
    read(peer, out);
  } while (out.count() == 0 && recent_count_ > 0 && recent_[0] == peer &&
           base::machine_now_ns() < until_ns);
  lingered_in_vain_ = out.count() > 0 ? 0 : std::min(lingered_in_vain_ + 1, in_vain_max);
  lingers_left_out_ = (1u << lingered_in_vain_) - 1;
}

/// While megabytes come in, one wake-up serves many bytes, early enough to copy most of the last
/// ones while the sender still copies. The low-water mark never exceeds what is known to follow: it
/// is lowered before it could delay the last bytes. It is raised only where nothing came, before a
/// sleep, because a running reader needs no mark, and each change is a system call.
void link_reader::raise_low_water() noexcept {
  for (std::size_t i = 0; i < recent_count_; ++i) {
    auto& l = links_->at(recent_[i]);
    const auto awaited = l.in->awaited_bytes();
    if (awaited < low_water_bytes_min) continue;
    const auto wanted =
        static_cast<int>(std::min<std::size_t>(std::max(awaited / 4, low_water_bytes_min),
                                               static_cast<std::size_t>(low_water_bytes_max_)));
    if (wanted == l.low_water) continue;
    l.low_water = wanted;
    set_low_water(l.fd.get(), wanted);
  }
}

void link_reader::lower_low_water(link& l) noexcept {
  if (static_cast<std::size_t>(l.low_water) <= std::max<std::size_t>(l.in->awaited_bytes(), 1))
    return;
  l.low_water = 1;
  set_low_water(l.fd.get(), 1);
}

void link_reader::touch(std::uint32_t peer) noexcept {
  if (recent_count_ > 0 && recent_[0] == peer) return;
  const auto end = recent_.begin() + static_cast<std::ptrdiff_t>(recent_count_);
  auto at = std::find(recent_.begin(), end, peer);
  if (at == end) {
    if (recent_count_ < recent_max) ++recent_count_;
    at = recent_.begin() + static_cast<std::ptrdiff_t>(recent_count_) - 1;
  }
  std::move_backward(recent_.begin(), at, at + 1);
  recent_[0] = peer;
}

void link_reader::forget(std::uint32_t peer) noexcept {
  const auto end = recent_.begin() + static_cast<std::ptrdiff_t>(recent_count_);
  recent_count_ =
      static_cast<std::size_t>(std::remove(recent_.begin(), end, peer) - recent_.begin());
}

}  // namespace headway::rails::tcp
