#include "mpi/one_sided/epochs.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "messages/numbers.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/point_to_point/waiting.hpp"

namespace headway::mpi {
namespace {

using windows::lock_type;
using windows::status;

[[nodiscard]] epoch_answer answer_of(status how) noexcept {
  return how == status::lost ? epoch_answer::lost : epoch_answer::ok;
}

}  // namespace

epochs::epochs(windows::window& of, messages::context& context)
    : window_(of),
      context_(context),
      signals_(of.signals()),
      access_(static_cast<std::size_t>(of.size())) {
  HEADWAY_ASSERT(of.size() == context.members->size());
}

epoch_answer epochs::admit_without_lock(int rank) {
  if (all_ == all_locks::unchecked) return epoch_answer::ok;
  if (fenced_.load(std::memory_order_relaxed)) return epoch_answer::ok;  // as in `end_fences`
  if (all_ == all_locks::none) return epoch_answer::refused;
  const base::lock_guard held(taking_);
  if (get(rank) != access::none) return epoch_answer::ok;
  const auto taken = window_.lock(rank, lock_type::shared);
  if (taken == status::lost) return epoch_answer::lost;
  set(rank, access::held_shared);
  return epoch_answer::ok;
}

bool epochs::is_passive(int rank) const noexcept {
  const auto now = get(rank);
  return all_ != all_locks::none || (now != access::none && now != access::started);
}

bool epochs::has_access() const noexcept {
  for (int rank = 0; rank < window_.size(); ++rank)
    if (get(rank) != access::none) return true;
  return false;
}

bool epochs::is_idle() const noexcept {
  return all_ == all_locks::none && !started_any_ && !posted_any_ && !has_access();
}

// ---- passive target -----------------------------------------------------------------------------

epoch_answer epochs::lock(int rank, lock_type how, bool checked) {
  if (all_ != all_locks::none || started_any_ || get(rank) != access::none)
    return epoch_answer::refused;
  end_fences();
  if (!checked) {
    set(rank, access::unchecked);
    return epoch_answer::ok;
  }
  const auto taken = window_.lock(rank, how);
  if (taken == status::lost) return epoch_answer::lost;
  set(rank, how == lock_type::shared ? access::held_shared : access::held_exclusive);
  return epoch_answer::ok;
}

epoch_answer epochs::unlock(int rank, status& how) {
  const auto now = get(rank);
  if (all_ != all_locks::none || now == access::none || now == access::started)
    return epoch_answer::refused;
  set(rank, access::none);
  if (now == access::unchecked) {
    how = window_.flush(rank);
  } else {
    how =
        window_.unlock(rank, now == access::held_shared ? lock_type::shared : lock_type::exclusive);
  }
  return answer_of(how);
}

epoch_answer epochs::lock_all(bool checked) {
  if (all_ != all_locks::none || started_any_ || has_access()) return epoch_answer::refused;
  end_fences();
  all_ = checked ? all_locks::when_used : all_locks::unchecked;
  return epoch_answer::ok;
}

epoch_answer epochs::unlock_all(status& how) {
  if (all_ == all_locks::none) return epoch_answer::refused;
  how = status::ok;
  if (all_ == all_locks::unchecked) how = window_.flush_all();
  for (int rank = 0; rank < window_.size(); ++rank) {
    if (get(rank) == access::none) continue;
    HEADWAY_ASSERT(get(rank) == access::held_shared);
    set(rank, access::none);
    how = std::max(how, window_.unlock(rank, lock_type::shared));
  }
  all_ = all_locks::none;
  return answer_of(how);
}

// ---- active target ------------------------------------------------------------------------------

bool epochs::fence(bool begins) noexcept {
  if (!is_idle()) return false;
  fenced_.store(begins, std::memory_order_relaxed);  // as in `end_fences`
  return true;
}

void epochs::receive_from(int rank, int tag, requests& into) {
  into.push_back(std::make_unique<messages::request>());
  exchange().receive(context_, *into.back(), {}, rank, tag);
}

void epochs::send_to(int rank, int tag, requests& sent) {
  sent.push_back(std::make_unique<messages::request>());
  exchange().send(context_, *sent.back(), {}, rank, tag);
}

bool epochs::await(requests& all) {
  bool well = true;
  for (const auto& each : all) {
    engine().wait(*each);
    well = well && each->arrived.how == messages::outcome::ok;
  }
  all.clear();
  return well;
}

epoch_answer epochs::start(std::vector<int> targets, bool checked) {
  if (started_any_ || all_ != all_locks::none || has_access()) return epoch_answer::refused;
  started_any_ = true;
  end_fences();
  started_ = std::move(targets);
  if (checked && !await_posts()) {
    started_any_ = false;
    return epoch_answer::lost;
  }
  for (const int rank : started_) set(rank, access::started);
  return epoch_answer::ok;
}

bool epochs::await_posts() {
  requests posts;
  for (const int rank : started_) {
    if (is_told_in_memory(rank)) signals_->expect_post(rank);
    else receive_from(rank, messages::window_post_tag, posts);
  }
  const bool told = signals_ == nullptr || signals_->await_posts() != status::lost;
  return await(posts) && told;
}

epoch_answer epochs::complete(status& how) {
  if (!started_any_) return epoch_answer::refused;
  how = status::ok;
  std::vector<int> told_by_requests;
  for (const int rank : std::exchange(started_, {})) {
    HEADWAY_ASSERT(get(rank) == access::started);
    set(rank, access::none);
    if (!is_told_in_memory(rank)) {
      told_by_requests.push_back(rank);
      continue;
    }
    how = std::max(how, window_.complete(rank));
    signals_->tell_complete(rank);
  }
  if (!told_by_requests.empty()) how = std::max(how, window_.end_accesses(told_by_requests));
  started_any_ = false;
  return answer_of(how);
}

epoch_answer epochs::post(std::vector<int> origins, bool checked) {
  if (posted_any_) return epoch_answer::refused;
  posted_any_ = true;
  posted_ = std::move(origins);
  windows::window::publish_memory();
  requests sent;
  for (const int rank : posted_) {
    if (is_told_in_memory(rank)) {
      signals_->expect_complete(rank);
      if (checked) signals_->tell_post(rank);
    } else {
      window_.ends().expect(rank);
      if (checked) send_to(rank, messages::window_post_tag, sent);
    }
  }
  if (await(sent)) return epoch_answer::ok;
  static_cast<void>(wait());  // the loss ends it, too
  return epoch_answer::lost;
}

epoch_answer epochs::wait() {
  if (!posted_any_) return epoch_answer::refused;
  posted_any_ = false;
  const auto in_memory = signals_ ? signals_->await_completes() : status::ok;
  const auto by_requests = window_.ends().await();
  windows::window::take_in_memory();
  return answer_of(std::max(in_memory, by_requests));
}

epoch_answer epochs::test(bool& is_over) {
  if (!posted_any_) return epoch_answer::refused;
  const auto under_way = [this] {
    return (signals_ != nullptr && !signals_->has_completes()) || !window_.ends().has_all();
  };
  poll_while(under_way);
  is_over = !under_way();
  return is_over ? wait() : epoch_answer::ok;
}

}  // namespace headway::mpi
