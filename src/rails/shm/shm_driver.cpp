#include "rails/shm/shm_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <mutex>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "rails/shm/tunables.hpp"

namespace headway::rails::shm {
namespace {

std::string file_name(const config& c) {
  std::string name = fmt::format("{}{}-{}", file_prefix, c.job_id, c.rank);
  std::ranges::replace_if(
      name,
      [](unsigned char ch) { return !std::isalnum(ch) && ch != '-' && ch != '_' && ch != '.'; },
      '_');
  return name;
}

bool can_read(const address& peer) {
  token read_back{};
  return peer.pid_namespace != 0 && peer.pid_namespace == this_process().pid_namespace &&
         read_remote(static_cast<pid_t>(peer.pid), peer.proof_address, read_back) &&
         read_back == peer.proof;
}

std::uint32_t chosen(const base::number_tunable& t, std::uint32_t otherwise, std::uint32_t least) {
  const auto value = static_cast<std::uint32_t>(t.get());
  return value == 0 ? otherwise : std::bit_ceil(std::max(value, least));
}

}  // namespace

shm_driver::shm_driver(config given) : config_(std::move(given)) {}

geometry shm_driver::shape_for(std::uint32_t local_size) {
  geometry g{.slot_count = std::min(local_size, slots_max)};
  const int step = local_size <= 8 ? 0 : local_size <= 32 ? 1 : 2;
  g.ring_bytes = chosen(ring_bytes, 128u * 1024 >> step, 4 * page_bytes);
  g.piece_bytes = chosen(piece_bytes, 32u * 1024 >> (step > 0), page_bytes);
  g.piece_count = std::min(chosen(piece_count, step == 2 ? 8 : 16, 2), pieces_max);
  return g;
}

limits shm_driver::query() const noexcept { return limits_; }

base::result<std::vector<std::byte>> shm_driver::open() {
  const std::uint32_t local = config_.local_size != 0 ? config_.local_size : config_.size;
  segment_options options{
      .directory = config_.directory.empty() ? directory.get() : config_.directory,
      .name = file_name(config_),
      .rank = config_.rank,
      .shape = shape_for(std::max(local, 1u))};
  sweep(options.directory);
  auto made = segment::create(options);
  if (!made) return std::unexpected(made.error());
  mine_ = std::move(*made);
  enlisted_ = process_fences::enlist();
  word_count_ = (options.shape.slot_count + 63) / 64;
  slots_ = std::make_unique<incoming[]>(options.shape.slot_count);
  takers_ = std::make_unique<incoming*[]>(options.shape.slot_count);
  ways_.resize(config_.size);
  limits_ = {.name = "shm",
             .header_bytes_max = header_bytes_max,
             .eager_bytes_max = options.shape.ring_bytes / 8,
             .inline_bytes_max = options.shape.ring_bytes / 8,
             .poll_cost_ns = 5,
             .latency_ns = 150,
             .wakes = true};
  address a = this_process();
  a.proof = mine_->head().label.proof;
  a.proof_address = reinterpret_cast<std::uint64_t>(mine_->head().label.proof.data());
  a.path = mine_->path();
  return a.packed();
}

base::result<> shm_driver::connect(peer_id peer, std::span<const std::byte> bytes) {
  const auto rank = static_cast<std::uint32_t>(peer);
  if (rank >= config_.size || rank == config_.rank || !mine_)
    return base::failed(base::fault_kind::bad_input, fmt::format("shm: no peer {} here", rank));
  auto done = attach(peer, bytes);
  // Whoever can be reached from here reaches us: when all have, nobody needs the names any more.
  if (++asked_ + 1 == config_.size) mine_->expect(static_cast<std::uint32_t>(connected_.size()));
  return done;
}

base::result<> shm_driver::attach(peer_id peer, std::span<const std::byte> bytes) {
  const auto rank = static_cast<std::uint32_t>(peer);
  const auto where = address::parse(bytes);
  if (!where) return std::unexpected(where.error());
  auto attached = attachment::attach(*where, config_.rank);
  if (!attached) return std::unexpected(attached.error());
  const large_way large = chosen_large_way();
  // Who may read a process may write it: the kernel asks the same for both.
  const pid_t readable =
      large != large_way::ring && can_read(*where) ? static_cast<pid_t>(where->pid) : 0;
  ways_[rank].readable_pid = readable;
  ways_[rank].out = std::make_unique<outgoing>(outgoing::context{.peer = peer,
                                                                 .way = std::move(*attached),
                                                                 .fence_always = !enlisted_,
                                                                 .push = large != large_way::kernel,
                                                                 .writable_pid = readable,
                                                                 .posted_count = &posted_,
                                                                 .news = &news_});
  connected_.push_back(ways_[rank].out.get());
  return {};
}

// --- sending

outgoing* shm_driver::way_to(peer_id peer) const noexcept {
  const auto rank = static_cast<std::uint32_t>(peer);
  return rank < ways_.size() ? ways_[rank].out.get() : nullptr;
}

post shm_driver::send(peer_id peer, const packet& what) noexcept {
  HEADWAY_DEBUG_ASSERT(what.header.size() <= header_bytes_max);
  HEADWAY_DEBUG_ASSERT(what.landing != landing_id::none ||
                       what.payload.size() <= limits_.eager_bytes_max);
  outgoing* way = way_to(peer);
  return way ? way->send(what) : post::down;
}

bool shm_driver::land(peer_id peer, landing_id id, std::span<std::byte> target) noexcept {
  return zones_.open(peer, id, target);
}

void shm_driver::unland(landing_id id) noexcept {
  const auto lent_to = zones_.close(id);
  if (!lent_to) return;
  const std::uint32_t taken = taken_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < taken; ++i)
    if (takers_[i]->belongs_to(*way_to(*lent_to))) takers_[i]->take_back_targets();
}

