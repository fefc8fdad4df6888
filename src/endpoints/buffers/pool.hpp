#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "endpoints/buffers/block_allocator.hpp"
#include "endpoints/buffers/mapped_regions.hpp"
#include "endpoints/buffers/ownership.hpp"

namespace headway::endpoints {

/// The buffers that a process can use: its own (block_allocator) and those of other processes of
/// the machine whose regions it maps (mapped_regions); `ownership` defines the operations of a
/// holder.
///
/// Threads:  every function any thread.
/// Progress: waits for nothing but a spinlock over a list; the first request makes the memory.
/// Errors:   misuse is answered with `wrong`, and has no effect.
/// Source:   pcor02 (docs/papers.md, mechanism 22): request, probe, release at once, release later.
class pool {
 public:
  explicit pool(const pool_options& options) : blocks_(options) {}

  /// Makes the memory, if it is not made yet. False: the kernel refuses it; the cause is logged.
  [[nodiscard]] bool open() { return blocks_.open(); }
  /// A block of at least `bytes`, held; nullptr: the memory is used up, or too small.
  [[nodiscard]] block* request(std::size_t bytes) noexcept { return blocks_.take(bytes); }
  /// A block for a message of `bytes` that has arrived, held; nullptr: it has to wait.
  [[nodiscard]] block* request_for_arrival(std::size_t bytes) noexcept {
    return blocks_.take_for_arrival(bytes);
  }
  /// The most bytes of a message for which there can be a block.
  [[nodiscard]] std::size_t arrival_bytes_max() const noexcept {
    return blocks_.arrival_bytes_max();
  }
  /// A block that is never passed to the program: if the memory is used up it comes from the heap,
  /// so that a program that holds all buffers still gets credit and control messages.
  [[nodiscard]] block& request_internal(std::size_t bytes) {
    block* b = request(bytes);
    return b ? *b : heap_block(bytes);
  }
  /// A block from the heap, for what must leave the memory to others. It also ends by
  /// `end_message`.
  [[nodiscard, gnu::noinline]] static block& heap_block(std::size_t bytes);
  /// A copy of a message in such a block; nullptr: the heap has no memory.
  [[nodiscard]] static block* copy_on_heap(const block& from, std::size_t bytes) noexcept;
  /// Whether `b` is of the memory for arrivals, of any process: as long as messages to others
  /// occupy it, none can arrive.
  [[nodiscard]] bool is_for_arrivals(const block& b) noexcept {
    const region* home = region_of(b.owner);
    return home && b.place >= home->reserve_begin();
  }

  /// A buffer that the program passes, checked: its block, and whether it was only lent to the
  /// program.
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
  /// Where a holder in this process sees the data of `b`.
  [[nodiscard]] void* address_of(block& b, bool lent) noexcept;

  // Operations of the program.
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

  // Operations at the end of a message.
  void receive(block& b, bool lent) noexcept {
    ownership::receive(b, lent, blocks_.options().process);
  }
  /// Without a receiver, or after it was copied.
  void end_message(block& b, bool lent) noexcept;

  // Operations for other processes of this machine.
  [[nodiscard]] base::result<> map(const region_offer& offer) {
    return region_of(offer.owner) ? base::result<>{} : others_.map(offer, blocks_.options().job);
  }
  /// The region of `process`, or nullptr.
  [[nodiscard]] region* region_of(std::uint32_t process) noexcept {
    return process == blocks_.options().process ? blocks_.own() : others_.of(process);
  }
  /// Takes back the buffers of this process that the dead `process` held.
  void reclaim(std::uint32_t process) noexcept {
    blocks_.put_back_if(
        [&](block& b) { return ownership::reclaim(b, process, blocks_.options().process); });
  }

  /// Memory taken so far, in bytes: for programs that watch their growth.
  [[nodiscard]] std::size_t bytes_taken() const noexcept { return blocks_.bytes_taken(); }
  [[nodiscard]] std::uint32_t process() const noexcept { return blocks_.options().process; }
  [[nodiscard]] bool checks() const noexcept { return blocks_.options().checks; }

 private:
  /// For a buffer of another process's region, or a misused one.
  [[nodiscard, gnu::noinline]] found find_elsewhere(const void* data) noexcept;
  [[nodiscard, gnu::noinline]] wrong release_lent(block& b) noexcept;
  [[gnu::noinline]] void give_back_elsewhere(block& b) noexcept;
  /// `b` is free, and no other thread can access it.
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
