// headway/progress.h: ltasks and waiting for them.

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "c_api/progress/library.hpp"
#include "c_api/progress/task.hpp"
#include "progress/completion/overflow_waiters.hpp"

namespace headway::progress_api {
namespace {

using progress::completion;

// Initial-exec: one load instead of a call.
constinit thread_local const headway_progress_scheduler* scheduler
    __attribute__((tls_model("initial-exec"))) = nullptr;

std::uint64_t deadline_after(std::uint64_t limit_ns) noexcept {
  const auto now = base::machine_now_ns();
  return limit_ns > base::no_deadline - now ? base::no_deadline : now + limit_ns;
}

int bad_attributes(const headway_ltask_attributes* a) {
  const auto misuse = [](const std::string& why) {
    return fail(HEADWAY_PROGRESS_MISUSE, "headway_ltask_init", why);
  };
  if (!a) return misuse("no attributes");
  if (a->size != sizeof *a)
    return misuse(fmt::format("attributes.size is {}, not {}", a->size, sizeof *a));
  if (!a->name) return misuse("an ltask needs a name");
  if (!a->run) return misuse(fmt::format("ltask '{}' has no function to run", a->name));
  if (a->place < HEADWAY_LTASK_PLACE_SUBMITTER)
    return misuse(fmt::format("ltask '{}' has place {}", a->name, a->place));
  if (a->kind == HEADWAY_LTASK_ONE_SHOT && (a->descriptor >= 0 || a->block || a->patient))
    return misuse(
        fmt::format("ltask '{}' runs once, and yet has what repeat ltasks have", a->name));
  return HEADWAY_PROGRESS_OK;
}

[[gnu::cold]] int not_ready(const task_host* user, const char* call) noexcept {
  if (!user) return not_started(call);
  return fail(HEADWAY_PROGRESS_MISUSE, call,
              "not an ltask: headway_ltask_init was not called, or it was destroyed");
}

/// OK, with `user` set, if the library is started and the storage holds a task; else MISUSE.
inline int ready(const headway_ltask* storage, const char* call, task_host*& user) noexcept {
  user = host();
  if (!user || !storage || !task::of(storage).alive()) [[unlikely]]
    return not_ready(user, call);
  return HEADWAY_PROGRESS_OK;
}

[[gnu::noinline]] int other_status(task_answer answer, const task& t, const char* call) {
  switch (answer) {
    case task_answer::ok:
    case task_answer::ended:
      return HEADWAY_PROGRESS_ENDED;
    case task_answer::was_busy:
      return fail(HEADWAY_PROGRESS_MISUSE, call,
                  fmt::format("ltask '{}' is submitted already", t.name()));
    case task_answer::was_not_busy:
      break;
  }
  return fail(HEADWAY_PROGRESS_MISUSE, call,
              fmt::format("ltask '{}' was never submitted", t.name()));
}

int status_of(task_answer answer, const task& t, const char* call) noexcept {
  return answer == task_answer::ok ? HEADWAY_PROGRESS_OK : other_status(answer, t, call);
}

bool first_done(std::span<completion* const> all, std::size_t& index) noexcept {
  for (index = 0; index < all.size(); ++index)
    if (all[index] && all[index]->test()) return true;
  return false;
}

/// Waits in a user-level thread, through its scheduler's hooks.
int wait_scheduled(std::span<completion* const> any, std::uint64_t deadline, std::size_t& index,
                   void* self) noexcept {
  const auto& by = *scheduler;
  struct sleeper {
    const headway_progress_scheduler& by;
    void* self;
  } me{by, self};
  progress::overflow_waiter second;
  second.what = any.size() == 1 ? any[0] : nullptr;
  second.tell = [](void* sleeping) noexcept {
    const auto& s = *static_cast<sleeper*>(sleeping);
    s.by.wake(s.self);
  };
  second.argument = &me;
  progress::overflow().join(second);
  bool done = false;
  for (index = 0; index < any.size() && !done; ++index)
    done = any[index] && any[index]->test_in_overflow();
  if (done) --index;
  for (auto now = base::machine_now_ns(); !done && now < deadline; now = base::machine_now_ns()) {
    by.block(self, deadline == base::no_deadline ? deadline : deadline - now);
    done = first_done(any, index);
  }
  progress::overflow().leave(second);
  return done ? HEADWAY_PROGRESS_OK : HEADWAY_PROGRESS_TIMEOUT;
}

/// Waits for one of several completions, at least one of which is not null.
[[gnu::noinline]] int wait_any(std::span<completion* const> any, std::uint64_t limit_ns,
                               const char* call, std::size_t& index) noexcept {
  if (first_done(any, index)) return HEADWAY_PROGRESS_OK;
  auto* const user = host();
  if (!user) return not_started(call);
  if (const int status = forbid_inside(call)) return status;
  const auto deadline =
      limit_ns == HEADWAY_PROGRESS_FOREVER ? base::no_deadline : deadline_after(limit_ns);
  if (void* self = scheduler ? scheduler->current() : nullptr)
    return wait_scheduled(any, deadline, index, self);
  const auto which = user->home().wait_any_until(any, deadline);
  if (!which) return HEADWAY_PROGRESS_TIMEOUT;
  index = *which;
  return HEADWAY_PROGRESS_OK;
}

int wait_one(headway_ltask* storage, std::uint64_t limit_ns, const char* call) noexcept {
  task_host* user;
  if (const int status = ready(storage, call, user)) return status;
  auto& ended = task::of(storage).ended();
  if (limit_ns == HEADWAY_PROGRESS_FOREVER && !scheduler) [[likely]] {  // the fast path
    if (ended.test()) return HEADWAY_PROGRESS_OK;
    if (const int status = forbid_inside(call)) return status;
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): `ready` was OK, so there is a user
    user->home().wait(ended);
    return HEADWAY_PROGRESS_OK;
  }
  completion* const one[] = {&ended};
  std::size_t index;
  return wait_any(one, limit_ns, call, index);
}

/// The completions of several ltasks: on the stack up to 16, otherwise on the heap.
class gathered {
 public:
  int fill(headway_ltask* const* tasks, std::size_t count, const char* call) {
    if (count > few_.size()) many_.resize(count);
    all_ = count > few_.size() ? std::span(many_) : std::span(few_).first(count);
    for (std::size_t i = 0; i < count; ++i) {
      all_[i] = nullptr;
      if (!tasks[i]) continue;
      task_host* user;
      if (const int status = ready(tasks[i], call, user)) return status;
      all_[i] = &task::of(tasks[i]).ended();
      some_ = true;
    }
    return HEADWAY_PROGRESS_OK;
  }
  [[nodiscard]] bool some() const noexcept { return some_; }
  [[nodiscard]] std::span<completion* const> all() const noexcept { return all_; }

