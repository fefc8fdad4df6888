#pragma once

#include <atomic>

#include "base/fence.hpp"
#include "rails/shm/basic_doorbell.hpp"

namespace headway::rails::shm {

/// The fences of a doorbell between processes.
struct process_fences {
  /// Makes this process subject to `heavy` calls of others. False: the kernel does not support it.
  [[nodiscard]] static bool enlist() noexcept;
  /// Every thread of every enlisted process has executed a full fence between call and return.
  static void heavy() noexcept;
  static void full() noexcept { base::store_load_fence(); }
  static void light() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
};

using doorbell = basic_doorbell<std::atomic, process_fences>;

}  // namespace headway::rails::shm
