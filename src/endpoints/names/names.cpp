#include "endpoints/names/names.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint64_t answer_ns_max = 10'000'000'000;  // of a question that need not wait
constexpr std::uint64_t retry_ns = 1'000'000;            // until the keeper may know of the death
constexpr std::uint8_t status_no = 0, status_yes = 1, status_full = 2;
constexpr std::uint8_t when_there_is_one = 1;  // of a question: answer it then

}  // namespace

names::names(name_transport& post, progress::engine& engine, std::uint32_t self,
             std::uint32_t processes)
    : post_(post), engine_(engine), self_(self), living_(processes, true) {}

std::uint32_t names::home_of(std::string_view name) {
  std::uint32_t best = self_;
  std::uint64_t most = 0;
  for (std::uint32_t p = 0; p < living_.size(); ++p) {
    if (!living_[p]) continue;
    const auto score = score_of(name, p);
    if (score < most) continue;
    most = score;
    best = p;
  }
  return best;
}

/// Under a new token, so that a late answer of an earlier home is not taken for this one's.
names::letter names::address_to_home(question& q) {
  q.head_.token = ++tokens_ == 0 ? ++tokens_ : tokens_;  // 0: no question waits for the answer
  q.home_ = home_of(q.name_);
  asked_[q.head_.token] = &q;
  return {q.home_, q.head_, q.name_};
}

void names::ask(question& q) {
  letter out;
  bool stopped = false;
  {
    const base::lock_guard guard(lock_);
    stopped = stopped_;
    if (!stopped) out = address_to_home(q);
  }
  if (!stopped) return post_.deliver(out.to, out.head, out.name);
  q.how = outcome::not_joined;
  q.complete();
}

void names::start_claim(question& q, std::string_view name, std::uint32_t id) {
  q.name_ = name;
  q.head_ = {.kind = wire_kind::name_add, .process = self_, .id = id};
  ask(q);
}

void names::start_find(question& q, std::string_view name, bool waits) {
  bool known = false;
  {
    const base::lock_guard guard(lock_);
    const auto found = known_.find(name);
    known = found != known_.end();
    if (known) q.owner = found->second;
  }
  if (known) return q.complete();
  q.name_ = name;
  q.head_ = {.kind = wire_kind::name_ask, .status = waits ? when_there_is_one : std::uint8_t{0}};
  ask(q);
}

bool names::cancel(question& q) {
  auto head = q.head_;
  std::uint32_t home = 0;
  {
    const base::lock_guard guard(lock_);
    if (asked_.erase(q.head_.token) == 0) return false;  // the answer has come, and completes it
    head = q.head_;
    home = q.home_;
  }
  if (head.kind == wire_kind::name_add) {
    give_up(q.name_, head.id);  // it may have been registered all the same
  } else {
    head.kind = wire_kind::name_forget;
    post_.deliver(home, head, q.name_);
  }
  return true;
}

outcome names::wait(question& q, std::uint64_t deadline_ns) {
  if (deadline_ns != UINT64_MAX && !engine_.wait_until(q, deadline_ns) && cancel(q))
    return outcome::timed_out;
  engine_.wait(q);
  return q.how;
}

outcome names::claim(std::string_view name, std::uint32_t id, std::uint64_t deadline_ns) {
  question q;
  start_claim(q, name, id);
  return wait(q, deadline_ns);
}

void names::give_up(std::string_view name, std::uint32_t id) {
  std::uint32_t home;
  {
    const base::lock_guard guard(lock_);
    const auto found = own_.find(name);
    if (found != own_.end() && found->second == id) own_.erase(found);
    home = home_of(name);
  }
  post_.deliver(home, {.kind = wire_kind::name_remove, .process = self_, .id = id}, name);
}

outcome names::find(std::string_view name, std::uint64_t deadline_ns, address& owner) {
  const bool waits = deadline_ns != 0;
  for (;;) {
    question q;
    start_find(q, name, waits);
    const auto how = wait(q, waits ? deadline_ns : engine_.clock().now_ns() + answer_ns_max);
    owner = q.owner;
    if (!q.stale || !waits) return how;
    const auto now = engine_.clock().now_ns();
    if (now >= deadline_ns) return outcome::timed_out;
    progress::completion nothing;
    static_cast<void>(engine_.wait_until(nothing, std::min(deadline_ns, now + retry_ns)));
  }
}

void names::forget(address owner) {
  const base::lock_guard guard(lock_);
  std::erase_if(known_, [&](const auto& one) { return one.second == owner; });
}

