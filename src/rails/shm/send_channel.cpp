#include "rails/shm/send_channel.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/assert.hpp"
#include "base/bytes_of.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/thread_role.hpp"
#include "rails/shm/header_copy.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {
namespace {

constexpr std::uint64_t claim_word(std::uint32_t transfer, std::uint32_t piece) noexcept {
  return std::uint64_t{transfer} << 32 | piece;
}

/// The bell of a peer without a segment.
constinit std::atomic<std::uint32_t> closed_bell{doorbell::closed};

using base::bytes_of;

}  // namespace

send_channel::send_channel(context made) noexcept
    : ring_(made.way ? ring_memory(made.way->slot(), made.way->shape().ring_bytes) : ring_memory()),
      bell_(made.way ? made.way->head().bell : closed_bell),
      hurry_bell_(made.way ? made.way->head().hurry_bell : closed_bell),
      peer_(made.peer),
      state_(made.way ? state::fresh : state::down),
      fence_always_(made.fence_always),
      push_(made.push),
      way_(std::move(made.way)),
      readable_pid_(made.readable_pid),
      calls_(way_ ? way_->slot().control : nullptr),
      gets_(way_ ? way_->slot() : slot_view{}, way_ ? way_->shape().piece_bytes : 0),
      writable_pid_(made.readable_pid),
      posted_count_(made.posted_count),
      news_(made.news) {}

// --- records

/// False: the peer is down.
[[gnu::always_inline]] inline bool send_channel::usable() noexcept {
  if (state_.load(std::memory_order_relaxed) == state::up && !bell_.is_closed()) [[likely]]
    return true;
  return begin();
}

post send_channel::send(const packet& what) noexcept {
  if (!usable()) [[unlikely]]
    return post::down;
  if (what.in_parts && what.payload.size() >= parts_bytes_min) return send_in_parts(what);
  return write_record(record_kind::packet, what.header, what.payload, what.can_wait);
}

/// The peer copies each part out while the next one is copied in. All have about the same size.
post send_channel::send_in_parts(const packet& what) noexcept {
  const auto count =
      std::max<std::size_t>(2, (what.payload.size() + part_bytes_max - 1) / part_bytes_max);
  const auto part_bytes =
      (what.payload.size() + count * line_bytes - 1) / (count * line_bytes) * line_bytes;
  const auto last = what.payload.size() % part_bytes;
  const std::uint64_t most = cells_of(gap_max + what.header.size() + part_bytes);
  const std::uint64_t all =
      most + (what.payload.size() / part_bytes - 1) * cells_of(gap_max + part_bytes) +
      cells_of(gap_max + last);
  // The first may have to begin on the next line, and any of them skip the ring's end.
  if (!reserve(all + cells_per_line + most)) [[unlikely]]
    return post::retry;
  HEADWAY_DEBUG_ASSERT(what.payload.size() < 1 << 24);
  auto kind = record_kind::packet;
  auto header = what.header;
  for (auto left = what.payload; !left.empty();) {
    const auto part = left.first(std::min(part_bytes, left.size()));
    left = left.subspan(part.size());
    const auto gap = gap_before(part, header.size());
    const auto cells = cells_of(gap + header.size() + part.size());
    [[maybe_unused]] const bool fits = reserve(cells);
    HEADWAY_DEBUG_ASSERT(fits);
    publish({.kind = kind, .following = left.size(), .gap = gap}, cells, header, part,
            what.can_wait);
    kind = record_kind::more;
    header = {};
  }
  return post::done;
}

bool send_channel::begin() noexcept {
  if (state_.load(std::memory_order_relaxed) == state::down || bell_.is_closed()) return false;
  // From now on the peer polls this slot. The release publishes this process's name.
  const std::uint32_t index = way_->slot_index();
  way_->head().active[index / 64].fetch_or(std::uint64_t{1} << (index % 64),
                                           std::memory_order_release);
  state_.store(state::up, std::memory_order_relaxed);  // read only by `send` and `put`
  return true;
}

[[gnu::always_inline]] inline bool send_channel::reserve(std::uint64_t cells) noexcept {
  if (!ring_.reserve(cells)) [[unlikely]]
    return reserve_late(cells);
  if (starved_at_.load(std::memory_order_relaxed) != not_starved) [[unlikely]]
    starved_at_.store(not_starved, std::memory_order_relaxed);
  return true;
}

