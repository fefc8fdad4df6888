#include "rails/exposures.hpp"

#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"

namespace headway::rails {
namespace {

constexpr std::uint64_t notified_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t ids_mask = ~notified_bit >> 1;

std::uint64_t changed(std::atomic_ref<std::uint64_t> word, const atomic_request& what) noexcept {
  // Relaxed: an atomic orders no other bytes; the reply to the request does.
  constexpr auto order = std::memory_order_relaxed;
  switch (what.what) {
    case operation::fetch:
      return word.load(order);
    case operation::add:
      return word.fetch_add(what.operand, order);
    case operation::bit_and:
      return word.fetch_and(what.operand, order);
    case operation::bit_or:
      return word.fetch_or(what.operand, order);
    case operation::bit_xor:
      return word.fetch_xor(what.operand, order);
    case operation::swap:
      return word.exchange(what.operand, order);
    case operation::compare_and_swap: {
      auto seen = what.expected;
      static_cast<void>(word.compare_exchange_strong(seen, what.operand, order, order));
      return seen;
    }
  }
  return 0;  // unknown operation: the word stays as it is
}

}  // namespace

// Default implementations, for drivers without these operations.
post memory::get(peer_id, const remote_place&, std::span<std::byte>, std::uint64_t) noexcept {
  return post::down;
}

post memory::atomic(peer_id, const remote_place&, const atomic_request&, std::uint64_t&,
                    std::uint64_t) noexcept {
  return post::down;
}

post memory::flush(peer_id, std::uint64_t) noexcept { return post::down; }

exposures::~exposures() {
  for (std::size_t i = 0; i < page_count_; ++i)
    delete pages_[i].load(std::memory_order_relaxed);  // no other thread
}

/// Adds a page behind the first `from`, unless another thread has done so. False: no memory.
bool exposures::grow(std::size_t from) noexcept {
  if (from == pages_max) return false;
  auto made = std::unique_ptr<page>(new (std::nothrow) page);
  if (!made) return false;
  const base::lock_guard guard(free_lock_);
  if (page_count_ != from) return true;
  const auto first = static_cast<std::uint32_t>(from * page_entries);
  for (std::uint32_t i = 0; i < page_entries; ++i)
    (*made)[i].next_free = i + 1 < page_entries ? first + i + 1 : first_free_;
  first_free_ = first;
  pages_[from].store(made.release(), std::memory_order_release);  // (G)
  ++page_count_;
  return true;
}

exposures::entry* exposures::at(std::uint64_t id) noexcept {
  const auto index = id & (entries_max - 1);
  page* const of = pages_[index / page_entries].load(std::memory_order_acquire);  // (G)
  return of ? &(*of)[index % page_entries] : nullptr;
}

/// Returns how many of these bytes are counted.
std::uint64_t exposures::count_awaited(std::span<const std::byte> bytes) noexcept {
  if (last_awaited_.exchange(bytes.data(), std::memory_order_relaxed) == bytes.data()) return 0;
  awaited_bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
  return bytes.size();
}

std::optional<std::uint64_t> exposures::add(const exposure& what) noexcept {
  std::uint32_t index = none;
  while (index == none) {
    std::size_t pages = 0;
    {
      const base::lock_guard guard(free_lock_);
      index = first_free_;
      if (index != none) first_free_ = at(index)->next_free;
      pages = page_count_;
    }
    if (index == none && !grow(pages)) return std::nullopt;
  }
  entry& e = *at(index);
  const base::lock_guard guard(e.lock);
  const auto id = (e.uses << index_bits & ids_mask) | index |
                  (allows(what.rights, access::notified) ? notified_bit : 0);
  e.awaited_bytes = notified(id) ? count_awaited(what.bytes) : 0;
  e.bytes = what.bytes;
  e.token = what.token;
  e.who = what.who;
  e.rights = what.rights;
  e.current.store(id,
                  std::memory_order_relaxed);  // read again under the lock, which carries the rest
  return id;
}

base::result<ticket> exposures::expose(const exposure& what) noexcept {
  const auto id = add(what);
  if (!id) return base::failed(base::fault_kind::no_memory, "no memory to expose more");
  return ticket{.id = *id,
                .address = reinterpret_cast<std::uintptr_t>(what.bytes.data()),
                .bytes = what.bytes.size()};
}

exposures::entry* exposures::find(std::uint64_t id) noexcept {
  entry* e = id == 0 ? nullptr : at(id);
  // A hint that carries no data: it is checked again under the lock.
  if (!e || e->current.load(std::memory_order_relaxed) != id) return nullptr;
  e->lock.lock();
  if (e->current.load(std::memory_order_relaxed) == id) return e;
  e->lock.unlock();
  return nullptr;
}

std::uint64_t exposures::remove(std::uint64_t id) noexcept {
  entry* e = find(id);
  if (!e) return 0;
  const auto holders = std::exchange(e->holders, 0);
  if (e->awaited_bytes != 0) {
    awaited_bytes_.fetch_sub(e->awaited_bytes, std::memory_order_relaxed);
    const std::byte* begin = e->bytes.data();
    last_awaited_.compare_exchange_strong(begin, nullptr, std::memory_order_relaxed);
  }
  e->lent = 0;
  e->bytes = {};
  ++e->uses;
  e->current.store(0, std::memory_order_relaxed);  // under the lock
  e->lock.unlock();
  const base::lock_guard guard(free_lock_);
  e->next_free = std::exchange(first_free_, static_cast<std::uint32_t>(id & (entries_max - 1)));
  return holders;
}

exposures::found exposures::change(peer_id peer, const remote_place& at, const atomic_request& what,
                                   std::uint64_t& before) noexcept {
  bool aligned = true;
  auto said = use({peer, at.exposed.id, at.offset, sizeof before, access::atomic},
                  [&](std::span<std::byte> word) {
                    aligned = reinterpret_cast<std::uintptr_t>(word.data()) % sizeof before == 0;
                    if (!aligned) return;
                    auto* const number = reinterpret_cast<std::uint64_t*>(word.data());
                    before = changed(std::atomic_ref(*number), what);
                  });
  if (!aligned) said.what = answer::out_of_bounds;
  return said;
}

void exposures::give_back(std::uint64_t id) noexcept {
  entry* e = find(id);
  if (!e) return;
  HEADWAY_DEBUG_ASSERT(e->lent > 0);
  if (--e->lent == 0) e->holders = 0;
  e->lock.unlock();
}

}  // namespace headway::rails
