#include "c_api/endpoints/calls.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "c_api/shared_runtime/shared_runtime.hpp"
#include "endpoints/service.hpp"

namespace headway::endpoint_api {
namespace {

using endpoints::outcome;
using endpoints::service;

static_assert(static_cast<int>(outcome::not_joined) == HEADWAY_NOT_JOINED);
static_assert(static_cast<int>(outcome::gone) == HEADWAY_GONE);
static_assert(endpoints::any_tag == HEADWAY_ANY_TAG);

constexpr std::uint64_t open_limit_ns =
    60'000'000'000;  // for the process that keeps the name to answer

base::mutex leaving;   // cold; before the other
base::mutex lifetime;  // cold: joining and leaving
bool left HEADWAY_GUARDED_BY(lifetime) = false;
std::string why_not HEADWAY_GUARDED_BY(lifetime);  // joining failed; only headway_join tries again
// (J): release in `join_job` -> acquire in `joined`: the service is visible as constructed.
std::atomic<service*> the_service{nullptr};

std::string& error() {
  static thread_local std::string text;
  return text;
}

int fail(outcome how, std::string text) {
  HEADWAY_ASSERT(how != outcome::ok);
  error() = std::move(text);
  return static_cast<int>(how);
}

base::result<> leave_job();

/// After a fork: the service belongs to the parent. Relaxed: a child has one thread.
void in_child() noexcept { the_service.store(nullptr, std::memory_order_relaxed); }

service* join_job(bool again) {
  if (shared_runtime::in_forked_child()) {
    error() = shared_runtime::forked_child_text;
    return nullptr;
  }
  const base::lock_guard held(lifetime);
  if (service* s = the_service.load(std::memory_order_relaxed)) return s;  // under the lock
  if (left) {
    error() = "this process has left its job";
    return nullptr;
  }
  if (!why_not.empty() && !again) {
    error() = why_not;
    return nullptr;
  }
  auto runtime = shared_runtime::hold();
  if (!runtime) {
    why_not = runtime.error().text;
    error() = why_not;
    return nullptr;
  }
  HEADWAY_ASSERT(*runtime);
  // At exit the main thread's error text is destroyed: the result is not reported.
  static const bool asked = std::atexit([] { static_cast<void>(leave_job()); }) == 0;
  static const int registered = pthread_atfork(nullptr, nullptr, &in_child);
  static_cast<void>(asked);
  static_cast<void>(registered);
  the_service.store(&(*runtime)->endpoints(), std::memory_order_release);  // (J)
  return &(*runtime)->endpoints();
}

service* joined() {
  service* s = the_service.load(std::memory_order_acquire);  // (J)
  return s ? s : join_job(false);
}

int join() { return join_job(true) ? HEADWAY_OK : HEADWAY_NOT_JOINED; }

base::result<> leave_job() {
  if (shared_runtime::in_forked_child()) return {};
  const base::lock_guard one_at_a_time(leaving);
  {
    const base::lock_guard held(lifetime);
    left = true;
  }
  service* s = the_service.load(std::memory_order_acquire);  // (J)
  if (!s) return {};
  s->stop();  // without `lifetime`: handlers that run now may call this library
  the_service.store(nullptr, std::memory_order_relaxed);  // carries nothing
  return shared_runtime::let_go();
}

int leave() {
  if (shared_runtime::in_forked_child())
    return fail(outcome::not_joined, shared_runtime::forked_child_text);
  auto stopped = leave_job();
  return stopped ? HEADWAY_OK : fail(outcome::not_joined, stopped.error().text);
}

std::uint64_t deadline_of(std::int64_t limit) noexcept {
  if (limit == 0) return endpoints::no_wait;
  return limit < 0 ? endpoints::for_ever
                   : base::machine_now_ns() + static_cast<std::uint64_t>(limit);
}

[[gnu::noinline]] int answer_otherwise(outcome how, const char* call) {
  if (how == outcome::again || how == outcome::timed_out) return static_cast<int>(how);
  if (how == outcome::misuse)
    return fail(how, fmt::format("{}: {}", call, text_of(service::last_wrong())));
  return fail(how, fmt::format("{}: {}", call, headway_status_text(static_cast<int>(how))));
}

int answer(outcome how, const char* call) {
  return how == outcome::ok ? HEADWAY_OK : answer_otherwise(how, call);
}

int bad(const char* call, const char* what) {
  return fail(outcome::bad_argument, fmt::format("{}: {}", call, what));
}

[[gnu::hot]] int request(std::size_t bytes, void** buffer) {
  if (!buffer) return bad("buffer_request", "buffer is NULL");
  service* s = joined();
  return s ? answer(s->request(bytes, buffer), "buffer_request") : HEADWAY_NOT_JOINED;
}

std::size_t capacity(const void* buffer) {
  service* s = joined();
  std::size_t bytes = 0;
  return s && answer(s->capacity(buffer, bytes), "buffer_capacity") == HEADWAY_OK ? bytes : 0;
}

[[gnu::hot]] int release(void* buffer) {
  service* s = joined();
  return s ? answer(s->release(buffer), "buffer_release") : HEADWAY_NOT_JOINED;
}

int probe(const void* buffer, int* idle) {
  if (!idle) return bad("buffer_probe", "idle is NULL");
  service* s = joined();
  bool is = false;
  const int status = s ? answer(s->probe(buffer, is), "buffer_probe") : HEADWAY_NOT_JOINED;
  *idle = is;
  return status;
}

int release_later(void* buffer) {
  service* s = joined();
  return s ? answer(s->release_later(buffer), "buffer_release_later") : HEADWAY_NOT_JOINED;
}

int open(const char* name, headway_endpoint* made) {
  if (!made) return bad("endpoint_open", "made is NULL");
  service* s = joined();
  if (!s) return HEADWAY_NOT_JOINED;
  return answer(s->open(name ? name : "", base::machine_now_ns() + open_limit_ns, *made),
                "endpoint_open");
}

int close(headway_endpoint endpoint) {
  service* s = joined();
  return s ? answer(s->close(endpoint), "endpoint_close") : HEADWAY_NOT_JOINED;
}

headway_address address(headway_endpoint endpoint) {
  service* s = joined();
  return s ? headway_address{s->process(), endpoint} : headway_address{0, 0};
}

int lookup(const char* name, std::int64_t limit, headway_address* found) {
  if (!name || !found) return bad("endpoint_lookup", "an argument is NULL");
  service* s = joined();
  if (!s) return HEADWAY_NOT_JOINED;
  endpoints::address who;
  const auto how = s->lookup(name, deadline_of(limit), who);
  *found = {who.process, who.id};
  return answer(how, "endpoint_lookup");
}

template <bool keep>
[[gnu::hot]] int send(headway_endpoint from, headway_address to, std::int32_t tag, void* buffer,
                      std::size_t bytes, std::int64_t limit) {
  service* s = joined();
  if (!s) return HEADWAY_NOT_JOINED;
  return answer(s->send({.to = {to.process, to.id},
                         .tag = tag,
                         .from = from,
                         .data = buffer,
                         .bytes = bytes,
                         .keep = keep},
                        deadline_of(limit)),
                "endpoint_send");
}

int send_by_name(headway_endpoint from, const char* to, std::int32_t tag, void* buffer,
                 std::size_t bytes, std::int64_t limit) {
  headway_address found;
  const int status = lookup(to, limit, &found);
  return status == HEADWAY_OK ? send<false>(from, found, tag, buffer, bytes, limit) : status;
}

int send_copy(headway_endpoint from, headway_address to, std::int32_t tag, const void* data,
              std::size_t bytes, std::int64_t limit) {
  void* buffer = nullptr;
  if (bytes != 0) {
    if (!data) return bad("endpoint_send_copy", "data is NULL");
    if (const int status = request(bytes, &buffer); status != HEADWAY_OK) return status;
    std::memcpy(buffer, data, bytes);
  }
  const int status = send<false>(from, to, tag, buffer, bytes, limit);
  if (status != HEADWAY_OK && buffer) static_cast<void>(release(buffer));
  return status;
}

[[gnu::hot]] int receive(headway_endpoint endpoint, std::int32_t tag, const headway_address* from,
                         std::int64_t limit, headway_message* message) {
  if (!message) return bad("endpoint_receive", "message is NULL");
  service* s = joined();
  if (!s) return HEADWAY_NOT_JOINED;
  const endpoints::filter wanted{
      .from = from ? endpoints::address{from->process, from->id} : endpoints::address{},
      .tag = tag};
  endpoints::message got;
  const auto how = s->receive(endpoint, wanted, deadline_of(limit), got);
  if (how == outcome::ok || how == outcome::misuse)
    *message = {got.data, got.bytes, got.tag, {got.from.process, got.from.id}};
  return answer(how, "endpoint_receive");
}

int wait_any(const headway_endpoint* all, std::size_t count, std::int64_t limit,
             std::size_t* which) {
  if (!all || !which || count == 0) return bad("endpoint_wait_any", "nothing to wait for");
  service* s = joined();
  if (!s) return HEADWAY_NOT_JOINED;
  return answer(s->wait_any({all, count}, deadline_of(limit), *which), "endpoint_wait_any");
}

int descriptor(headway_endpoint endpoint, int* found) {
  if (!found) return bad("endpoint_descriptor", "descriptor is NULL");
  service* s = joined();
  return s ? answer(s->descriptor(endpoint, *found), "endpoint_descriptor") : HEADWAY_NOT_JOINED;
}

/// Calls a handler of the program.
void hand_over(const endpoints::handler& by, const endpoints::message& got) {
  HEADWAY_DEBUG_ASSERT(by.target);
  const headway_message what{got.data, got.bytes, got.tag, {got.from.process, got.from.id}};
  reinterpret_cast<headway_handler>(by.target)(by.argument, &what);
}

int handle(headway_endpoint endpoint, headway_handler handler, void* argument) {
  service* s = joined();
  if (!s) return HEADWAY_NOT_JOINED;
  endpoints::handler by;
  if (handler) by = {&hand_over, reinterpret_cast<void (*)()>(handler), argument};
  return answer(s->handle(endpoint, by), "endpoint_handle");
}

constexpr table calls{
    .join = &join,
    .leave = &leave,
    .process = [] { return joined() ? static_cast<int>(joined()->process()) : -1; },
    .process_count = [] { return joined() ? static_cast<int>(joined()->process_count()) : 0; },
    .error_text = [] { return error().c_str(); },
    .request = &request,
    .capacity = &capacity,
    .release = &release,
    .probe = &probe,
    .release_later = &release_later,
    .memory = [] { return joined() ? joined()->bytes_taken() : 0; },
    .open = &open,
    .close = &close,
    .address = &address,
    .lookup = &lookup,
    .send = &send<false>,
    .send_kept = &send<true>,
    .send_by_name = &send_by_name,
    .send_copy = &send_copy,
    .receive = &receive,
    .wait_any = &wait_any,
    .descriptor = &descriptor,
    .handle = &handle,
    .dispatch = [](unsigned rounds) { return joined() ? joined()->dispatch(rounds) : 0; },
    .dispatch_policy =
        [](int policy) {
          if (policy < HEADWAY_DISPATCH_AUTO || policy > HEADWAY_DISPATCH_EVENT)
            return bad("endpoint_dispatch_policy", "there is no such policy");
          service* s = joined();
          if (!s) return static_cast<int>(HEADWAY_NOT_JOINED);
          s->set_dispatch(policy);
          return static_cast<int>(HEADWAY_OK);
        },
};

}  // namespace

const table& own_table() noexcept { return calls; }

bool in_use() noexcept {
  return the_service.load(std::memory_order_relaxed) != nullptr;  // a question, carries nothing
}

bool other_engine_in_use() noexcept {
  void* other = dlopen("libheadway.so.0", RTLD_LAZY | RTLD_NOLOAD);
  if (!other) return false;
  auto ask = reinterpret_cast<int (*)()>(dlsym(other, "headway_endpoint_engine_in_use"));
  dlclose(other);  // it stays loaded: this was not its only reference
  return ask && ask() != 0;
}

}  // namespace headway::endpoint_api
