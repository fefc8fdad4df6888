#include "endpoints/buffers/block_allocator.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/log.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint32_t made_at_once(unsigned size_class) noexcept {
  return size_class <= 9 ? 32 : size_class <= 12 ? 16 : size_class <= 15 ? 8 : 1;
}

// The allocators of this process: for threads that end, and to find the owner of a foreign buffer.
// Cold.
base::mutex all_lock;
std::vector<block_allocator*>& all_allocators() HEADWAY_REQUIRES(all_lock) {
  static auto* const made = new std::vector<block_allocator*>;
  return *made;
}
// Relaxed: it only has to be unique.
base::atomic<std::uint64_t> serials{0};
base::atomic<std::uint64_t> thread_numbers{0};

thread_local constinit std::uint64_t thread_number = 0;

}  // namespace

/// One in each thread that uses an allocator; at the thread's end it leaves the thread's caches to
/// others.
struct block_allocator::thread_end {
  ~thread_end() {
    const base::lock_guard held(all_lock);
    for (auto* one : all_allocators()) {
      const base::lock_guard guard(one->lock_);
      for (auto& c : one->caches_)
        if (c->thread == thread_number) c->thread = 0;
    }
    current = {};
  }
};

block_allocator::block_allocator(const pool_options& options)
    : options_(options),
      reserve_begin_(options.bytes_max / page_bytes * page_bytes),
      serial_(serials.fetch_add(1, std::memory_order_relaxed) + 1),
      reserve_(reserve_begin_, 2 * reserve_begin_) {
  const base::lock_guard held(all_lock);
  all_allocators().push_back(this);
}

block_allocator::~block_allocator() {
  const base::lock_guard held(all_lock);
  std::erase(all_allocators(), this);
}

bool block_allocator::open() {
  const base::lock_guard held(opening_);
  if (made_) return true;
  auto made = region::make(options_.process, 2 * reserve_begin_, options_.job);
  if (!made) {
    base::log(base::severity::error, "end-points have no buffers: {}", made.error().text);
    return false;
  }
  made_ = std::move(*made);
  own_.store(made_.get(), std::memory_order_release);  // (O)
  return true;
}

block_allocator::cache& block_allocator::adopt_cache() noexcept {
  static thread_local thread_end at_the_end;
  (void)at_the_end;
  if (thread_number == 0)
    // it only has to be unique
    thread_number = thread_numbers.fetch_add(1, std::memory_order_relaxed) + 1;
  const base::lock_guard guard(lock_);
  auto mine = std::ranges::find(caches_, thread_number, [](auto& c) { return c->thread; });
  if (mine == caches_.end())
    mine = std::ranges::find(caches_, 0u, [](auto& c) { return c->thread; });
  if (mine == caches_.end()) mine = caches_.insert(caches_.end(), std::make_unique<cache>());
  (*mine)->thread = thread_number;
  current = {serial_, mine->get()};
  return **mine;
}

void block_allocator::give_up(list& damaged) noexcept {
  base::log(base::severity::error,
            "a released buffer's header was overwritten; {} free buffers are given up",
            damaged.count);
  damaged = {};
}

/// Takes the first `count` of `from`, which has more.
block_allocator::list block_allocator::cut(list& from, std::uint32_t count) noexcept {
  HEADWAY_DEBUG_ASSERT(count > 0 && count < from.count);
  list taken{from.first, count};
  block* last = nullptr;
  std::uint64_t place = from.first;
  for (std::uint32_t i = 0; i < count; ++i) {
    last = known().checked(place, 0);
    if (damaged(last, from)) return {};
    place = last->next;
  }
  last->next = 0;
  from = {place, from.count - count};
  return taken;
}

/// The parcel of a list's first block is unused now, so it holds the place of the next list.
void block_allocator::put_list(spares& to, const list& what) noexcept {
  if (what.first == 0) return;
  block& first = *known().at(what.first);
  first.waits.bytes = to.lists;
  first.waits.charge = static_cast<std::uint16_t>(what.count);
  to.lists = what.first;
}

