#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "base/spinlock.hpp"
#include "endpoints/region.hpp"

namespace headway::endpoints {

/// What is wrong with a buffer that the program names. `none`: nothing.
enum class wrong : std::uint8_t {
  none,
  not_a_buffer,  ///< no buffer of this library begins there
  other_job,
  released,   ///< it is in the pool: released twice, or used after release
  in_flight,  ///< it was sent away: its receiver will release it
  in_use,     ///< a send still uses it
  damaged,    ///< what stands in front of it was overwritten
  written,    ///< it was written while it was in flight, or after its release
};
[[nodiscard]] const char* text_of(wrong what) noexcept;

struct pool_options {
  std::uint32_t process = 0;
  std::uint64_t job = 0;
  std::size_t bytes_max = std::size_t{1} << 30;
  bool checks = false;  ///< notice writes to buffers in flight and after release
};

/// Buffers in classes of powers of two, in memory that the machine's other processes can map.
///
/// Shape:    classes from 64 bytes up; a class's blocks are never given to another, so what a
///           program once used at once is what it keeps.
/// Threads:  every function any thread. Each thread keeps a few free blocks to itself; a thread
///           that ends leaves them to the next that comes.
/// Progress: never waits but for a spinlock over a list; allocates when it grows.
/// Errors:   ownership mistakes are answers of type `wrong`; nothing changes then.
/// Source:   pcor02 (PAPERS.md mechanism 22): request, probe, release at once, release later.
class pool {
 public:
  [[nodiscard]] static base::result<std::unique_ptr<pool>> make(const pool_options& options);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// A block of at least `bytes`, held; nullptr: the memory is used up, or too little for that.
  [[nodiscard, gnu::hot]] block* request(std::size_t bytes) noexcept;
  /// What the program calls a buffer, checked: its block, and whether it was only lent to it.
  struct found {
    block* header = nullptr;
    bool lent = false;
    wrong trouble = wrong::none;
  };
  [[nodiscard]] found find(const void* data) noexcept {
    block* b = own_->header_of(data);
    if (!b || b->job != options_.job) return find_elsewhere(data);
    return {.header = b, .lent = own_->in_lent_view(data)};
  }
  [[nodiscard]] void* address_of(block& b, bool lent) noexcept;

  // What the program does.
  [[nodiscard]] wrong release(const void* data) noexcept { return release(find(data)); }
  [[nodiscard]] wrong release(const found& f) noexcept;
  [[nodiscard]] wrong release_later(const void* data) noexcept;
  /// `idle`: no send uses it any more.
  [[nodiscard]] wrong probe(const void* data, bool& idle) noexcept;

  /// Its holder has it, and nobody else: a look, which others may outdate.
  [[nodiscard]] static bool at_rest(const found& f) noexcept {
    return !f.lent && f.header->state.load(std::memory_order_relaxed) == block::held;
  }

  // What a message does. `sent` and `received` are each other's counterpart.
  /// Sent away (`keep` false) or lent out. On success it is the message's.
  [[nodiscard]] wrong sent(const found& f, bool keep) noexcept;
  /// After `sent`: it goes to another process, which may die while it has it.
  static void destined(block& b, bool lent, std::uint32_t process) noexcept;
  /// Takes `sent` back: the message was not taken.
  void unsent(const found& f, bool keep) noexcept;
  /// The message's end without a receiver, or after a copy of it was taken.
  void arrived_nowhere(block& b, bool lent) noexcept;
  /// It came from another process, which may say what it likes: is it under way? Once per `sent`.
  [[nodiscard]] static bool lands(block& b, bool lent) noexcept;
  /// A receiver has it now.
  void received(block& b, bool lent) noexcept;

  // Other processes of this machine.
  [[nodiscard]] const region_offer& offer() const noexcept { return own_->offer(); }
  [[nodiscard]] base::result<> map(const region_offer& offer);
  [[nodiscard]] region* region_of(std::uint32_t process) noexcept;
  /// Takes back what that process had of ours. It will not come back to it.
  void reclaim(std::uint32_t process) noexcept;

  /// Memory taken so far, bytes: what a program that runs for long watches.
  [[nodiscard]] std::size_t bytes_taken() const noexcept;
  [[nodiscard]] bool checks() const noexcept { return options_.checks; }
  [[nodiscard]] std::uint32_t process() const noexcept { return options_.process; }
  [[nodiscard]] static std::uint32_t checksum(const block& b, std::size_t bytes) noexcept;

  static constexpr unsigned class_min = 6, class_max = 36;

 private:
  /// How many free blocks a thread keeps to itself.
  static constexpr std::uint32_t cached_max(unsigned size_class) noexcept {
    return size_class <= 12 ? 64 : size_class <= 16 ? 16 : size_class <= 20 ? 8 : 2;
  }
  struct list {  // of free blocks, linked by `next`
    std::uint64_t first = 0;
    std::uint32_t count = 0;
  };
  /// What threads have no use for: whole lists of theirs, as they gave them up, which another takes
  /// without touching their blocks; and single blocks that came back from other processes.
  struct spares {
    std::uint64_t lists = 0;  // place of the first block of the list given up last
    list single;
  };
  struct cache {
    std::uint64_t thread = 0;  // 0: left by its thread; under pool::lock_
    std::array<list, class_max + 1> free;
  };
  /// The thread's own, in the pool that it used last.
  struct current_cache {
    std::uint64_t pool_serial;  // 0: none
    cache* own;
  };
  static inline thread_local constinit current_cache current{};
  struct run {  // of blocks that were made together
    std::uint64_t place;
    std::uint64_t stride;
    std::uint32_t count;
  };
  struct leaving;

