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

bool names::lives(std::uint32_t process) {
  const base::lock_guard guard(lock_);
  return process < living_.size() && living_[process];
}

bool names::ask(question& q, name_head head, std::string_view name, std::uint64_t deadline_ns) {
  {
    const base::lock_guard guard(lock_);
    q.stopped = stopped_;
    if (stopped_) return true;
    head.token = ++tokens_ == 0 ? ++tokens_ : tokens_;  // 0: no question waits for the answer
    q.name = name;
    q.home = home_of(name);
    asked_[head.token] = &q;
  }
  post_.deliver(q.home, head, name);
  if (deadline_ns == UINT64_MAX) {
    engine_.wait(q);
    return true;
  }
  if (engine_.wait_until(q, deadline_ns)) return true;
  {
    const base::lock_guard guard(lock_);
    if (asked_.erase(head.token) != 0) {
      head.kind = wire_kind::name_forget;
    } else {
      head.token = 0;  // the answer has come, and completes it now
    }
  }
  if (head.token == 0) {
    engine_.wait(q);
    return true;
  }
  post_.deliver(q.home, head, name);
  return false;
}

outcome names::claim(std::string_view name, std::uint32_t id, std::uint64_t deadline_ns) {
  for (;;) {
    question q;
    const name_head head{.kind = wire_kind::name_add, .process = self_, .id = id};
    const bool answered = ask(q, head, name, deadline_ns);
    if (q.stopped) return outcome::not_joined;
    if (answered && q.moved) continue;
    if (!answered) {
      give_up(name, id);  // it may have been registered all the same
      return outcome::timed_out;
    }
    if (q.status != status_yes)
      return q.status == status_full ? outcome::no_memory : outcome::taken;
    const base::lock_guard guard(lock_);
    own_.insert_or_assign(std::string(name), id);
    return outcome::ok;
  }
}

void names::give_up(std::string_view name, std::uint32_t id) {
  std::uint32_t home = self_;
  {
    const base::lock_guard guard(lock_);
    const auto found = own_.find(name);
    if (found != own_.end() && found->second == id) own_.erase(found);
    home = home_of(name);
  }
  post_.deliver(home, {.kind = wire_kind::name_remove, .process = self_, .id = id}, name);
}

outcome names::find(std::string_view name, std::uint64_t deadline_ns, address& who) {
  for (;;) {
    {
      const base::lock_guard guard(lock_);
      if (const auto known = known_.find(name); known != known_.end()) {
        who = known->second;
        return outcome::ok;
      }
    }
    const bool waits = deadline_ns != 0;
    question q;
    const name_head head{.kind = wire_kind::name_ask,
                         .status = waits ? when_there_is_one : std::uint8_t{0}};
    const auto until = waits ? deadline_ns : base::now_ns() + answer_ns_max;
    if (!ask(q, head, name, until)) return outcome::timed_out;
    if (q.stopped) return outcome::not_joined;
    if (q.moved) continue;
    if (q.status != status_yes) return outcome::not_found;
    if (lives(q.who.process)) {
      who = q.who;
      return outcome::ok;
    }
    // The keeper does not know yet that the owner is dead.
    if (!waits) return outcome::not_found;
    const auto now = base::now_ns();
    if (now >= deadline_ns) return outcome::timed_out;
    progress::completion nothing;
    static_cast<void>(engine_.wait_until(nothing, std::min(deadline_ns, now + retry_ns)));
  }
}

void names::forget(address who) {
  const base::lock_guard guard(lock_);
  std::erase_if(known_, [&](const auto& one) { return one.second == who; });
}

void names::arrived(std::uint32_t from, const name_head& head, std::string_view name) {
  switch (head.kind) {
    case wire_kind::name_add:
      return add(from, head, name);
    case wire_kind::name_ask: {
      address who;
      {
        const base::lock_guard guard(lock_);
        who = kept_.ask(name, {from, head.token}, head.status == when_there_is_one);
      }
      if (who.id == 0 && head.status == when_there_is_one) return;
      return post_.deliver(from,
                           {.kind = wire_kind::name_told,
                            .status = who.id != 0 ? status_yes : status_no,
                            .token = head.token,
                            .process = who.process,
                            .id = who.id},
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
  const address who{from, head.id};
  std::vector<inquiry> waited;
  auto status = status_no;
  {
    const base::lock_guard guard(lock_);
    if (head.id != 0 && kept_.add(name, who, waited)) {
      status = status_yes;
    } else if (kept_.full()) {
      status = status_full;
    }
  }
  post_.deliver(from, {.kind = wire_kind::name_added, .status = status, .token = head.token}, name);
  for (const inquiry& one : waited)
    post_.deliver(one.process,
                  {.kind = wire_kind::name_told,
                   .status = status_yes,
                   .token = one.token,
                   .process = who.process,
                   .id = who.id},
                  name);
}

void names::remove(std::uint32_t from, const name_head& head, std::string_view name) {
  std::set<std::uint32_t> told;
  {
    const base::lock_guard guard(lock_);
    if (!kept_.remove(name, {from, head.id}, told)) return;
  }
  for (const auto process : told)
    post_.deliver(process, {.kind = wire_kind::name_removed, .process = from, .id = head.id}, name);
}

void names::answer(std::uint32_t from, const name_head& head) {
  question* q = nullptr;
  {
    const base::lock_guard guard(lock_);
    const auto found = asked_.find(head.token);
    if (found == asked_.end() || found->second->home != from) {
      if (head.token == 0 && head.kind == wire_kind::name_added && head.status != status_yes)
        base::log(base::severity::warning,
                  "a name was given to another end-point while its keeper died");
      return;
    }
    q = found->second;
    asked_.erase(found);
    q->status = head.status;
    q->who = {head.process, head.id};
    // Only what was asked for is remembered.
    if (head.kind == wire_kind::name_told && head.status == status_yes &&
        head.process < living_.size() && living_[head.process])
      known_.insert_or_assign(std::string(q->name), q->who);
  }
  q->complete();
}

void names::lost(std::uint32_t process) {
  std::vector<question*> moved;
  std::vector<std::pair<std::string, std::uint32_t>> again;
  std::vector<std::uint32_t> homes;
  {
    const base::lock_guard guard(lock_);
    if (process >= living_.size() || !living_[process]) return;
    for (const auto& one : own_)
      if (home_of(one.first) == process) again.push_back(one);
    living_[process] = false;
    for (const auto& [name, id] : again) homes.push_back(home_of(name));
    kept_.drop_process(process);
    std::erase_if(known_, [&](const auto& one) { return one.second.process == process; });
    std::erase_if(asked_, [&](const auto& one) {
      if (one.second->home != process) return false;
      one.second->moved = true;
      moved.push_back(one.second);
      return true;
    });
  }
  for (std::size_t i = 0; i < again.size(); ++i)
    post_.deliver(homes[i], {.kind = wire_kind::name_add, .process = self_, .id = again[i].second},
                  again[i].first);
  for (question* q : moved) q->complete();
}

void names::stop() {
  std::map<std::uint32_t, question*> all;
  {
    const base::lock_guard guard(lock_);
    stopped_ = true;
    all.swap(asked_);
    for (auto& [token, q] : all) q->stopped = true;
  }
  for (auto& [token, q] : all) q->complete();
}

}  // namespace headway::endpoints
