#pragma once

#include <atomic>
#include <memory>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "packets/send_item.hpp"

namespace headway::packets {

/// Reuses items of one kind. Keeps as many as were ever in use at once.
/// Threads:  any; a short spinlock, under which nothing is allocated. Every item is back before the
///           pool goes.
template <class T>
class item_pool {
 public:
  item_pool() = default;
  ~item_pool() HEADWAY_NO_THREAD_SAFETY_ANALYSIS {  // alone
    while (spare_) delete pop();
  }
  item_pool(const item_pool&) = delete;
  item_pool& operator=(const item_pool&) = delete;

  [[nodiscard]] T& take() {
    {
      const base::lock_guard guard(lock_);
      if (spare_) return *pop();
    }
    return *std::make_unique<T>().release();
  }
  void give_back(T& item) noexcept {
    const base::lock_guard guard(lock_);
    send_item& spare = item;
    spare.next.store(spare_, std::memory_order_relaxed);  // under lock_
    spare_ = &spare;
  }

 private:
  [[nodiscard]] T* pop() noexcept HEADWAY_REQUIRES(lock_) {
    send_item& taken = *spare_;
    spare_ = taken.next.load(std::memory_order_relaxed);  // under lock_
    return static_cast<T*>(&taken);
  }

  base::spinlock lock_;
  send_item* spare_ HEADWAY_GUARDED_BY(lock_) = nullptr;  // linked by `next`
};

}  // namespace headway::packets