 private:
  std::array<completion*, 16> few_;
  std::vector<completion*> many_;
  std::span<completion*> all_;
  bool some_ = false;
};

}  // namespace
}  // namespace headway::progress_api

using namespace headway;
using namespace headway::progress_api;

extern "C" {

int headway_ltask_init(headway_ltask* storage, const headway_ltask_attributes* attributes) {
  if (!storage) return fail(HEADWAY_PROGRESS_MISUSE, "headway_ltask_init", "no storage");
  if (const int status = bad_attributes(attributes)) return status;
  new (storage) task(*attributes);
  return HEADWAY_PROGRESS_OK;
}

int headway_ltask_destroy(headway_ltask* storage) {
  constexpr auto call = "headway_ltask_destroy";
  if (!storage || !task::of(storage).alive())
    return fail(HEADWAY_PROGRESS_MISUSE, call, "not an ltask, or destroyed already");
  auto& t = task::of(storage);
  if (t.busy())
    return fail(HEADWAY_PROGRESS_MISUSE, call,
                fmt::format("ltask '{}' is submitted; cancel it or wait for it first", t.name()));
  t.retire();
  return HEADWAY_PROGRESS_OK;
}

int headway_ltask_submit(headway_ltask* storage) {
  constexpr auto call = "headway_ltask_submit";
  task_host* user;
  if (const int status = ready(storage, call, user)) return status;
  auto& t = task::of(storage);
  if (t.place() > 0 && t.place() >= headway_progress_place_count()) [[unlikely]]
    return fail(HEADWAY_PROGRESS_MISUSE, call,
                fmt::format("ltask '{}' has place {}, of {}", t.name(), t.place(),
                            headway_progress_place_count()));
  if (t.blocks() && !user->start_thread_once())
    return fail(HEADWAY_PROGRESS_SYSTEM, call, "no thread for blocking forms");
  return status_of(t.submit(*user), t, call);
}

int headway_ltask_cancel(headway_ltask* storage) {
  constexpr auto call = "headway_ltask_cancel";
  task_host* user;
  if (const int status = ready(storage, call, user)) return status;
  if (const int status = forbid_inside(call)) return status;
  return status_of(task::of(storage).cancel(), task::of(storage), call);
}

int headway_ltask_suspend(headway_ltask* storage) {
  constexpr auto call = "headway_ltask_suspend";
  task_host* user;
  if (const int status = ready(storage, call, user)) return status;
  if (const int status = forbid_inside(call)) return status;
  auto& t = task::of(storage);
  return status_of(t.suspend(), t, call);
}

int headway_ltask_ask(headway_ltask* storage) {
  constexpr auto call = "headway_ltask_ask";
  task_host* user;
  if (const int status = ready(storage, call, user)) return status;
  return status_of(task::of(storage).ask(), task::of(storage), call);
}

int headway_ltask_asked(const headway_ltask* storage) { return task::of(storage).asked(); }

int headway_ltask_resume(headway_ltask* storage) {
  constexpr auto call = "headway_ltask_resume";
  task_host* user;
  if (const int status = ready(storage, call, user)) return status;
  return status_of(task::of(storage).resume(), task::of(storage), call);
}

int headway_ltask_test(const headway_ltask* storage) { return !task::of(storage).busy(); }

headway_ltask_outcome headway_ltask_get_outcome(const headway_ltask* storage) {
  return task::of(storage).outcome();
}

int headway_ltask_wait(headway_ltask* storage) {
  return wait_one(storage, HEADWAY_PROGRESS_FOREVER, "headway_ltask_wait");
}

int headway_ltask_wait_for(headway_ltask* storage, uint64_t limit_ns) {
  return wait_one(storage, limit_ns, "headway_ltask_wait_for");
}

int headway_ltask_wait_any(headway_ltask* const* tasks, size_t count, uint64_t limit_ns,
                           size_t* index) {
  constexpr auto call = "headway_ltask_wait_any";
  gathered completions;
  if (const int status = completions.fill(tasks, count, call)) return status;
  if (!completions.some())
    return fail(HEADWAY_PROGRESS_MISUSE, call, "there is nothing to wait for");
  std::size_t which = 0;
  const int status = wait_any(completions.all(), limit_ns, call, which);
  if (status == HEADWAY_PROGRESS_OK && index) *index = which;
  return status;
}

int headway_ltask_wait_all(headway_ltask* const* tasks, size_t count, uint64_t limit_ns) {
  constexpr auto call = "headway_ltask_wait_all";
  const auto deadline =
      limit_ns == HEADWAY_PROGRESS_FOREVER ? base::no_deadline : deadline_after(limit_ns);
  for (std::size_t i = 0; i < count; ++i) {
    if (!tasks[i]) continue;
    const auto now = base::machine_now_ns();
    const auto left = deadline == base::no_deadline ? HEADWAY_PROGRESS_FOREVER
                      : deadline > now              ? deadline - now
                                                    : 0;
    if (const int status = wait_one(tasks[i], left, call)) return status;
  }
  return HEADWAY_PROGRESS_OK;
}

void headway_progress_set_scheduler(const headway_progress_scheduler* s) { scheduler = s; }

}  // extern "C"
