#include "mpi/partitioned/partitioned_request.hpp"

#include <algorithm>
#include <new>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/message_request.hpp"

namespace headway::mpi {

using messages::outcome;

// ---- both ---------------------------------------------------------------------------------------

partitioned_request::partitioned_request(const partitioned_call& call)
    : partitions_(call.partitions),
      peer_(call.peer),
      tag_(call.tag),
      bytes_each_(call.type.layout().size() * call.count),
      kept_(call.comm),
      buffer_(static_cast<std::byte*>(call.buffer)),
      count_(call.count),
      layout_(call.type.shared_layout()) {
  comm = &call.comm;
  persistent = true;
  active = false;
  if (!has_peer()) return;
  if (layout_->is_one_block(count_ * partitions_)) {
    bytes_begin_ = buffer_ + layout_->true_lb();
    return;
  }
  packed_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes()));
  bytes_begin_ = packed_.get();
}

int partitioned_request::cancel() {
  return fail(MPI_ERR_REQUEST, "a partitioned operation cannot be cancelled");
}

void partitioned_request::pack(int partition) noexcept {
  HEADWAY_DEBUG_ASSERT(0 <= partition && partition < partitions_);
  if (attached_) attached_->before_send(partition);
  if (packed_) layout_->pack(elements(partition), count_, bytes_at(partition * bytes_each_));
}

void partitioned_request::unpack(int partition) noexcept {
  HEADWAY_DEBUG_ASSERT(0 <= partition && partition < partitions_);
  if (packed_) layout_->unpack(bytes_at(partition * bytes_each_), elements(partition), count_);
  if (attached_) attached_->after_arrival(partition);
}

void partitioned_request::begin_round(std::int64_t messages) noexcept {
  // Relaxed: starting the messages publishes it to the threads that end them.
  how_.store(outcome::ok, std::memory_order_relaxed);
  left_.store(messages, std::memory_order_relaxed);
}

void partitioned_request::end_message(outcome how) noexcept {
  auto before = outcome::ok;
  if (how != outcome::ok)  // relaxed: `left_` carries it
    how_.compare_exchange_strong(before, how, std::memory_order_relaxed);
  const auto left = left_.fetch_sub(1, std::memory_order_acq_rel);  // (E)
  HEADWAY_DEBUG_ASSERT(left > 0);
  if (left == 1) done_.complete();
}

// ---- sender -------------------------------------------------------------------------------------

partitioned_send::partitioned_send(const partitioned_call& call, int first_tag)
    : partitioned_request(call), first_tag_(first_tag) {
  if (!has_peer()) return;
  parts_ = std::make_unique<part[]>(static_cast<std::size_t>(partitions_));
  for (int i = 0; i < partitions_; ++i) {
    parts_[static_cast<std::size_t>(i)].wire.finish = &on_sent;
    parts_[static_cast<std::size_t>(i)].wire.owner = this;
  }
  setup_ = {.first_tag = first_tag, .partitions = partitions_, .bytes_each = bytes_each_};
  exchange().send(comm->collective(), setup_sent_, std::as_bytes(std::span(&setup_, 1)),
                  peer_rank(), messages::partition_setup_tags.of(static_cast<std::uint32_t>(tag_)));
}

int partitioned_send::start() {
  HEADWAY_DEBUG_ASSERT(!active);
  active = true;
  if (!has_peer() || partitions_ == 0) {
    pending = nullptr;
    return MPI_SUCCESS;
  }
  done_.reset();
  pending = &done_;
  // Relaxed: the program orders MPI_Pready after MPI_Start.
  for (int i = 0; i < partitions_; ++i)
    parts_[static_cast<std::size_t>(i)].is_ready.store(false, std::memory_order_relaxed);
  begin_round(partitions_);
  trace_start(false);
  return MPI_SUCCESS;
}