void names::arrived(std::uint32_t from, const name_head& head, std::string_view name) {
  switch (head.kind) {
    case wire_kind::name_add:
      return add(from, head, name);
    case wire_kind::name_ask: {
      address owner;
      {
        const base::lock_guard guard(lock_);
        owner = kept_.ask(name, {from, head.token}, head.status == when_there_is_one);
      }
      if (owner.id == 0 && head.status == when_there_is_one) return;
      return post_.deliver(from,
                           {.kind = wire_kind::name_told,
                            .status = owner.id != 0 ? status_yes : status_no,
                            .token = head.token,
                            .process = owner.process,
                            .id = owner.id},
                           name);
    }
    case wire_kind::name_forget: {
      const base::lock_guard guard(lock_);
      return kept_.forget({from, head.token});
    }
    case wire_kind::name_remove:
      return remove(from, head, name);
    case wire_kind::name_removed: {
      const base::lock_guard guard(lock_);
      const auto known = known_.find(name);
      if (known != known_.end() && known->second == address{head.process, head.id})
        known_.erase(known);
      return;
    }
    case wire_kind::name_told:
    case wire_kind::name_added:
      return answer(from, head);
    default:
      return;
  }
}

void names::add(std::uint32_t from, const name_head& head, std::string_view name) {
  const address owner{from, head.id};
  std::vector<inquiry> lookups;
  auto status = status_no;
  {
    const base::lock_guard guard(lock_);
    if (head.id != 0 && kept_.add(name, owner, lookups)) {
      status = status_yes;
    } else if (kept_.full()) {
      status = status_full;
    }
  }
  post_.deliver(from, {.kind = wire_kind::name_added, .status = status, .token = head.token}, name);
  for (const inquiry& one : lookups)
    post_.deliver(one.process,
                  {.kind = wire_kind::name_told,
                   .status = status_yes,
                   .token = one.token,
                   .process = owner.process,
                   .id = owner.id},
                  name);
}

void names::remove(std::uint32_t from, const name_head& head, std::string_view name) {
  std::set<std::uint32_t> caching;
  {
    const base::lock_guard guard(lock_);
    if (!kept_.remove(name, {from, head.id}, caching)) return;
  }
  for (const auto process : caching)
    post_.deliver(process, {.kind = wire_kind::name_removed, .process = from, .id = head.id}, name);
}

void names::answer(std::uint32_t from, const name_head& head) {
  question* q = nullptr;
  {
    const base::lock_guard guard(lock_);
    const auto found = asked_.find(head.token);
    if (found == asked_.end() || found->second->home_ != from) {
      if (head.token == 0 && head.kind == wire_kind::name_added && head.status != status_yes)
        base::log(base::severity::warning,
                  "a name was given to another end-point while its keeper died");
      return;
    }
    q = found->second;
    asked_.erase(found);
    note_answer(*q, head);
  }
  q->complete();
}

/// Only what was asked for is remembered.
void names::note_answer(question& q, const name_head& head) {
  const bool yes = head.status == status_yes;
  if (q.head_.kind == wire_kind::name_add) {
    q.how = yes ? outcome::ok : head.status == status_full ? outcome::no_memory : outcome::taken;
    if (yes) own_.insert_or_assign(q.name_, q.head_.id);
    return;
  }
  const bool lives = head.process < living_.size() && living_[head.process];
  q.stale = yes && !lives;
  q.how = yes && lives ? outcome::ok : outcome::not_found;
  if (q.how != outcome::ok) return;
  q.owner = {head.process, head.id};
  known_.insert_or_assign(q.name_, q.owner);
}

/// Its own names and the questions that it kept go to the processes that keep those names now.
void names::lost(std::uint32_t process) {
  std::vector<letter> out;
  {
    const base::lock_guard guard(lock_);
    if (process >= living_.size() || !living_[process]) return;
    std::vector<std::pair<std::string, std::uint32_t>> again;
    for (const auto& one : own_)
      if (home_of(one.first) == process) again.push_back(one);
    living_[process] = false;
    for (const auto& [name, id] : again)
      out.push_back(
          {home_of(name), {.kind = wire_kind::name_add, .process = self_, .id = id}, name});
    kept_.drop_process(process);
    std::erase_if(known_, [&](const auto& one) { return one.second.process == process; });
    std::vector<question*> moved;
    std::erase_if(asked_, [&](const auto& one) {
      if (one.second->home_ != process) return false;
      moved.push_back(one.second);
      return true;
    });
    for (question* q : moved) out.push_back(address_to_home(*q));
  }
  for (const auto& one : out) post_.deliver(one.to, one.head, one.name);
}

void names::stop() {
  std::map<std::uint32_t, question*> all;
  {
    const base::lock_guard guard(lock_);
    stopped_ = true;
    all.swap(asked_);
    for (auto& [token, q] : all) q->how = outcome::not_joined;
  }
  for (auto& [token, q] : all) q->complete();
}

}  // namespace headway::endpoints