// --- reaping

std::size_t shm_driver::reap(std::span<event> out) noexcept {
  if (!mine_) [[unlikely]]
    return last_.report(out);
  if (out.empty()) return 0;
  if (new_senders()) [[unlikely]]
    admit_senders();
  std::size_t count = take_all(out);
  // A round through all queues takes tens of nanoseconds, a look at the rings one or two. What
  // comes while we are here is seen sooner by that much.
  for (int look = 0; count == 0 && look < lingering_looks; ++look) count = take_all(out);
  if (posted_.load(std::memory_order_relaxed) != 0) count += advance_all(out.subspan(count));
  if (news_.load(std::memory_order_relaxed)) [[unlikely]]
    count += report_losses(out.subspan(count));
  if (bell_rang_.load(std::memory_order_relaxed)) [[unlikely]]
    hush_bell();
  if (count > 0) note_traffic(count);
  return count;
}

std::size_t shm_driver::take_all(std::span<event> out) noexcept {
  std::size_t count = 0;
  // Everybody gets a turn to be first: a talkative peer must not fill `out` each time.
  std::uint32_t at = next_taker_;
  for (std::uint32_t i = 0; i < taker_count_ && count < out.size(); ++i) {
    if (at >= taker_count_) at = 0;
    count += takers_[at++]->take(out.subspan(count));
  }
  next_taker_ = at;
  return count;
}

std::size_t shm_driver::advance_all(std::span<event> out) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < connected_.size() && count < out.size(); ++i) {
    if (next_way_ >= connected_.size()) next_way_ = 0;
    count += connected_[next_way_++]->advance(out.subspan(count));
  }
  return count;
}

outgoing* shm_driver::owner_of(std::uint32_t slot) const noexcept {
  if (slot >= mine_->shape().slot_count) return nullptr;  // a bit that no honest peer sets
  const std::uint32_t rank =
      mine_->slot(slot).control->rank_plus_one.load(std::memory_order_relaxed) - 1;
  return rank < ways_.size() ? ways_[rank].out.get() : nullptr;
}

