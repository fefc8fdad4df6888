#include "endpoints/pool.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>

#include "base/log.hpp"

namespace headway::endpoints {
namespace {

constexpr unsigned page_class = 16;  // from here on data begin on a page
constexpr std::uint64_t page_bytes = 4096;
// Processors fetch lines in pairs: no two blocks share one.
constexpr std::uint64_t pair_bytes = 128;
constexpr std::byte poison_value{0xdb};

constexpr std::uint32_t made_at_once(unsigned size_class) noexcept {
  return size_class <= 9 ? 32 : size_class <= 12 ? 16 : size_class <= 15 ? 8 : 1;
}

// The pools of this process: for threads that end, and to say whose a strange buffer is. Cold.
std::mutex all_lock;
std::vector<pool*>& all_pools() {
  static auto* const made = new std::vector<pool*>;
  return *made;
}
std::uint64_t serials = 0;  // under all_lock
base::atomic<std::uint64_t> thread_numbers{0};

thread_local constinit std::uint64_t thread_number = 0;

}  // namespace

/// Made in each thread that uses a pool; leaves the thread's caches to others when it ends.
struct pool::leaving {
  ~leaving() {
    const std::scoped_lock held(all_lock);
    for (pool* p : all_pools()) {
      const std::scoped_lock guard(p->lock_);
      for (auto& c : p->caches_)
        if (c->thread == thread_number) c->thread = 0;
    }
    current = {};
  }
};

const char* text_of(wrong what) noexcept {
  switch (what) {
    case wrong::none:
      return "nothing is wrong";
    case wrong::not_a_buffer:
      return "no buffer of this library begins there";
    case wrong::other_job:
      return "the buffer belongs to another job";
    case wrong::released:
      return "the buffer was released already";
    case wrong::in_flight:
      return "the buffer was sent away, and is its receiver's to release";
    case wrong::in_use:
      return "a send still uses the buffer";
    case wrong::damaged:
      return "what stands in front of the buffer was overwritten";
    case wrong::written:
      return "the buffer was written while it was in flight";
  }
  return "unknown";
}

base::result<std::unique_ptr<pool>> pool::make(const pool_options& options) {
  const auto bytes = options.bytes_max / page_bytes * page_bytes;
  auto own = region::make(options.process, bytes, options.job);
  if (!own) return std::unexpected(own.error());
  std::unique_ptr<pool> made(new pool(options));
  made->own_ = std::move(*own);
  const std::scoped_lock held(all_lock);
  made->serial_ = ++serials;
  all_pools().push_back(made.get());
  return made;
}

pool::pool(const pool_options& options) noexcept : options_(options) {}

pool::~pool() {
  const std::scoped_lock held(all_lock);
  std::erase(all_pools(), this);
}

pool::cache& pool::adopt_cache() noexcept {
  static thread_local leaving at_the_end;
  (void)at_the_end;
  if (thread_number == 0)
    thread_number = thread_numbers.fetch_add(1, std::memory_order_relaxed) + 1;  // unique, no more
  const std::scoped_lock guard(lock_);
  auto mine = std::ranges::find(caches_, thread_number, [](auto& c) { return c->thread; });
  if (mine == caches_.end())
    mine = std::ranges::find(caches_, 0u, [](auto& c) { return c->thread; });
  if (mine == caches_.end()) mine = caches_.insert(caches_.end(), std::make_unique<cache>());
  (*mine)->thread = thread_number;
  current = {serial_, mine->get()};
  return **mine;
}

void pool::give_up(list& damaged) noexcept {
  base::log(base::severity::error,
            "a released buffer's header was overwritten; {} free buffers are given up",
            damaged.count);
  damaged = {};
}

/// The first `count` of `from`, which has more.
pool::list pool::cut(list& from, std::uint32_t count) noexcept {
  list taken{from.first, count};
  block* last = nullptr;
  std::uint64_t place = from.first;
  for (std::uint32_t i = 0; i < count; ++i) {
    last = own_->checked(place, 0);
    if (damaged(last, from)) return {};
    place = last->next;
  }
  last->next = 0;
  from = {place, from.count - count};
  return taken;
}

/// A list's first block says in its parcel, which it has no use for now, what lies behind it.
void pool::put_list(spares& to, const list& what) noexcept {
  if (what.first == 0) return;
  block& first = *own_->at(what.first);
  first.waits.bytes = to.lists;
  first.waits.charge = static_cast<std::uint16_t>(what.count);
  to.lists = what.first;
}

pool::list pool::take_list(spares& from) noexcept {
  list taken{from.lists, 0};
  if (taken.first == 0) return taken;
  block* first = own_->checked(taken.first, 0);
  if (damaged(first, taken)) {
    from.lists = 0;
    return taken;
  }
  taken.count = first->waits.charge;
  from.lists = first->waits.bytes;
  return taken;
}

block* pool::request_after_refill(list& mine, unsigned size_class) noexcept {
  refill(mine, size_class);
  return pop(mine);
}

void pool::destined(block& b, bool lent, std::uint32_t process) noexcept {
  if (!lent) return b.holder.store(process, std::memory_order_relaxed);  // see block.hpp
  const auto before = b.lent_to.load(std::memory_order_relaxed);
  const bool only = before == block::nobody || before == process ||
                    b.state.load(std::memory_order_relaxed) == (block::held | 1u);  // a hint
  b.lent_to.store(only ? process : block::several, std::memory_order_relaxed);
}

void pool::refill(list& into, unsigned size_class) noexcept {
  const std::scoped_lock guard(lock_);
  spares& from = spare_[size_class];
  into = take_list(from);
  if (into.first != 0) return;
  if (from.single.first == 0) take_returned();
  if (from.single.first == 0) return make_blocks(into, size_class);
  for (std::uint32_t i = 0; i <= cached_max(size_class) / 2; ++i) {
    block* b = pop(from.single);
    if (!b) return;
    push(into, *b);
  }
}

/// Under the lock.
void pool::take_returned() noexcept {
  std::uint64_t place = own_->returned().take_all();
  while (place != 0) {
    block* b = own_->checked(place, 0);
    if (!b || b->size_class > class_max) {
      base::log(base::severity::error, "a buffer came back with its header overwritten");
      return;
    }
    place = b->next;
    push(spare_[b->size_class].single, *b);
  }
}

/// Under the lock.
void pool::make_blocks(list& into, unsigned size_class) noexcept {
  const bool on_pages = size_class >= page_class;
  auto stride = (std::uint64_t{1} << size_class) + (on_pages ? page_bytes : sizeof(block));
  stride = (stride + pair_bytes - 1) / pair_bytes * pair_bytes;
  auto count = made_at_once(size_class);
  std::uint64_t start = taken_;
  if (on_pages) start = (start + page_bytes - 1) / page_bytes * page_bytes;
  while (count > 1 && start + count * stride > own_->bytes()) count /= 2;
  if (start + count * stride > own_->bytes()) {
    if (no_more_++ == 0)
      base::log(base::severity::warning,
                "buffers: {} MiB are in use or kept for other sizes, none is left for {} bytes",
                taken_ >> 20, std::size_t{1} << size_class);
    return;
  }
  taken_ = start + count * stride;
  const run fresh{on_pages ? start + page_bytes - sizeof(block) : start, stride, count};
  runs_.push_back(fresh);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto place = fresh.place + i * stride;
    auto* b = new (own_->at(place)) block;
    b->job = options_.job;
    b->place = place;
    b->owner = options_.process;
    b->size_class = size_class;
    poison(*b);
    push(into, *b);
  }
}

