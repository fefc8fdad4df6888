#include "rails/shm/shm_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <thread>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"

namespace headway::rails::shm {
namespace {

/// The prefix of the names of all segments of the job.
std::string job_prefix(const config& c) {
  std::string name = fmt::format("{}{}-", file_prefix, c.job_name);
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

/// Slots beyond those of the job, for processes of other jobs: what is never touched takes no
/// memory. One word of bits says which of 64 slots are in use.
constexpr std::uint32_t slots_for_others = 32, slots_least = 64;

/// How many processes of a job of this size are assumed to run on this machine.
std::uint32_t sharers_of(std::uint32_t size) {
  constexpr std::uint32_t least = 16;  // tests use more processes than processors
  return std::min(size, std::max(2 * std::thread::hardware_concurrency(), least));
}

// Lines that still lie in the reader's caches are slow to write again, so rings, and the buffers of
// large payloads, are larger than a core's second cache where the number of processes permits:
// docs/decisions/0026-large-rings.md
constexpr std::uint32_t rings_bytes = 4 * 1024 * 1024;  // of a process, for all its peers
constexpr std::uint32_t ring_bytes_least = 64 * 1024;
constexpr std::uint32_t piece_bytes_least = 16 * 1024;

std::uint32_t chosen(std::uint32_t value, std::uint32_t otherwise, std::uint32_t least) {
  return value == 0 ? otherwise : std::bit_ceil(std::max(value, least));
}

}  // namespace

shm_driver::shm_driver(config given)
    : memory_(links_, given.how.large), config_(std::move(given)) {}

geometry shm_driver::shape_for(std::uint32_t size, const settings& how,
                               std::optional<std::size_t> capacity) {
  geometry g{.slot_count = std::clamp(size + slots_for_others, slots_least, slots_max)};
  const std::uint32_t ring = rings_bytes / std::bit_ceil(std::clamp(size, 2u, slots_max));
  g.ring_bytes = chosen(how.ring_bytes, std::max(ring, ring_bytes_least), 4 * page_bytes);
  const std::uint32_t piece_kib = size <= 8 ? 32 : 16;
  g.piece_bytes = chosen(how.piece_bytes, piece_kib * 1024, page_bytes);
  const std::uint32_t pieces = size <= 4 ? 64 : size <= 8 ? 32 : size <= 32 ? 16 : 8;
  g.piece_count = std::min(chosen(how.piece_count, pieces, 2), pieces_max);
  // By the capacity, not by what is free now, because all processes have to send packets of the
  // same length.
  const std::size_t sharers = sharers_of(size);
  const auto too_large = [&] { return capacity && g.bytes_for(sharers) > *capacity / 2 / sharers; };
  while (how.ring_bytes == 0 && g.ring_bytes > ring_bytes_least && too_large()) g.ring_bytes /= 2;
  while (how.piece_bytes == 0 && g.piece_bytes > piece_bytes_least && too_large())
    g.piece_bytes /= 2;
  return g;
}

base::result<std::vector<std::byte>> shm_driver::open() {
  HEADWAY_ASSERT(!now_ && config_.known);
  const auto rank = config_.known->at(config_.me).rank;
  const segment_options options{.directory = config_.how.directory,
                                .name = fmt::format("{}{}", job_prefix(config_), rank),
                                .sharers = sharers_of(config_.size),
                                .shape = shape_for(std::max(config_.size, 1u), config_.how,
                                                   capacity_of(config_.how.directory))};
  sweep(options.directory, job_prefix(config_));
  auto made = segment::create(options);
  if (!made) return std::unexpected(made.error());
  enlisted_ = process_fences::enlist();
  limits_ = {.name = "shm",
             .header_bytes_max = header_bytes_max,
             .eager_bytes_max = options.shape.eager_bytes(),
             .whole_bytes_max =
                 config_.how.large == large_way::automatic ? options.shape.whole_bytes() : 0,
             .inline_bytes_max = options.shape.eager_bytes(),
             .poll_cost_ns = 5,
             .latency_ns = 150,
             .wakes = true,
             .silent = true,
             .lets_wait = true};
  now_.emplace(std::move(*made), config_, links_, memory_.exposed(),
               header_bytes_max + options.shape.whole_bytes(), enlisted_);
  memory_.serve(&now_->in);
  const segment& mine = *now_->mine;
  address a = this_process();
  a.proof = mine.head().label.proof;
  a.proof_address = reinterpret_cast<std::uint64_t>(mine.head().label.proof.data());
  a.path = mine.path();
  return a.packed();
}

base::result<> shm_driver::connect(peer_id peer, std::span<const std::byte> bytes) {
  if (peer == config_.me || !now_ || links_.find(peer))
    return base::failed(base::fault_kind::bad_input, fmt::format("shm: peer {} cannot be connected",
                                                                 static_cast<std::uint32_t>(peer)));
  auto done = attach(peer, bytes);
  // A sleeping thread must wake up for what the peer has sent before.
  if (now_->in.slot_of(peer)) now_->sleep.ring();
  return done;
}

base::result<> shm_driver::attach(peer_id peer, std::span<const std::byte> bytes) {
  const auto where = address::parse(bytes);
  if (!where) return std::unexpected(where.error());
  auto way = attachment::attach(*where, process_of(config_.me));
  if (way) {
    // A process that may read another may write it, because the kernel requires the same
    // permission.
    const bool readable = config_.how.large != large_way::ring && can_read(*where);
    add(peer, std::move(*way), readable ? static_cast<pid_t>(where->pid) : 0);
    return {};
  }
  const slot_control* called = now_->in.slot_of(peer);
  if (!called || way.error().kind != base::fault_kind::unsupported)
    return std::unexpected(way.error());
  const bool closed = called->left.load(std::memory_order_acquire) != 0;  // see leave
  if (!closed && runs_here(*where)) return std::unexpected(way.error());
  // The peer's segment is gone. What it has sent is received; if it has not closed, it has died.
  send_channel& back = add(peer, nullptr, 0);
  if (!closed) back.mark_lost();
  return {};
}

base::result<> shm_driver::admit(peer_id peer, std::span<const std::byte>) {
  if (!now_ || links_.find(peer))
    return base::failed(base::fault_kind::bad_input, fmt::format("shm: peer {} cannot be admitted",
                                                                 static_cast<std::uint32_t>(peer)));
  add(peer, nullptr, 0);
  now_->sleep.ring();
  return {};
}

send_channel& shm_driver::add(peer_id peer, std::unique_ptr<attachment> way, pid_t readable_pid) {
  return links_.emplace(peer, send_channel::context{.peer = peer,
                                                    .way = std::move(way),
                                                    .fence_always = !enlisted_,
                                                    .push = config_.how.large != large_way::kernel,
                                                    .readable_pid = readable_pid,
                                                    .posted_count = &posted_,
                                                    .news = &news_});
}

rails::memory* shm_driver::memory() noexcept { return now_ ? &memory_ : nullptr; }

shm_slots* shm_driver::slots() noexcept { return now_ ? &now_->slots : nullptr; }

// --- sending

post shm_driver::send(peer_id peer, const packet& what) noexcept {
  HEADWAY_DEBUG_ASSERT(what.header.size() <= header_bytes_max);
  HEADWAY_DEBUG_ASSERT(what.payload.size() <= limits_.eager_bytes_max ||
                       (what.in_parts && what.payload.size() <= limits_.whole_bytes_max));
  send_channel* to = links_.find(peer);
  return to ? to->send(what) : post::down;
}

limits shm_driver::packet_limits_to(peer_id peer) const noexcept {
  limits both = limits_;
  const send_channel* to = links_.find(peer);
  if (!to || !to->attached()) return both;
  const geometry& theirs = to->attached()->shape();
  both.eager_bytes_max = std::min(both.eager_bytes_max, theirs.eager_bytes());
  both.inline_bytes_max = std::min(both.inline_bytes_max, theirs.eager_bytes());
  both.whole_bytes_max = std::min(both.whole_bytes_max, theirs.whole_bytes());
  return both;
}

bool shm_driver::takes_whole(peer_id peer, std::size_t bytes) const noexcept {
  send_channel* to = links_.find(peer);
  return to && bytes <= packet_limits_to(peer).whole_bytes_max && to->has_buffer();
}

// --- reaping

std::size_t shm_driver::reap(std::span<event> out) noexcept {
  if (!now_) [[unlikely]]
    return last_.report(out);
  if (out.empty()) return 0;
  incoming& in = now_->in;
  std::size_t count = 0;
  if (in.new_senders()) [[unlikely]]
    count = in.admit_senders(out);
  count += in.take(out.subspan(count));
  // A round through all queues takes tens of nanoseconds, a look at the rings one or two. Looking
  // several times finds messages sooner.
  for (int look = 0; count == 0 && look < lingering_looks; ++look) count = in.take(out);
  if (posted_.load(std::memory_order_relaxed) != 0) count += advance_all(out.subspan(count));
  if (news_.load(std::memory_order_relaxed)) [[unlikely]]
    count += report_losses(out.subspan(count));
  now_->sleep.drain_if_due();
  if (count > 0) now_->sleep.note_awake(static_cast<std::uint32_t>(count));
  return count;
}

std::size_t shm_driver::advance_all(std::span<event> out) noexcept {
  send_channel* const first = next_link_ ? next_link_ : links_.newest();
  std::size_t count = 0;
  send_channel* at = first;
  while (at && count < out.size()) {
    count += at->advance(out.subspan(count));
    at = peer_links::older(*at);
    if (!at) at = links_.newest();
    if (at == first) break;
  }
  next_link_ = at;
  return count;
}

void shm_driver::release(const event& received) noexcept {
  if (now_) now_->in.release(received);
}

std::size_t shm_driver::report_losses(std::span<event> out) noexcept {
  news_.store(false, std::memory_order_relaxed);
  std::size_t count = 0;
  links_.each([&](send_channel& way) {
    if (!way.lost_is_due()) return;
    // First what the peer sent before, then the ends of what was posted to it, then the loss
    // itself.
    if (now_->in.waits_from(way) || way.unfinished() || count == out.size()) {
      news_.store(true, std::memory_order_relaxed);
      return;
    }
    out[count++] = {.kind = event_kind::lost, .peer = way.peer()};
    way.set_lost_reported();
  });
  return count;
}

// --- sleeping

int shm_driver::descriptor() const noexcept { return now_ ? now_->mine->bell() : -1; }

bool shm_driver::arm(bool sleeping) noexcept {
  if (sleeping) return arm_for(arrivals::all);
  if (now_) now_->sleep.disarm();
  return now_.has_value();
}

bool shm_driver::arm_for(arrivals what) noexcept {
  return now_ && now_->sleep.arm(what, [&] { return anything_to_do(what); });
}

bool shm_driver::anything_to_do(arrivals which) noexcept {
  bool some = news_.load(std::memory_order_acquire) || now_->in.new_senders() ||
              now_->in.waiting(which) || now_->slots.any_ready();
  links_.each([&](send_channel& to) { some = some || to.could_advance(); });
  return some;
}

// --- health and end

void shm_driver::tick(std::uint64_t) noexcept {
  if (!now_) return;
  links_.each([](send_channel& to) { to.look_after(); });
  // A thread that sleeps on the bell must report what was found, and take what a peer has done that
  // cannot ring the bell, because it cannot attach here.
  if (anything_to_do(arrivals::all)) now_->sleep.ring();
}

void shm_driver::close() noexcept {
  if (!now_) return;
  const std::uint64_t deadline = base::machine_now_ns() + 1'000'000'000;
  std::array<event, 16> late;
  const auto keep_ends = [&] {
    const auto count = advance_all(late);
    last_.keep(std::span(late).first(count));
    return count;
  };
  while (posted_.load(std::memory_order_relaxed) != 0 && base::machine_now_ns() < deadline) {
    links_.each([](send_channel& to) { to.look_after(); });
    if (keep_ends() == 0) base::relax();
  }
  now_->sleep.shut();
  links_.each([](send_channel& to) {
    to.leave();
    to.mark_lost();  // what is left fails
  });
  while (keep_ends() != 0) {
  }
  memory_.serve(nullptr);
  next_link_ = nullptr;
  links_.clear();
  now_.reset();
}

}  // namespace headway::rails::shm