block_allocator::list block_allocator::take_list(spares& from) noexcept {
  list taken{from.lists, 0};
  if (taken.first == 0) return taken;
  block* first = known().checked(taken.first, 0);
  if (damaged(first, taken)) {
    from.lists = 0;
    return taken;
  }
  taken.count = first->waits.charge;
  from.lists = first->waits.bytes;
  return taken;
}

block* block_allocator::take_after_refill(list& mine, unsigned size_class) noexcept {
  if (!own() && !open()) return nullptr;
  refill(mine, size_class);
  block* b = pop(mine);
  for (unsigned larger = size_class + 1; !b && larger <= block::class_max; ++larger) {
    list& theirs = own_cache().free[larger];
    if (theirs.first == 0) refill(theirs, larger);
    b = pop(theirs);
  }
  return b;
}

void block_allocator::refill(list& into, unsigned size_class) noexcept {
  const base::lock_guard guard(lock_);
  spares& from = spare_[size_class];
  into = take_list(from);
  if (into.first != 0) return;
  if (from.single.first == 0) take_returned();
  if (from.single.first == 0) {
    make_blocks(into, size_class);
    if (into.first == 0) take_from_ended(into, size_class);
    return;
  }
  for (std::uint32_t i = 0; i <= cached_max(size_class) / 2; ++i) {
    block* b = pop(from.single);
    if (!b) return;
    push(into, *b);
  }
}

/// The caches of threads that have ended.
void block_allocator::take_from_ended(list& into, unsigned size_class) noexcept {
  for (auto& c : caches_)
    if (c->thread == 0 && into.first == 0) into = std::exchange(c->free[size_class], {});
}

void block_allocator::take_returned() noexcept {
  std::uint64_t place = known().returned().take_all();
  block::elsewhere.returns();
  while (place != 0) {
    block* b = known().checked(place, 0);
    if (!b || b->size_class > block::class_max) {
      base::log(base::severity::error, "a buffer came back with its header overwritten");
      return;
    }
    place = b->next;
    push(b->place < reserve_begin_ ? spare_[b->size_class].single : returned_to_reserve_, *b);
  }
}

void block_allocator::make_blocks(list& into, unsigned size_class) noexcept {
  const auto layout = layout_of(size_class);
  auto count = made_at_once(size_class);
  const auto start = layout.align(taken_);
  while (count > 1 && start + count * layout.stride > reserve_begin_) count /= 2;
  if (start + count * layout.stride > reserve_begin_) {
    if (!std::exchange(exhausted_, true))
      base::log(base::severity::warning,
                "buffers: {} MiB are in use or kept for other sizes, none is left for {} bytes",
                taken_ >> 20, std::size_t{1} << size_class);
    return;
  }
  taken_ = start + count * layout.stride;
  const run fresh{start + layout.header_offset, layout.stride, count};
  runs_.push_back(fresh);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto place = fresh.place + i * fresh.stride;
    block* b = make_block(known().at(place), place, options_.job, options_.process, size_class);
    poison(*b);
    push(into, *b);
  }
}

block* block_allocator::take_from_reserve(std::size_t bytes) noexcept {
  const auto size_class = class_of(bytes);
  if (!own() || size_class > reserve_.largest_class()) return nullptr;
  list returned;
  {
    const base::lock_guard guard(lock_);
    returned = std::exchange(returned_to_reserve_, {});
  }
  while (block* b = pop(returned)) reserve_.put(*b);
  block* b = reserve_.take(known(), options_.job, size_class);
  return b ? hand_out(*b) : nullptr;
}

void block_allocator::give_up_surplus(list& mine, unsigned size_class) noexcept {
  const list surplus = cut(mine, mine.count - cached_max(size_class) / 2);
  const base::lock_guard guard(lock_);
  put_list(spare_[size_class], surplus);
}

std::size_t block_allocator::bytes_taken() const noexcept {
  const auto reserve_bytes = reserve_.bytes_touched();
  const base::lock_guard guard(lock_);
  return taken_ + reserve_bytes;
}

bool block_allocator::belongs_to_another(const void* data) const noexcept {
  const base::lock_guard held(all_lock);
  return std::ranges::any_of(all_allocators(), [&](const auto* one) {
    const region* theirs = one->own();
    return one != this && theirs && theirs->contains(data);
  });
}

}  // namespace headway::endpoints
