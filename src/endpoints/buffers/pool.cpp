#include "endpoints/buffers/pool.hpp"

#include <cstring>
#include <new>

namespace headway::endpoints {
namespace {

block& make_heap_block(void* memory) noexcept {
  auto* b = new (memory) block;
  b->mark = block::heap_mark;
  b->owner = block::nobody;
  return *b;
}

}  // namespace

pool::found pool::find_elsewhere(const void* data) noexcept {
  region* own = blocks_.own();
  region* where = own && own->contains(data) ? own : others_.at(data);
  if (!where)
    return {.trouble = blocks_.belongs_to_another(data) ? wrong::other_job : wrong::not_a_buffer};
  block* b = where->header_of(data);
  if (!b) return {.trouble = where->damaged(data) ? wrong::damaged : wrong::not_a_buffer};
  if (b->job != blocks_.options().job) return {.trouble = wrong::other_job};
  return {.header = b, .lent = where->in_lent_view(data)};
}

void* pool::address_of(block& b, bool lent) noexcept {
  region* home = region_of(b.owner);
  return home ? home->address_of(b, lent) : nullptr;
}

void pool::end_message(block& b, bool lent) noexcept {
  if (lent ? ownership::end_share(b) : ownership::end_whole(b)) give_back(b);
}

wrong pool::release_lent(block& b) noexcept {
  bool freed = false;
  const auto how = ownership::release_lent(b, freed);
  if (freed) give_back(b);
  return how;
}

wrong pool::release_later(const void* data) noexcept {
  const found f = find(data);
  if (f.trouble != wrong::none) return f.trouble;
  if (f.lent) return release_lent(*f.header);
  bool freed = false;
  const auto how = ownership::release_later(*f.header, freed);
  if (freed) give_back(*f.header);
  return how;
}

block& pool::heap_block(std::size_t bytes) {
  return make_heap_block(::operator new(sizeof(block) + bytes, std::align_val_t{alignof(block)}));
}

block* pool::copy_on_heap(const block& from, std::size_t bytes) noexcept {
  void* memory =
      ::operator new(sizeof(block) + bytes, std::align_val_t{alignof(block)}, std::nothrow);
  if (!memory) return nullptr;
  block& made = make_heap_block(memory);
  std::memcpy(made.data(), from.data(), bytes);
  return &made;
}

void pool::give_back_elsewhere(block& b) noexcept {
  if (b.mark == block::heap_mark) return ::operator delete(&b, std::align_val_t{alignof(block)});
  region* home = region_of(b.owner);
  if (!home) return;
  blocks_.poison(b);
  home->returned().push(b.place, [&](std::uint64_t next) {
    b.next = next;
    block::elsewhere.leaves();
  });
}

}  // namespace headway::endpoints