int partitioned_send::ready(int partition) {
  if (!active) return fail_on(comm, MPI_ERR_REQUEST, "the request was not started");
  if (!has_peer()) return MPI_SUCCESS;
  part& one = parts_[static_cast<std::size_t>(partition)];
  if (one.is_ready.exchange(true, std::memory_order_relaxed)) {  // a check, carries no data
    return fail_on(comm, MPI_ERR_ARG,
                   fmt::format("partition {} was marked as ready before", partition));
  }
  pack(partition);
  if (traced_) [[unlikely]]
    trace_partition(first_tag_ + partition, bytes_each_);
  one.wire.reset();
  exchange().send(comm->collective(), one.wire,
                  {bytes_at(partition * bytes_each_), static_cast<std::size_t>(bytes_each_)},
                  peer_rank(), first_tag_ + partition);
  return MPI_SUCCESS;  // the last partition: another thread may have freed this object
}

/// False: the request of a message never becomes complete, so that the last access to this object
/// is the completion of `done_`.
bool partitioned_send::on_sent(messages::request& r) noexcept {
  static_cast<partitioned_send*>(r.owner)->end_message(r.arrived.how);
  return false;
}

int partitioned_send::finish(MPI_Status& status) {
  set_status_done(status);
  if (pending == nullptr) return MPI_SUCCESS;
  trace_end();
  return code_of({.source = peer_, .tag = tag_, .how = how()}, *comm, false);
}

void partitioned_send::release() noexcept {
  if (has_peer()) {
    if (!setup_sent_.test()) engine().wait(setup_sent_);
    comm->partition_tags.give_back(first_tag_);
  }
  pool<partitioned_send>::all().drop(this);
}

// ---- receiver -----------------------------------------------------------------------------------

partitioned_receive::partitioned_receive(const partitioned_call& call) : partitioned_request(call) {
  if (!has_peer()) return;
  own_ = std::make_unique<own_partition[]>(static_cast<std::size_t>(partitions_));
  setup_received_.finish = &on_setup;
  setup_received_.owner = this;
  exchange().receive(comm->collective(), setup_received_,
                     std::as_writable_bytes(std::span(&setup_, 1)), peer_rank(),
                     messages::partition_setup_tags.of(static_cast<std::uint32_t>(tag_)));
}

/// False: it never becomes complete, see `state_`.
bool partitioned_receive::on_setup(messages::request& r) noexcept {
  auto& self = *static_cast<partitioned_receive*>(r.owner);
  self.read_setup();
  if (self.state_.fetch_or(setup_is_here, std::memory_order_acq_rel) & was_started)  // (S)
    self.post();
  return false;
}

void partitioned_receive::read_setup() noexcept {
  const auto& got = setup_received_.arrived;
  setup_how_ = got.how;
  if (got.how != outcome::ok) return;
  constexpr auto partitions_max = static_cast<std::int64_t>(messages::partition_tags.size());
  setup_how_ = outcome::failed;
  if (got.bytes != sizeof setup_ || setup_.partitions < 0 || setup_.bytes_each < 0 ||
      setup_.first_tag < messages::partition_tags.first ||
      setup_.first_tag - std::int64_t{messages::partition_tags.first} + setup_.partitions >
          partitions_max ||
      setup_.bytes_each > INT64_MAX / std::max(setup_.partitions, 1))
    return;
  const auto count = static_cast<std::size_t>(setup_.partitions);
  parts_.reset(new (std::nothrow) messages::request[count]);
  if (!parts_) return;
  for (std::size_t i = 0; i < count; ++i) {
    parts_[i].finish = &on_part;
    parts_[i].owner = this;
  }
  setup_how_ = outcome::ok;
}

int partitioned_receive::start() {
  HEADWAY_DEBUG_ASSERT(!active);
  active = true;
  if (!has_peer()) {
    pending = nullptr;
    return MPI_SUCCESS;
  }
  if (attached_) attached_->before_start();
  done_.reset();
  pending = &done_;
  trace_start(true);
  if (traced_) [[unlikely]] {
    const base::lock_guard held(noting_);
    noted_.clear();
  }
  for (int j = 0; j < partitions_; ++j)  // relaxed: the program orders MPI_Parrived after this
    own_[static_cast<std::size_t>(j)].is_here.store(false, std::memory_order_relaxed);
  if (state_.load(std::memory_order_acquire) == (setup_is_here | was_started) ||  // (S)
      (state_.fetch_or(was_started, std::memory_order_acq_rel) & setup_is_here))  // (S)
    post();
  return MPI_SUCCESS;
}