/// Whether a slot was activated whose owner is known. Also called by `arm`, beside `reap`.
bool shm_driver::new_senders() const noexcept {
  for (std::uint32_t w = 0; w < word_count_; ++w) {
    // Acquire pairs with the release in `outgoing::send_fresh`: it carries rank_plus_one.
    std::uint64_t fresh = mine_->head().active[w].load(std::memory_order_acquire) &
                          ~seen_[w].load(std::memory_order_acquire);  // (S)
    for (; fresh != 0; fresh &= fresh - 1) [[unlikely]]
      if (owner_of(w * 64 + static_cast<std::uint32_t>(std::countr_zero(fresh)))) return true;
  }
  return false;
}

void shm_driver::admit_senders() noexcept {
  for (std::uint32_t w = 0; w < word_count_; ++w) {
    const std::uint64_t seen = seen_[w].load(std::memory_order_relaxed);
    std::uint64_t fresh = mine_->head().active[w].load(std::memory_order_acquire) & ~seen;
    for (; fresh != 0; fresh &= fresh - 1) {
      const std::uint32_t slot = w * 64 + static_cast<std::uint32_t>(std::countr_zero(fresh));
      outgoing* owner = owner_of(slot);
      if (!owner) continue;
      admit(slot, *owner);
      seen_[w].fetch_or(fresh & -fresh, std::memory_order_release);  // (S) carries taken_
    }
  }
}

void shm_driver::admit(std::uint32_t slot, outgoing& back) noexcept {
  slots_[slot].begin({.slot = mine_->slot(slot),
                      .shape = mine_->shape(),
                      .record_bytes_max = header_bytes_max + limits_.eager_bytes_max,
                      .index = slot,
                      .back = &back,
                      .zones = &zones_,
                      .readable_pid = ways_[static_cast<std::uint32_t>(back.peer())].readable_pid});
  takers_[taker_count_++] = &slots_[slot];
  taken_.store(taker_count_, std::memory_order_release);  // pairs with the acquire in `arm`
}