/// The ring was full a moment ago.
bool send_channel::reserve_late(std::uint64_t cells) noexcept {
  // Dekker with `receive_channel::release`: that stores consumed, fences, loads wants_room.
  ring_.memory().wants_room().store(1, std::memory_order_relaxed);
  base::store_load_fence();
  if (ring_.reserve(cells)) return true;
  starved_at_.store(ring_.consumed_seen(), std::memory_order_relaxed);
  hurry();  // what could wait takes the room of what cannot
  return false;
}

inline post send_channel::write_record(record_kind kind, std::span<const std::byte> first,
                                       std::span<const std::byte> second, bool can_wait) noexcept {
  const auto gap = gap_before(second, first.size());
  const auto cells = cells_of(gap + first.size() + second.size());
  if (!reserve(cells)) [[unlikely]]
    return post::retry;
  publish({.kind = kind, .gap = gap}, cells, first, second, can_wait);
  return post::done;
}

/// Room for it is reserved. `head`: without the number of bytes.
[[gnu::always_inline]] inline void send_channel::publish(record_head head, std::uint64_t cells,
                                                         std::span<const std::byte> first,
                                                         std::span<const std::byte> second,
                                                         bool can_wait) noexcept {
  head.bytes = first.size() + second.size();
  // A stream ends with a fence, which would wait for this store, too.
  const bool streams = copy_to_ring_.streams();
  if (!streams) ring_.begin(cells);
  std::byte* const at = ring_.memory().cell(ring_.position()) + sizeof(std::uint64_t) + head.gap;
  copy_to_ring_.copy(at + first.size(), second.data(), second.size());
  if (streams) ring_.begin(cells);
  copy_header(at, first);
  ring_.publish(cells, record_word(head),
                record_word({.kind = record_kind::skip, .bytes = ring_.skipped()}));
  can_wait ? notify_of_waiting() : hurry();
}

// --- what is written into exposures

post send_channel::put(const remote_place& to, std::span<const std::byte> from,
                       std::uint64_t cookie) noexcept {
  if (!usable()) return post::down;
  if (from.size() > way_->shape().small_put_bytes()) return start_transfer(to, from, cookie);
  const put_prefix prefix{.id = to.exposed.id, .offset = to.offset};
  return write_record(record_kind::put, bytes_of(prefix), from);
}

post send_channel::start_transfer(const remote_place& to, std::span<const std::byte> from,
                                  std::uint64_t cookie) noexcept {
  const std::uint32_t number = posted_.load(std::memory_order_relaxed);  // only `send` writes it
  if (number - done_.load(std::memory_order_acquire) == transfers_max) return post::retry;  // (D)
  if (!pieces_reserved_ && !(pieces_reserved_ = way_->reserve_pieces())) {
    mark_lost();
    return post::down;
  }
  using way = way_choice::way;
  // Behind others it goes through buffers: both ends are busy, and copy at the same time. There is
  // no choice then, and no timing.
  const bool large = from.size() >= placed_bytes_min;
  const bool chooses = large && number == done_.load(std::memory_order_relaxed);
  const bool can_place = large && writable_pid_.load(std::memory_order_relaxed) != 0;
  const bool places =
      can_place && (!push_ || (chooses && choice_.choose(from.size()) == way::placing));
  const transfer_notice notice{.number = number,
                               .lends = places      ? lending::always
                                        : can_place ? lending::if_left
                                                    : lending::none,
                               .attends = base::thread_waits(),
                               .id = to.exposed.id,
                               .offset = to.offset,
                               .bytes = from.size(),
                               .address = reinterpret_cast<std::uint64_t>(from.data())};
  // The peer reads this line only between the notice and the end of the transfer.
  transfer_line& shared = way_->slot().control->transfers[number % transfers_max];
  shared.target.store(0, std::memory_order_relaxed);
  shared.pulled.store(0, std::memory_order_relaxed);
  shared.returned.store(0, std::memory_order_relaxed);
  shared.alone.store(0, std::memory_order_relaxed);
  // published with the notice
  shared.claim.store(claim_word(number, 0), std::memory_order_relaxed);
  postings_[number % transfers_max] = {.payload = from,
                                       .cookie = cookie,
                                       .begun_ns = chooses ? base::machine_now_ns() : 0,
                                       .chosen = places ? way::placing : way::buffers,
                                       .can_place = can_place};
  if (const post said = write_record(record_kind::transfer, bytes_of(notice), {});
      said != post::done)
    return said;
  posted_count_->fetch_add(1, std::memory_order_relaxed);  // `reap` looks, and (T) carries
  posted_.store(number + 1, std::memory_order_release);    // (T)
  if (pushing_.try_lock()) {
    push();
    pushing_.unlock();
  }
  return post::posted;
}

