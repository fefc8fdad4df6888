// The contract in the flavour "fibers": Boost.Fiber's fibers are the threads.

#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>

#include <chrono>

#include "contract.h"
#include "headway/progress_fiber.hpp"

namespace {

void* spawn(void (*body)(void*), void* argument) {
  return new boost::fibers::fiber(boost::fibers::launch::post, body, argument);
}
void join(void* thread) {
  auto* one = static_cast<boost::fibers::fiber*>(thread);
  one->join();
  delete one;
}
void pause_us(unsigned microseconds) {
  boost::this_fiber::sleep_for(std::chrono::microseconds(microseconds));
}

}  // namespace

int main() {
  boost::fibers::use_scheduling_algorithm<headway::fiber_scheduler>();
  const flavour fibers{"fibers", spawn, join, pause_us};
  return run_contract(&fibers) ? 1 : 0;
}