void shm_driver::release(const event& received) noexcept {
  if (!mine_) return;
  slots_[received.driver_word >> 32].release(received.driver_word & 0xffff'ffff);
}

std::size_t shm_driver::report_losses(std::span<event> out) noexcept {
  news_.store(false, std::memory_order_relaxed);
  std::size_t count = 0;
  for (outgoing* way : connected_) {
    if (!way->lost_is_due()) continue;
    // First what it sent before, then what was posted to it, then the loss itself.
    const bool silent = std::none_of(takers_.get(), takers_.get() + taker_count_, [&](incoming* t) {
      return t->belongs_to(*way) && t->waiting();
    });
    if (!silent || way->unfinished() || count == out.size()) {
      news_.store(true, std::memory_order_relaxed);
      continue;
    }
    out[count++] = {.kind = event_kind::lost, .peer = way->peer()};
    way->set_lost_reported();
  }
  return count;
}

void shm_driver::note_traffic(std::size_t count) noexcept {
  events_awake_ += static_cast<std::uint32_t>(count);
  if (events_awake_ < awake_events) return;
  events_awake_ = 0;
  if (enlisted_) doorbell(mine_->head().bell).grow_light();
}

// --- sleeping

int shm_driver::descriptor() const noexcept { return mine_ ? mine_->bell() : -1; }

/// Takes the byte of an old ringing out of the bell. A sender takes the ringing first and writes
/// its byte later: until the byte was here one is due. Called with arming_ held, nobody asleep.
void shm_driver::drain_bell() noexcept {
  if (bell_rang_.load(std::memory_order_relaxed) && mine_->drain_bell())
    bell_rang_.store(false, std::memory_order_relaxed);
}

void shm_driver::hush_bell() noexcept {
  if (!arming_.try_lock()) return;
  if (!armed_) drain_bell();  // else the byte may be the one that ends the sleep
  arming_.unlock();
}

bool shm_driver::arm(bool sleeping) noexcept {
  if (!mine_) return false;
  const std::lock_guard guard(arming_);
  if (armed_) get_up();
  if (!sleeping) return true;
  drain_bell();
  armed_ = true;
  doorbell(mine_->head().bell).lie_down();
  if (!anything_to_do()) return true;
  get_up();
  return false;
}

void shm_driver::get_up() noexcept {
  armed_ = false;
  if (!doorbell(mine_->head().bell).get_up()) bell_rang_.store(true, std::memory_order_relaxed);
}

bool shm_driver::anything_to_do() noexcept {
  if (news_.load(std::memory_order_acquire) || new_senders()) return true;
  const std::uint32_t takers = taken_.load(std::memory_order_acquire);  // pairs with `admit`
  for (std::uint32_t i = 0; i < takers; ++i)
    if (takers_[i]->waiting()) return true;
  return watcher_ready() ||
         std::ranges::any_of(connected_, [](outgoing* to) { return to->could_advance(); });
}

// --- the board

std::byte* shm_driver::lines_of(peer_id peer, std::uint32_t slot) noexcept {
  const outgoing* way = way_to(peer);
  std::byte* first = static_cast<std::uint32_t>(peer) == config_.rank ? mine_->board()
                     : way                                            ? way->board()
                                                                      : nullptr;
  return first ? first + slot * board::slot_bytes : nullptr;
}

void shm_driver::wake(peer_id peer) noexcept { way_to(peer)->notify(); }

void shm_driver::watch(watcher& w) {
  const std::lock_guard guard(watching_);
  watchers_.push_back(&w);
}

void shm_driver::unwatch(watcher& w) noexcept {
  const std::lock_guard guard(watching_);
  std::erase(watchers_, &w);
}

bool shm_driver::watcher_ready() noexcept {
  const std::lock_guard guard(watching_);
  return std::ranges::any_of(watchers_, [](const watcher* w) { return w->ready(); });
}

// --- memory nearby

bool shm_driver::reaches(peer_id peer) noexcept {
  return way_to(peer) && ways_[static_cast<std::size_t>(peer)].readable_pid != 0;
}

// Of a process that has ended its number may be another one's: hence the look before each.
bool shm_driver::read(peer_id peer, std::uint64_t from, std::span<std::byte> to) noexcept {
  return reaches(peer) && way_to(peer)->process_runs() &&
         read_remote(ways_[static_cast<std::size_t>(peer)].readable_pid, from, to);
}

bool shm_driver::write(peer_id peer, std::uint64_t to, std::span<const std::byte> from) noexcept {
  return reaches(peer) && way_to(peer)->process_runs() &&
         write_remote(ways_[static_cast<std::size_t>(peer)].readable_pid, to, from);
}

// --- health and end

void shm_driver::tick(std::uint64_t) noexcept {
  if (!mine_) return;
  for (outgoing* way : connected_) way->look_after();
  // Whoever sleeps on the bell must learn of what was found.
  if (news_.load(std::memory_order_relaxed) && doorbell(mine_->head().bell).must_ring(true))
    mine_->ring_bell();
}

void shm_driver::close() noexcept {
  if (!mine_) return;
  const std::uint64_t deadline = base::now_ns() + 1'000'000'000;
  std::array<event, 16> late;
  const auto keep_ends = [&] {
    const auto count = advance_all(late);
    last_.keep(std::span(late).first(count));
    return count;
  };
  while (posted_.load(std::memory_order_relaxed) != 0 && base::now_ns() < deadline) {
    for (outgoing* way : connected_) way->look_after();
    if (keep_ends() == 0) base::relax();
  }
  doorbell(mine_->head().bell).shut();
  for (outgoing* way : connected_) way->mark_lost();  // what is left fails
  while (keep_ends() != 0) {
  }
  connected_.clear();
  ways_.clear();
  taker_count_ = 0;
  taken_.store(0, std::memory_order_relaxed);
  mine_.reset();
}

}  // namespace headway::rails::shm