post send_channel::atomic(const remote_place& at, const atomic_request& what, std::uint64_t* before,
                          std::uint64_t cookie) noexcept {
  if (!usable()) return post::down;
  if (calls_.full() || !reserve(cells_of(sizeof(atomic_call)))) return post::retry;
  const atomic_call call{.id = at.exposed.id,
                         .offset = at.offset,
                         .operand = what.operand,
                         .expected = what.expected,
                         .number = calls_.begin(before, cookie),
                         .what = static_cast<std::uint32_t>(what.what)};
  posted_count_->fetch_add(1, std::memory_order_relaxed);  // `reap` looks
  calls_.began();  // before the answer can wake a thread, which must see the call
  static_cast<void>(write_record(record_kind::atomic, bytes_of(call), {}));  // there is room
  return post::posted;
}

post send_channel::get(const remote_place& from, std::span<std::byte> to,
                       std::uint64_t cookie) noexcept {
  if (!usable()) return post::down;
  if (to.empty()) return post::done;
  if (!replies_reserved_ && !(replies_reserved_ = way_->reserve_replies())) {
    base::log(base::severity::warning, "shm: no memory to get bytes from peer {}",
              static_cast<std::uint32_t>(peer_));
    return post::down;
  }
  if (gets_.full() || !reserve(cells_of(sizeof(get_call)))) return post::retry;
  const get_call call{.id = from.exposed.id, .offset = from.offset, .bytes = to.size()};
  posted_count_->fetch_add(1, std::memory_order_relaxed);  // `reap` looks
  gets_.begin(to, cookie);
  static_cast<void>(write_record(record_kind::get, bytes_of(call), {}));  // there is room
  return post::posted;
}

bool send_channel::buffer_free() const noexcept {
  const geometry& shape = way_->shape();
  const piece_line& line = way_->slot().control->pieces[buffer_ticket_ % shape.piece_count];
  return piece_is_free(line.turn, buffer_ticket_ / shape.piece_count);
}

bool send_channel::next_piece(std::uint32_t& number, std::uint32_t& piece) noexcept {
  const std::uint32_t posted = posted_.load(std::memory_order_acquire);  // (T)
  for (number = done_.load(std::memory_order_relaxed); number != begun(posted); ++number) {
    posting& p = postings_[number % transfers_max];
    if (p.returned_count == 0 && !take_returned(number)) continue;
    piece = p.returned_first++;
    --p.returned_count;
    return true;
  }
  if (leaves_copying()) return false;
  for (; next_push_ != posted; ++next_push_) {
    number = next_push_;
    const std::size_t bytes = postings_[number % transfers_max].payload.size();
    auto& claim = way_->slot().control->transfers[number % transfers_max].claim;
    const std::uint64_t pieces =
        (bytes + way_->shape().piece_bytes - 1) / way_->shape().piece_bytes;
    if (has_buffers()) {
      if (claim_pieces(claim, number, pieces, 1, piece) != 0) return true;
    } else if (may_place(number)) {
      return false;  // later, when its target is known; or the peer reads it
    }
  }
  return false;
}

bool send_channel::is_pulled() const noexcept {
  return way_->slot().control->pulls.load(std::memory_order_relaxed) != 0;
}

bool send_channel::has_buffers() const noexcept { return push_ || !is_pulled(); }

/// The peer can read everything itself, and should, because this process computes.
bool send_channel::leaves_copying() const noexcept {
  return is_pulled() && base::runs_in_background();
}

/// The peer computes and leaves everything to this end: to any thread that polls.
bool send_channel::copies_alone(std::uint32_t number) const noexcept {
  const auto& shared = way_->slot().control->transfers[number % transfers_max];
  return target_of(number) != 0 && shared.alone.load(std::memory_order_relaxed) != 0;  // after (G)
}

bool send_channel::may_place(std::uint32_t number) const noexcept {
  return postings_[number % transfers_max].can_place &&
         writable_pid_.load(std::memory_order_relaxed) != 0;
}

std::uint64_t send_channel::target_of(std::uint32_t number) const noexcept {
  const auto& shared = way_->slot().control->transfers[number % transfers_max];
  if (!may_place(number)) return 0;
  return shm::target_of(shared.target.load(std::memory_order_acquire), lap_of(number));  // (G)
}