  explicit pool(const pool_options& options) noexcept;
  [[nodiscard]] cache& own_cache() noexcept {
    return current.pool_serial == serial_ ? *current.own : adopt_cache();
  }
  [[nodiscard, gnu::noinline]] cache& adopt_cache() noexcept;
  /// In a region of another's, or with something wrong.
  [[nodiscard, gnu::noinline]] found find_elsewhere(const void* data) noexcept;
  [[nodiscard, gnu::noinline]] block* request_after_refill(list& mine,
                                                           unsigned size_class) noexcept;
  [[gnu::noinline]] void give_back_elsewhere(block& b) noexcept;
  [[gnu::noinline]] void give_up_surplus(list& mine, unsigned size_class) noexcept;
  [[nodiscard, gnu::noinline]] wrong release_lent(block& b) noexcept;
  /// Why a holder cannot do what it asks for, in this state of a buffer that it calls its own.
  [[nodiscard, gnu::noinline]] static wrong trouble_in(std::uint32_t state) noexcept;
  [[nodiscard, gnu::noinline]] wrong nowhere(const void* data) noexcept;
  [[gnu::noinline]] void look_at_poison(block& b) noexcept;
  void refill(list& into, unsigned size_class) noexcept;
  void take_returned() noexcept;
  void make_blocks(list& into, unsigned size_class) noexcept;
  void give_back(block& b) noexcept;
  [[nodiscard]] list cut(list& from, std::uint32_t count) noexcept;
  void put_list(spares& to, const list& what) noexcept;
  [[nodiscard]] list take_list(spares& from) noexcept;
  /// What should be a free block of `of` is none: then all of them are given up.
  [[nodiscard]] bool damaged(const block* b, list& of) noexcept {
    if (b && b->state.load(std::memory_order_relaxed) == block::free_state) [[likely]]
      return false;
    give_up(of);
    return true;
  }
  [[gnu::noinline]] void give_up(list& damaged) noexcept;
  static void push(list& to, block& b) noexcept {
    b.next = to.first;
    to.first = b.place;
    ++to.count;
  }
  [[nodiscard]] block* pop(list& from) noexcept;
  [[nodiscard]] region* region_at(const void* data) noexcept;
  [[nodiscard]] bool take_from(block& b, std::uint32_t process) noexcept;
  void poison(block& b) noexcept {
    if (options_.checks) [[unlikely]]
      fill_with_poison(b);
  }
  [[gnu::noinline]] static void fill_with_poison(block& b) noexcept;
  [[nodiscard]] bool poison_intact(block& b) noexcept;

  const pool_options options_;
  std::uint64_t serial_ = 0;  // tells pools of one process apart
  std::unique_ptr<region> own_;

  base::spinlock lock_;  // guards the six below
  std::array<spares, class_max + 1> spare_;
  std::vector<run> runs_;
  std::uint64_t taken_ = region::first_place;
  std::vector<std::unique_ptr<cache>> caches_;
  std::vector<std::unique_ptr<region>> others_;
  std::uint32_t no_more_ = 0;  // said once

  static constexpr std::size_t regions_max = 512;
  // Of `others_`, for readers without the lock: (M) release in `map` -> acquire in `region_at`.
  std::array<base::atomic<region*>, regions_max> mapped_{};
  base::atomic<std::uint32_t> mapped_count_{0};
};

// In line, because every message makes this way four times: what a thread has is its own to take
// and to give back, and a check or a call more would be a tenth of it.

inline block* pool::pop(list& from) noexcept {
  if (from.first == 0) return nullptr;
  block* b = own_->intact(from.first);
  if (damaged(b, from)) return nullptr;
  from.first = b->next;
  --from.count;
  if (from.first == 0) return b;
  // What is asked for next may lie in the cache of the processor that released it.
  const auto* following = reinterpret_cast<const std::byte*>(own_->at(from.first));
  __builtin_prefetch(following, 1);
  __builtin_prefetch(following + block::waits_offset, 1);
  __builtin_prefetch(following + sizeof(block), 1);
  return b;
}

inline block* pool::request(std::size_t bytes) noexcept {
  const auto size_class = bytes <= std::size_t{1} << class_min
                              ? class_min
                              : static_cast<unsigned>(std::bit_width(bytes - 1));
  if (size_class > class_max) return nullptr;
  list& mine = own_cache().free[size_class];
  block* b = pop(mine);
  if (!b) [[unlikely]] {
    b = request_after_refill(mine, size_class);
    if (!b) return nullptr;
  }
  if (options_.checks) [[unlikely]]
    look_at_poison(*b);
  b->state.store(block::held, std::memory_order_relaxed);  // nobody else knows it
  b->holder.store(options_.process, std::memory_order_relaxed);
  b->lent_to.store(block::nobody, std::memory_order_relaxed);
  return b;
}

/// `b` is free, and nobody else knows it.
inline void pool::give_back(block& b) noexcept {
  if (b.owner != options_.process) return give_back_elsewhere(b);
  poison(b);
  list& mine = own_cache().free[b.size_class];
  push(mine, b);
  if (mine.count > cached_max(b.size_class)) [[unlikely]]
    give_up_surplus(mine, b.size_class);
}

inline wrong pool::release(const found& f) noexcept {
  if (f.trouble != wrong::none) return f.trouble;
  if (f.lent) return release_lent(*f.header);
  std::uint32_t expected = block::held;
  if (!f.header->state.compare_exchange_strong(expected, block::free_state,
                                               std::memory_order_acq_rel,  // (R), (A)
                                               std::memory_order_relaxed)) [[unlikely]]
    return trouble_in(expected);
  give_back(*f.header);
  return wrong::none;
}

}  // namespace headway::endpoints
