#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "endpoints/buffers/block_allocator.hpp"
#include "endpoints/buffers/mapped_regions.hpp"
#include "endpoints/buffers/ownership.hpp"

namespace headway::endpoints {

/// The buffers of a process: those that it makes (block_allocator), those of other processes of the
/// machine that it can reach (mapped_regions), and which operations a holder may call (ownership).
///
/// Threads:  every function any thread.
/// Progress: never waits but for a spinlock over a list; the first request makes the memory.
/// Errors:   ownership mistakes are answers of type `wrong`; nothing changes then.
/// Source:   pcor02 (docs/papers.md, mechanism 22): request, probe, release at once, release later.
class pool {
 public:
  explicit pool(const pool_options& options) : blocks_(options) {}

  /// Makes the memory, if that was not done yet.
  [[nodiscard]] base::result<> open() { return blocks_.open(); }
  /// A block of at least `bytes`, held; nullptr: the memory is used up, or too little for that.
  [[nodiscard]] block* request(std::size_t bytes) noexcept { return blocks_.take(bytes); }
  /// A block that never becomes the program's: where the memory is used up it is from the heap, so
  /// that a program that holds all buffers still gets its credit and its news.
  [[nodiscard]] block& request_internal(std::size_t bytes) {
    block* b = request(bytes);
    return b ? *b : heap_block(bytes);
  }
  /// A block from the heap, for what must leave the memory to others. It too ends by `end_message`.
  [[nodiscard, gnu::noinline]] static block& heap_block(std::size_t bytes);

  /// A buffer that the program names, checked: its block, and whether it was only lent to it.
  struct found {
    block* header = nullptr;
    bool lent = false;
    wrong trouble = wrong::none;
  };
  [[nodiscard]] found find(const void* data) noexcept {
    region* own = blocks_.own();
    block* b = own ? own->header_of(data) : nullptr;
    if (!b || b->job != blocks_.options().job) return find_elsewhere(data);
    return {.header = b, .lent = own->in_lent_view(data)};
  }
  /// Where a holder of this process sees the data of `b`.
  [[nodiscard]] void* address_of(block& b, bool lent) noexcept;

  // The program's calls.
  [[nodiscard]] wrong release(const void* data) noexcept { return release(find(data)); }
  [[nodiscard]] wrong release(const found& f) noexcept;
  [[nodiscard]] wrong release_later(const void* data) noexcept;
  [[nodiscard]] wrong probe(const void* data, bool& idle) noexcept {
    const found f = find(data);
    return f.trouble != wrong::none ? f.trouble : ownership::probe(*f.header, f.lent, idle);
  }
  [[nodiscard]] wrong send(const found& f, bool keep) noexcept {
    return f.trouble != wrong::none ? f.trouble : ownership::send(*f.header, f.lent, keep);
  }

  // A message's ends.
  void receive(block& b, bool lent) noexcept {
    ownership::receive(b, lent, blocks_.options().process);
  }
  /// Without a receiver, or after a copy was taken of it.
  void end_message(block& b, bool lent) noexcept;

  // Other processes of this machine.
  [[nodiscard]] base::result<> map(const region_offer& offer) {
    return region_of(offer.owner) ? base::result<>{} : others_.map(offer, blocks_.options().job);
  }
  /// The region of `process`, or nullptr.
  [[nodiscard]] region* region_of(std::uint32_t process) noexcept {
    return process == blocks_.options().process ? blocks_.own() : others_.of(process);
  }
  /// Takes back the buffers of this process that `process`, which is dead, held.
  void reclaim(std::uint32_t process) noexcept {
    blocks_.put_back_if(
        [&](block& b) { return ownership::reclaim(b, process, blocks_.options().process); });
  }

  /// Memory taken so far, bytes: for programs that watch their growth.
  [[nodiscard]] std::size_t bytes_taken() const noexcept { return blocks_.bytes_taken(); }
  /// The most that it ever takes.
  [[nodiscard]] std::size_t bytes_max() const noexcept { return blocks_.options().bytes_max; }
  [[nodiscard]] std::uint32_t process() const noexcept { return blocks_.options().process; }
  [[nodiscard]] bool checks() const noexcept { return blocks_.options().checks; }

 private:
  /// In the region of another process, or with something wrong.
  [[nodiscard, gnu::noinline]] found find_elsewhere(const void* data) noexcept;
  [[nodiscard, gnu::noinline]] wrong release_lent(block& b) noexcept;
  [[gnu::noinline]] void give_back_elsewhere(block& b) noexcept;
  /// `b` is free, and no other thread knows it.
  void give_back(block& b) noexcept {
    if (b.owner != blocks_.options().process) return give_back_elsewhere(b);
    blocks_.put(b);
  }

  block_allocator blocks_;
  mapped_regions others_;
};

inline wrong pool::release(const found& f) noexcept {
  if (f.trouble != wrong::none) return f.trouble;
  if (f.lent) return release_lent(*f.header);
  const auto how = ownership::release(*f.header);
  if (how == wrong::none) [[likely]]
    give_back(*f.header);
  return how;
}

}  // namespace headway::endpoints