bool send_channel::take_returned(std::uint32_t number) noexcept {
  auto& returned = way_->slot().control->transfers[number % transfers_max].returned;
  if (returned.load(std::memory_order_relaxed) == 0) return false;
  const std::uint64_t what = returned.exchange(0, std::memory_order_acquire);
  posting& p = postings_[number % transfers_max];
  p.returned_first = static_cast<std::uint32_t>(what) - 1;
  p.returned_count = static_cast<std::uint32_t>(what >> 32);
  return p.returned_count != 0;
}

void send_channel::fill_buffer(std::uint32_t number, std::uint32_t piece) noexcept {
  const geometry& shape = way_->shape();
  posting& p = postings_[number % transfers_max];
  const std::size_t offset = std::size_t{piece} * shape.piece_bytes;
  if (offset >= p.payload.size()) return;  // the peer returned a piece that it never had
  const std::size_t bytes = std::min<std::size_t>(shape.piece_bytes, p.payload.size() - offset);
  const std::size_t index = buffer_ticket_ % shape.piece_count;
  copy_to_pieces_.copy(way_->slot().pieces + index * shape.piece_bytes, p.payload.data() + offset,
                       bytes);
  announce({.number = number, .offset = offset, .bytes = bytes});
}

/// A buffer is free: it is filled, or reports a placed piece.
void send_channel::announce(const piece_told& what) noexcept {
  const std::uint32_t count = way_->shape().piece_count;
  piece_line& line = way_->slot().control->pieces[buffer_ticket_ % count];
  line.transfer = what.number;
  line.bytes = static_cast<std::uint32_t>(what.bytes);
  line.offset = what.offset;
  line.placed = what.placed;
  fill_piece(line.turn, buffer_ticket_ / count);
  ++buffer_ticket_;
  postings_[what.number % transfers_max].pushed += what.bytes;
  notify();
}

/// Copies some pieces directly to their target; 0: there is nothing to copy that way now.
std::size_t send_channel::place_some() noexcept {
  const std::uint32_t posted = posted_.load(std::memory_order_acquire);  // (T)
  const std::size_t piece_bytes = way_->shape().piece_bytes;
  for (; next_push_ != posted; ++next_push_) {
    const std::uint64_t target = target_of(next_push_);
    posting& p = postings_[next_push_ % transfers_max];
    transfer_line& shared = way_->slot().control->transfers[next_push_ % transfers_max];
    const bool alone = shared.alone.load(std::memory_order_relaxed) != 0;  // after (G)
    if (target == 0 || (leaves_copying() && !alone)) return 0;
    std::uint32_t first = 0;
    const std::uint32_t count = claim_pieces(
        shared.claim, next_push_, (p.payload.size() + piece_bytes - 1) / piece_bytes,
        std::max(static_cast<std::uint32_t>((alone ? alone_bytes : placed_bytes) / piece_bytes),
                 1u),
        first, alone);
    if (count == 0) continue;
    const std::size_t offset = first * piece_bytes;
    const auto bytes =
        p.payload.subspan(offset, std::min(count * piece_bytes, p.payload.size() - offset));
    if (!place(target + offset, bytes)) {
      // These pieces, and all later ones, go through buffers, or are read by the peer.
      writable_pid_.store(0, std::memory_order_relaxed);
      shared.alone.store(0, std::memory_order_relaxed);
      notify();
      p.returned_first = first;
      p.returned_count = count;
      return 0;
    }
    announce({.number = next_push_, .offset = offset, .bytes = bytes.size(), .placed = true});
    return bytes.size();
  }
  return 0;
}

bool send_channel::place(std::uint64_t target, std::span<const std::byte> bytes) noexcept {
  slot_control& control = *way_->slot().control;
  if (!begin_placing(control.placing, control.revoked)) return false;
  const pid_t pid = writable_pid_.load(std::memory_order_relaxed);
  const bool whole = way_->process_runs() && write_remote(pid, target, bytes);
  end_placing(control.placing);
  return whole;
}

void send_channel::push() noexcept {
  std::uint32_t number = 0, piece = 0;
  for (std::size_t copied = 0; copied < budget_bytes;) {
    if (!buffer_free()) return;
    if (const std::size_t placed = place_some(); placed != 0) {
      copied += placed;
      continue;
    }
    if (!next_piece(number, piece)) return;
    fill_buffer(number, piece);
    copied += way_->shape().piece_bytes;
  }
}

bool send_channel::finished(std::uint32_t number) noexcept {
  const posting& p = postings_[number % transfers_max];
  const auto& shared = way_->slot().control->transfers[number % transfers_max];
  return p.pushed + pulled_bytes(shared.pulled) >= p.payload.size();
}