void pool::give_back_elsewhere(block& b) noexcept {
  region* home = region_of(b.owner);
  if (!home) return;
  poison(b);
  home->returned().push(b.place, [&](std::uint64_t at) -> auto& { return home->at(at)->next; });
}

void pool::give_up_surplus(list& mine, unsigned size_class) noexcept {
  const list surplus = cut(mine, mine.count - cached_max(size_class) / 2);
  const std::scoped_lock guard(lock_);
  put_list(spare_[size_class], surplus);
}

region* pool::region_at(const void* data) noexcept {
  if (own_->contains(data)) return own_.get();
  const auto count = mapped_count_.load(std::memory_order_acquire);  // (M)
  for (std::uint32_t i = 0; i < count; ++i) {
    region* r = mapped_[i].load(std::memory_order_relaxed);  // carried by (M)
    if (r->contains(data)) return r;
  }
  return nullptr;
}

region* pool::region_of(std::uint32_t process) noexcept {
  if (process == options_.process) return own_.get();
  const auto count = mapped_count_.load(std::memory_order_acquire);  // (M)
  for (std::uint32_t i = 0; i < count; ++i) {
    region* r = mapped_[i].load(std::memory_order_relaxed);  // carried by (M)
    if (r->owner() == process) return r;
  }
  return nullptr;
}

