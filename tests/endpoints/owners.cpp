// headway/endpoint.hpp and headway/progress.hpp: owners release, close and cancel; limits that pass
// are no errors.
#include <headway/endpoint.hpp>
#include <headway/progress.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static_assert(static_cast<std::uint64_t>(HEADWAY_FOREVER) == HEADWAY_PROGRESS_FOREVER);
static_assert(HEADWAY_GONE < 0 && HEADWAY_PROGRESS_MISUSE < 0);
static_assert(HEADWAY_TIMED_OUT > 0 && HEADWAY_PROGRESS_TIMEOUT > 0);

#define CHECK(what)                                                           \
  do {                                                                        \
    if (!(what)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      std::exit(1);                                                           \
    }                                                                         \
  } while (0)

namespace {

void messages() {
  headway::endpoint one("one"), two;
  const auto there = headway::lookup("one");
  CHECK(there && there->id == one.address().id);
  CHECK(!headway::lookup("nobody", HEADWAY_NO_WAIT));
  CHECK(!one.receive(HEADWAY_ANY_TAG, HEADWAY_NO_WAIT));
  CHECK(!one.receive(HEADWAY_ANY_TAG, HEADWAY_MILLISECONDS(1)));

  headway::buffer text(100);
  CHECK(text.capacity() >= 100);
  std::strcpy(text.as<char>(), "hello");
  CHECK(two.send(*there, 7, text, 6));
  CHECK(!text);
  CHECK(two.send_copy(*there, 8, "more", 5));
  const auto got = one.receive(7);
  CHECK(got && got->bytes == 6 && std::strcmp(got->data.as<char>(), "hello") == 0);
  CHECK(got->from.id == two.address().id);
}

void ownership() {
  const auto taken = headway_buffer_memory();
  for (int i = 0; i < 10'000; ++i) {
    headway::buffer first(4096);
    headway::buffer second(std::move(first));
    CHECK(!first && second);
    first = std::move(second);
  }
  CHECK(headway_buffer_memory() <= taken + (1 << 20));
  auto* const closed = new headway::endpoint("closed");
  const auto address = closed->address();
  delete closed;
  headway::endpoint open;
  bool refused = false;
  try {
    static_cast<void>(open.send_copy(address, 0, "x", 1));
  } catch (const headway::error& fault) {
    refused = true;
    CHECK(fault.status() == HEADWAY_GONE && std::strlen(fault.what()) > 0);
  }
  CHECK(refused);
}

void ltasks() {
  const headway::progress engine;
  int runs = 0;
  {
    headway::ltask task(
        [&runs] { return ++runs < 3 ? HEADWAY_LTASK_ADVANCED : HEADWAY_LTASK_DONE; });
    task.submit();
    task.wait();
    CHECK(runs == 3 && task.has_ended());
    headway::ltask endless([] { return HEADWAY_LTASK_IDLE; });
    endless.submit();
    CHECK(!endless.wait_for(1'000'000));
  }  // cancelled here: else the engine would refuse to stop
}

}  // namespace

int main() {
  messages();
  ownership();
  ltasks();
  CHECK(headway_progress_poll() == HEADWAY_PROGRESS_MISUSE);  // it has stopped
}
