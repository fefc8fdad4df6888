#include "endpoints/delivery/dispatcher.hpp"

#include <sched.h>

#include <ctime>
#include <utility>

namespace headway::endpoints {
namespace {

constexpr std::size_t messages_in_turn = 32;
constexpr int idle_rounds_max = 1'000;  // of a loop, until it checks whether to go on

}  // namespace

void dispatcher::choose(policy how) {
  policy_.store(how, std::memory_order_relaxed);  // a setting
  if (polls()) start_thread();
  ring();
}

void dispatcher::opened() noexcept {
  if (endpoints.fetch_add(1, std::memory_order_relaxed) == 0 && polls()) ring();
}

void dispatcher::ring() noexcept {
  progress::completion* bell = nullptr;
  {
    const base::lock_guard guard(lock_);
    bell = std::exchange(bell_, nullptr);
  }
  if (bell) bell->complete();
}

bool dispatcher::polls() const noexcept {
  const auto how = policy_.load(std::memory_order_relaxed);  // a setting
  return how == policy::pause || how == policy::yield || how == policy::loop;
}

void dispatcher::need_thread() {
  {
    const base::lock_guard guard(lock_);
    handlers_ = true;
    has_handlers_.store(true, std::memory_order_relaxed);
  }
  start_thread();
}

/// A thread that retires decides this under `lock_`: it has seen every earlier setting, or is
/// itself seen.
void dispatcher::start_thread() {
  const base::lock_guard held(lifetime_);
  bool over = false;
  {
    const base::lock_guard guard(lock_);
    over = std::exchange(retired_, false);
  }
  if (over) thread_.join();
  if (!thread_.joinable() && !stopping_.load(std::memory_order_relaxed))  // under the mutex
    thread_ = std::thread([this] { main(); });
}

void dispatcher::ready(local_endpoint& e) noexcept {
  progress::completion* bell = nullptr;
  {
    const base::lock_guard guard(lock_);
    ready_.push_back(e);
    bell = std::exchange(bell_, nullptr);
  }
  if (bell) bell->complete();
}

std::size_t dispatcher::run(std::size_t most) noexcept {
  std::size_t count = 0;
  while (count < most) {
    local_endpoint* e = nullptr;
    {
      const base::lock_guard guard(lock_);
      e = ready_.pop_front();
    }
    if (!e) break;
    message what;
    handler by;
    std::size_t turn = 0;
    for (; turn < messages_in_turn; ++turn) {
      if (!source_.take_for_handler(*e, what, by)) break;  // `e` is runnable no more
      by.call(by, what);
    }
    count += turn;
    if (turn < messages_in_turn) continue;
    const base::lock_guard guard(lock_);
    ready_.push_back(*e);  // others first
  }
  return count;
}

std::size_t dispatcher::help(unsigned rounds) noexcept {
  std::size_t count = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    engine_.poll();
    count += run(messages_in_turn);
  }
  return count;
}

void dispatcher::main() noexcept {
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (run(SIZE_MAX / 2) != 0) {
      gap_.message(engine_.clock().now_ns());
      continue;
    }
    if (!looks_on() || endpoints.load(std::memory_order_relaxed) == 0) {
      if (retires()) return;
      sleep_until_ready();
      continue;
    }
    for (int i = 0; i < idle_rounds_max && looks_on(); ++i) {
      const bool moved = engine_.poll();
      if (run(messages_in_turn) != 0) gap_.message(engine_.clock().now_ns());
      else if (!moved) step(next());
    }
  }
}

between_looks dispatcher::next() const noexcept {
  const auto how = policy_.load(std::memory_order_relaxed);  // a setting
  const bool most =
      most_wait(waiting.load(std::memory_order_relaxed), endpoints.load(std::memory_order_relaxed));
  if (how != policy::automatic) return next_step(how, {.most_wait = most});
  return next_step(how, {.gap_ns = gap_.at(engine_.clock().now_ns()),
                         .most_wait = most,
                         .spare = engine_.spare_hands().idle > 0});
}

/// For the dispatcher's own thread: `polls` is what the policy alone would do.
bool dispatcher::looks_on() const noexcept {
  if (polls()) return true;
  const auto how = policy_.load(std::memory_order_relaxed);  // a setting
  return how == policy::automatic && next() != between_looks::sleep;
}

void dispatcher::step(between_looks what) noexcept {
  switch (what) {
    case between_looks::pause: {
      const timespec rest{0, dispatch_pause_ns};
      nanosleep(&rest, nullptr);
      return;
    }
    case between_looks::yield:
      sched_yield();
      return;
    case between_looks::sleep:  // ends the rounds: see `main`
    case between_looks::nothing:
      return;
  }
}

/// The thread ends when it is not needed: as one more waiting thread it would slow the others.
bool dispatcher::retires() noexcept {
  const base::lock_guard guard(lock_);
  if (polls() || handlers_) return false;
  return retired_ = true;
}

/// Until something is ready, the policy changes, or `stop`. Waits at the engine: the thread polls
/// while messages come quickly, and sleeps otherwise.
void dispatcher::sleep_until_ready() noexcept {
  progress::completion bell;
  {
    const base::lock_guard guard(lock_);
    if (!ready_.empty() || stopping_.load(std::memory_order_relaxed)) return;
    bell_ = &bell;
  }
  engine_.wait(bell);
}

void dispatcher::stop() noexcept {
  progress::completion* bell = nullptr;
  {
    const base::lock_guard guard(lock_);
    stopping_.store(true, std::memory_order_relaxed);  // under the lock
    bell = std::exchange(bell_, nullptr);
  }
  if (bell) bell->complete();
  const base::lock_guard held(lifetime_);
  if (thread_.joinable()) thread_.join();
}

}  // namespace headway::endpoints
