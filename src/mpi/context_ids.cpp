#include "mpi/context_ids.hpp"

#include <bit>
#include <cstring>
#include <mutex>
#include <span>

#include "base/spinlock.hpp"
#include "mpi/communicator.hpp"
#include "mpi/library.hpp"

namespace headway::mpi {
namespace {

constexpr std::uint32_t id_count = static_cast<std::uint32_t>(context_id_words * 64);

struct id_table {
  base::spinlock lock;
  std::array<std::uint64_t, context_id_words> free;

  id_table() {
    free.fill(~std::uint64_t{0});
    free[0] &= ~std::uint64_t{15};  // those above
  }
};

id_table& ids() noexcept {
  static auto* const made = new id_table;
  return *made;
}

bool reserve(std::uint32_t id) noexcept {
  auto& all = ids();
  const std::scoped_lock held(all.lock);
  const std::uint64_t bit = std::uint64_t{1} << (id % 64);
  const bool was_free = (all.free[id / 64] & bit) != 0;
  all.free[id / 64] &= ~bit;
  return was_free;
}

}  // namespace

void give_back_context_id(std::uint32_t id) noexcept {
  if (id <= context_id_endpoints) return;
  auto& all = ids();
  const std::scoped_lock held(all.lock);
  all.free[id / 64] |= std::uint64_t{1} << (id % 64);
}

context_agreement::context_agreement(communicator& parent, std::vector<int> members, int me,
                                     int tag)
    : parent_(parent), members_(std::move(members)), me_(me), tag_(tag) {
  for (auto* each : {&sent_, &received_}) {
    each->finish = &on_message;
    each->owner = this;
  }
}

void context_agreement::start() noexcept { begin(round::choose); }

void context_agreement::begin(round which) noexcept {
  round_ = which;
  distance_ = 1;
  if (which == round::choose) {
    words_ = context_id_words;
    auto& all = ids();
    const std::scoped_lock held(all.lock);
    mine_ = all.free;
  } else {
    words_ = 1;
    reserved_ = reserve(id_);
    mine_[0] = reserved_ ? 1 : 0;
  }
  step();
}

/// One step of the dissemination, or the end of the round.
void context_agreement::step() noexcept {
  const int n = static_cast<int>(members_.size());
  if (distance_ >= n || lost_) return conclude();
  const int to = members_[static_cast<std::size_t>((me_ + distance_) % n)];
  const int from = members_[static_cast<std::size_t>((me_ - distance_ + n) % n)];
  const std::size_t bytes = words_ * sizeof(std::uint64_t);
  // Relaxed: the start of the requests below publishes it to whoever completes them.
  missing_.store(2, std::memory_order_relaxed);
  sent_.reset();
  received_.reset();
  auto& exchange = mpi::exchange();
  exchange.receive(parent_.collective(), received_,
                   std::as_writable_bytes(std::span(theirs_.data(), bytes / 8)), from, tag_);
  exchange.send(parent_.collective(), sent_, std::as_bytes(std::span(mine_.data(), bytes / 8)), to,
                tag_);
}

/// Both requests stay ours: they are used again in the next step, so none ever becomes complete.
bool context_agreement::on_message(messages::request& r) noexcept {
  static_cast<context_agreement*>(r.owner)->arrived(r);
  return false;
}

void context_agreement::arrived(const messages::request& r) noexcept {
  if (r.arrived.how != messages::outcome::ok) lost_ = true;
  // Release and acquire: the second of the two sees what the first one left (S).
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  combine();
  distance_ *= 2;
  step();
}

void context_agreement::combine() noexcept {
  if (lost_) return;
  for (std::size_t i = 0; i < words_; ++i) mine_[i] &= theirs_[i];
}

void context_agreement::conclude() noexcept {
  if (round_ == round::choose) {
    choose();
  } else {
    confirm();
  }
}

void context_agreement::choose() noexcept {
  id_ = context_id_none;
  if (lost_) return end();
  // The first try takes the lowest number; later ones start where others hardly look.
  const auto start = attempt_ == 0
                         ? 0u
                         : (static_cast<std::uint32_t>(tag_) * 2654435761u + parent_.id() * 40503u +
                            static_cast<std::uint32_t>(attempt_) * 977u) %
                               id_count / 64;
  for (std::size_t i = 0; i < context_id_words; ++i) {
    const std::size_t word = (start + i) % context_id_words;
    if (mine_[word] == 0) continue;
    id_ = static_cast<std::uint32_t>(word * 64) +
          static_cast<std::uint32_t>(std::countr_zero(mine_[word]));
    break;
  }
  if (id_ == context_id_none) return end();
  begin(round::confirm);
}

void context_agreement::confirm() noexcept {
  if (!lost_ && mine_[0] == 1) return end();
  if (reserved_) give_back_context_id(id_);
  ++attempt_;
  if (lost_) {
    id_ = context_id_none;
    return end();
  }
  begin(round::choose);
}

/// The last touch: whoever waits may free us at once.
void context_agreement::end() noexcept { done.complete(); }

}  // namespace headway::mpi
