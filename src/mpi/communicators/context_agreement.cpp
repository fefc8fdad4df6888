#include "mpi/communicators/context_agreement.hpp"

#include "base/assert.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/communicators/incarnations.hpp"
#include "mpi/environment/library.hpp"

namespace headway::mpi {
namespace {

std::uint32_t seed_of(const communicator& parent, int tag) noexcept {
  return parent.id() * 2654435761u + static_cast<std::uint32_t>(tag);
}

}  // namespace

context_ids& all_context_ids() noexcept {
  static constinit context_ids all;
  return all;
}

context_agreement::context_agreement(communicator& parent, processes::membership_ref members,
                                     int tag)
    : parent_(parent),
      members_(std::move(members)),
      me_(members_->rank_of(this_process()).value()),
      tag_(tag),
      choice_(all_context_ids(), seed_of(parent, tag), new_incarnation()) {
  HEADWAY_ASSERT(parent.is_open());
  for (auto* each : {&sent_, &received_}) {
    each->finish = &on_message;
    each->owner = this;
  }
}

void context_agreement::start() noexcept {
  choice_.begin();
  step();
}

int context_agreement::rank_in_parent(int index) const noexcept {
  return members_ == parent_.everybody() ? index
                                         : *parent_.everybody()->rank_of((*members_)[index]);
}

/// Starts the next step of the round, or the next round, or ends the agreement.
void context_agreement::step() noexcept {
  const int n = members_->size();
  while (distance_ >= n) {
    if (choice_.conclude()) return done.complete();  // the waiting thread may then free this object
    distance_ = 1;
  }
  const int to = rank_in_parent((me_ + distance_) % n);
  const int from = rank_in_parent((me_ - distance_ + n) % n);
  // Relaxed: the start of the requests below publishes it to the threads that complete them.
  missing_.store(2, std::memory_order_relaxed);
  sent_.reset();
  received_.reset();
  exchange().receive(parent_.collective(), received_, choice_.incoming(), from, tag_);
  exchange().send(parent_.collective(), sent_, choice_.contribution(), to, tag_);
}

/// Returns false, so that the requests never become complete: the next step uses them again.
bool context_agreement::on_message(messages::request& r) noexcept {
  static_cast<context_agreement*>(r.owner)->arrived(r);
  return false;
}

void context_agreement::arrived(const messages::request& r) noexcept {
  // All messages of a round have one size; any other size is an error of that member.
  const bool well =
      r.arrived.how == messages::outcome::ok && r.arrived.bytes == choice_.contribution().size();
  if (!well) lost_.store(true, std::memory_order_relaxed);  // the counter below carries it
  // (S) release and acquire: the thread that completes second sees what the first one wrote.
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (lost_.load(std::memory_order_relaxed)) {
    choice_.give_up();
    return done.complete();
  }
  choice_.combine();
  distance_ *= 2;
  step();
}

}  // namespace headway::mpi