/// Receives every partition of the sender.
void partitioned_receive::post() noexcept {
  const std::int64_t count = setup_how_ == outcome::ok ? setup_.partitions : 0;
  begin_round(count + 1);  // 1: this function itself
  if (count > 0 && setup_.bytes_each > 0 && bytes_each_ > 0) {
    for (std::int64_t j = 0; j < partitions_; ++j) {
      const auto [first, last] = parts_of(j);
      // Relaxed: starting the receives publishes it.
      own_[static_cast<std::size_t>(j)].missing.store(std::max<std::int64_t>(last - first + 1, 0),
                                                      std::memory_order_relaxed);
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    auto& r = parts_[static_cast<std::size_t>(i)];
    const auto begin = std::min(i * setup_.bytes_each, bytes());
    const auto end = std::min(begin + setup_.bytes_each, bytes());
    r.reset();
    r.arrived = {};
    exchange().receive(comm->collective(), r,
                       {bytes_at(begin), static_cast<std::size_t>(end - begin)}, peer_rank(),
                       setup_.first_tag + static_cast<int>(i));
  }
  end_message(setup_how_);
}

partitioned_receive::range partitioned_receive::parts_of(std::int64_t partition) const noexcept {
  return {partition * bytes_each_ / setup_.bytes_each,
          std::min<std::int64_t>(((partition + 1) * bytes_each_ - 1) / setup_.bytes_each,
                                 setup_.partitions - 1)};
}

bool partitioned_receive::on_part(messages::request& r) noexcept {
  auto& self = *static_cast<partitioned_receive*>(r.owner);
  auto how = r.arrived.how;
  if (how == outcome::ok) {
    if (static_cast<std::int64_t>(r.arrived.bytes) != self.setup_.bytes_each) how = outcome::failed;
    else self.arrived(r);
  }
  self.end_message(how);
  return false;
}

/// Marks the partitions here that are complete with this message.
void partitioned_receive::arrived(const messages::request& r) noexcept {
  if (setup_.bytes_each == 0 || bytes_each_ == 0) return;  // they are there with the last message
  const std::int64_t begin = (&r - parts_.get()) * setup_.bytes_each;
  const std::int64_t end = std::min(begin + setup_.bytes_each, bytes());
  for (auto j = begin / bytes_each_; j * bytes_each_ < end; ++j) {
    auto& own = own_[static_cast<std::size_t>(j)];
    // Release and acquire: the last message of a partition sees the bytes of the others.
    if (own.missing.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    unpack(static_cast<int>(j));
    own.is_here.store(true, std::memory_order_release);  // (H)
  }
}

bool partitioned_receive::has_arrived(int partition) const noexcept {
  if (!active || pending == nullptr) return true;
  const auto& own = own_[static_cast<std::size_t>(partition)];
  return own.is_here.load(std::memory_order_acquire) || done_.test();  // (H): sees the data
}

int partitioned_receive::finish(MPI_Status& status) {
  if (pending == nullptr) {
    set_status_no_process(status);
    return MPI_SUCCESS;
  }
  if (traced_) [[unlikely]] {
    if (how() == outcome::ok) trace_parts({0, setup_.partitions - 1});
    trace_end();
  }
  const auto received = std::min(bytes(), setup_.partitions * setup_.bytes_each);
  set_status(status, peer_, tag_, how() == outcome::ok ? received : 0);
  return code_of(
      {.source = peer_, .tag = tag_, .bytes = static_cast<std::size_t>(bytes()), .how = how()},
      *comm, true);
}

void partitioned_receive::release() noexcept {
  // A sender that never came, or whose message is just being looked at by another thread.
  if (has_peer()) {
    const auto is_here = [&] {
      return (state_.load(std::memory_order_acquire) & setup_is_here) != 0;  // (S)
    };
    if (!is_here()) exchange().cancel(setup_received_);
    while (!is_here()) engine().poll();
  }
  pool<partitioned_receive>::all().drop(this);
}

}  // namespace headway::mpi

void headway_attach_to_partitions(MPI_Request request, headway::mpi::partition_attachment* what) {
  using namespace headway::mpi;
  static_cast<partitioned_request*>(find<headway::mpi::request>(request))
      ->attach(std::unique_ptr<partition_attachment>(what));
}
