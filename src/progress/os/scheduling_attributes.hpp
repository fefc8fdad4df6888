#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>

namespace headway::progress {

constexpr std::uint64_t short_slice_ns = 100'000;  // the smallest that the kernel accepts
constexpr std::int32_t greatest_weight = -20;      // of nice values
/// Threads and processes that this thread creates do not inherit its weight and slices. Clearing
/// the flag needs CAP_SYS_NICE.
constexpr std::uint64_t not_inherited = 1;

/// The kernel's struct sched_attr, first version; glibc has none before 2.41.
struct scheduling_attributes {
  std::uint32_t size = 48;
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  ///< of ordinary threads: the slice; 0: the kernel's default
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
  bool operator==(const scheduling_attributes&) const = default;
};
static_assert(sizeof(scheduling_attributes) == 48);

/// 0: the calling thread. False: there is no such thread, or the kernel refuses.
inline bool get_attributes(pid_t thread, scheduling_attributes& into) noexcept {
  return syscall(SYS_sched_getattr, thread, &into, sizeof into, 0u) == 0;
}
inline bool set_attributes(pid_t thread, const scheduling_attributes& attributes) noexcept {
  return syscall(SYS_sched_setattr, thread, &attributes, 0u) == 0;
}

}  // namespace headway::progress