/// The peer has emptied every buffer that was filled before the first call with this ticket. It
/// empties them in order.
bool send_channel::buffers_emptied(std::uint64_t& ticket) const noexcept {
  if (ticket == atomic_calls::not_asked) ticket = buffer_ticket_;
  const std::uint32_t count = way_->shape().piece_count;
  if (ticket == 0) return true;
  const auto last = ticket - 1;
  return piece_is_emptied(way_->slot().control->pieces[last % count].turn, last / count);
}

std::size_t send_channel::report(std::span<event> out) noexcept {
  const bool down = lost_.load(std::memory_order_acquire) || bell_.is_closed();
  std::size_t count = 0;
  std::uint32_t number = done_.load(std::memory_order_relaxed);
  const std::uint32_t posted = posted_.load(std::memory_order_acquire);  // (T)
  for (; number != posted && count < out.size(); ++number, ++count) {
    const bool whole = finished(number);
    if (!whole && !down) break;
    if (const posting& p = postings_[number % transfers_max];
        whole && p.begun_ns != 0 && !copies_alone(number))
      choice_.learn(p.payload.size(), p.chosen, base::machine_now_ns() - p.begun_ns);
    out[count] = {.kind = whole ? event_kind::sent : event_kind::failed,
                  .peer = peer_,
                  .cookie = postings_[number % transfers_max].cookie};
    if (next_push_ == number) ++next_push_;
  }
  if (count > 0) done_.store(number, std::memory_order_release);  // (D)
  count += calls_.report(peer_, down, out.subspan(count),
                         [this](std::uint64_t& ticket)
                             HEADWAY_NO_THREAD_SAFETY_ANALYSIS {  // it is held here
                               return buffers_emptied(ticket);
                             });
  bool freed = false;
  count += gets_.report(peer_, down, out.subspan(count), budget_bytes, freed);
  if (freed) notify();
  if (count == 0) return 0;
  posted_count_->fetch_sub(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  return count;
}

std::size_t send_channel::advance(std::span<event> out) noexcept {
  if (!unfinished() || !pushing_.try_lock()) return 0;
  if (!lost_.load(std::memory_order_relaxed)) push();
  const std::size_t count = report(out);
  pushing_.unlock();
  return count;
}

bool send_channel::unfinished() const noexcept {
  return posted_.load(std::memory_order_acquire) != done_.load(std::memory_order_acquire) ||
         calls_.waiting() || gets_.waiting();
}

bool send_channel::could_advance() noexcept {
  const std::uint64_t starved = starved_at_.load(std::memory_order_relaxed);
  if (starved != not_starved &&
      ring_.memory().consumed().load(std::memory_order_acquire) != starved)
    return true;
  if (!unfinished()) return false;
  if (!pushing_.try_lock()) return true;  // another thread pushes; its result counts
  const std::uint32_t oldest = done_.load(std::memory_order_relaxed);
  const std::uint32_t posted = posted_.load(std::memory_order_acquire);  // (T)
  bool something = calls_.answered() || gets_.answered() || bell_.is_closed() ||
                   lost_.load(std::memory_order_relaxed) || (oldest != posted && finished(oldest));
  if (!something && buffer_free()) {
    for (std::uint32_t n = oldest; n != begun(posted) && !something; ++n)
      something = postings_[n % transfers_max].returned_count != 0 || take_returned(n);
    if (next_push_ != posted && (!leaves_copying() || copies_alone(next_push_)))
      something = something || has_buffers() || target_of(next_push_) != 0;
  }
  pushing_.unlock();
  return something;
}

// --- health

void send_channel::look_after() noexcept {
  if (lost_.load(std::memory_order_relaxed)) return;
  if (bell_.is_closed()) {
    if (unfinished()) news_->store(true, std::memory_order_release);
    return;
  }
  // Closing and then exiting is no death: check the word again after the death was seen.
  if (!way_->owner_alive() && !bell_.is_closed()) mark_lost();
}

void send_channel::leave() noexcept {
  // For peers that find our name gone: the kernel removes it after this store.
  if (way_) way_->slot().control->left.store(1, std::memory_order_release);
}

void send_channel::mark_lost() noexcept {
  state_.store(state::down, std::memory_order_relaxed);
  lost_.store(true, std::memory_order_release);
  news_->store(true, std::memory_order_release);
}

}  // namespace headway::rails::shm