base::result<> pool::map(const region_offer& offer) {
  if (region_of(offer.owner)) return {};
  auto made = region::map(offer, options_.job);
  if (!made) return std::unexpected(made.error());
  const std::scoped_lock guard(lock_);
  const auto count = mapped_count_.load(std::memory_order_relaxed);  // under the lock
  if (count == regions_max)
    return base::failed(base::fault_kind::no_memory, "too many processes share buffers here");
  others_.push_back(std::move(*made));
  mapped_[count].store(others_.back().get(), std::memory_order_relaxed);  // carried by (M)
  mapped_count_.store(count + 1, std::memory_order_release);              // (M)
  return {};
}

pool::found pool::find_elsewhere(const void* data) noexcept {
  region* where = region_at(data);
  if (!where) return {.trouble = nowhere(data)};
  block* b = where->header_of(data);
  if (!b) return {.trouble = where->damaged(data) ? wrong::damaged : wrong::not_a_buffer};
  if (b->job != options_.job) return {.trouble = wrong::other_job};
  return {.header = b, .lent = where->in_lent_view(data)};
}

/// What lies in no region that we map.
wrong pool::nowhere(const void* data) noexcept {
  const std::scoped_lock held(all_lock);
  for (pool* p : all_pools())
    if (p != this && p->own_->contains(data)) return wrong::other_job;
  return wrong::not_a_buffer;
}

void* pool::address_of(block& b, bool lent) noexcept {
  region* home = region_of(b.owner);
  return home ? home->address_of(b, lent) : nullptr;
}

void pool::reclaim(std::uint32_t process) noexcept {
  std::vector<block*> freed;
  {
    const std::scoped_lock guard(lock_);
    for (const run& r : runs_)
      for (std::uint32_t i = 0; i < r.count; ++i) {
        block& b = *own_->at(r.place + i * r.stride);
        if (take_from(b, process)) freed.push_back(&b);
      }
  }
  for (block* b : freed) give_back(*b);
}

/// True: nobody has it any more.
bool pool::take_from(block& b, std::uint32_t process) noexcept {
  auto state = b.state.load(std::memory_order_acquire);  // (A)
  if (state == block::free_state) return false;
  const bool has_it = b.holder.load(std::memory_order_relaxed) == process;     // see block.hpp
  const bool borrowed = b.lent_to.load(std::memory_order_relaxed) == process;  // likewise
  if (!has_it && !borrowed) return false;
  if (state == block::flying || state == block::landed) state = block::held;
  if (has_it) state &= ~block::held;
  if (borrowed) state &= block::held;
  b.holder.store(options_.process, std::memory_order_relaxed);                       // likewise
  b.lent_to.store(block::nobody, std::memory_order_relaxed);                         // likewise
  b.state.store(state == 0 ? block::free_state : state, std::memory_order_relaxed);  // it is dead
  return state == 0;
}

std::size_t pool::bytes_taken() const noexcept {
  const std::scoped_lock guard(const_cast<base::spinlock&>(lock_));
  return taken_;
}

std::uint32_t pool::checksum(const block& b, std::size_t bytes) noexcept {
  const auto* data = const_cast<block&>(b).data();
  std::uint64_t sum = 0xcbf29ce484222325u;  // FNV-1a over words, then what is left
  std::size_t i = 0;
  for (std::uint64_t word; i + sizeof word <= bytes; i += sizeof word) {
    std::memcpy(&word, data + i, sizeof word);
    sum = (sum ^ word) * 0x100000001b3u;
  }
  for (; i < bytes; ++i) sum = (sum ^ static_cast<std::uint64_t>(data[i])) * 0x100000001b3u;
  return static_cast<std::uint32_t>(sum ^ sum >> 32);
}

void pool::fill_with_poison(block& b) noexcept {
  std::memset(b.data(), static_cast<int>(poison_value), b.capacity());
}

void pool::look_at_poison(block& b) noexcept {
  if (poison_intact(b)) return;
  base::log(base::severity::error, "a buffer of {} bytes was written after its release",
            b.capacity());
}

bool pool::poison_intact(block& b) noexcept {
  return std::all_of(b.data(), b.data() + b.capacity(),
                     [](std::byte one) { return one == poison_value; });
}

}  // namespace headway::endpoints
