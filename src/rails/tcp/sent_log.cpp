#include "rails/tcp/sent_log.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/assert.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::size_t free_blocks_max = 16;     // what a full socket buffer leaves behind
constexpr std::size_t borrowed_min = 8 * 1024;  // a copy of less costs as much as a range

}  // namespace

sent_log::~sent_log() { close(); }

void sent_log::close() noexcept {
  open_ = false;
  forget(end_);
  delete std::exchange(filling_, nullptr);
  while (block* const b = free_) {
    free_ = b->next;
    delete b;
  }
  free_count_ = 0;
  ranges_.reset();
  written_ = end_;
}

void sent_log::begin(int fd, const receipts& told, source by) noexcept {
  fd_ = fd;
  told_ = &told;
  by_ = by;
}

// ---- what was sent ------------------------------------------------------------------------------

/// A connection whose other end has sent nothing may have been given up there: what that kernel
/// has acknowledged is lost with it.
std::uint64_t sent_log::acknowledged() const noexcept {
  if (fd_ < 0) return begin_;
  if (by_ == source::peer)
    return std::clamp(told_->received.load(std::memory_order_relaxed), begin_, written_);
  if (!told_->has_sent.load(std::memory_order_relaxed)) return begin_;
  const auto missing = ask_(fd_);
  return !missing || *missing >= written_ - begin_ ? begin_ : written_ - *missing;
}

sent_log::block* sent_log::take_block() noexcept {
  if (block* const b = free_) {
    free_ = b->next;
    --free_count_;
    return b;
  }
  return new (std::nothrow) block;
}

void sent_log::free_block(block* b) noexcept {
  if (b == filling_) {
    filled_ = 0;  // begins anew: the same memory is used again while it is in the caches
  } else if (free_count_ == free_blocks_max) {
    delete b;
  } else {
    b->next = std::exchange(free_, b);
    ++free_count_;
  }
}

void sent_log::forget(std::uint64_t until) noexcept {
  while (count_ > 0 && at(0).first + at(0).bytes <= until) {
    block* const in = at(0).in;
    if (at(0).how == kept::lent) lent_bytes_ -= at(0).bytes;
    oldest_ = (oldest_ + 1) % ranges_max;
    --count_;
    if (in && --in->ranges == 0) free_block(in);
  }
  begin_ = std::max(begin_, std::min(until, end_));
}

void sent_log::trim() noexcept {
  forget(acknowledged());
  trimmed_at_ = end_;
  copied_ = 0;
}

bool sent_log::ensure_ranges() noexcept {
  if (!ranges_) ranges_.reset(new (std::nothrow) range[ranges_max]);
  return ranges_ != nullptr;
}

/// Bytes that cannot be kept.
void sent_log::pass_over(std::size_t bytes) noexcept {
  grow(bytes);
  forget(end_);
}

/// Before bytes are copied: what is forgotten may be all that lies in the block that they go to.
void sent_log::make_room_for_range() noexcept {
  if (count_ == ranges_max) trim();
  if (count_ == ranges_max) forget(at(0).first + at(0).bytes);
}

void sent_log::push(const range& r) noexcept {
  ++count_;
  *newest() = r;
  if (r.in) ++r.in->ranges;
}

/// Room for more copied bytes, at least `least`; empty: no memory.
std::span<std::byte> sent_log::room(std::size_t least) noexcept {
  if (!ensure_ranges()) return {};
  if (!filling_ || block_bytes - filled_ < least) {
    filling_ = take_block();  // the ranges of the former one own it now
    filled_ = 0;
  }
  return filling_ ? std::span(filling_->bytes).subspan(filled_) : std::span<std::byte>{};
}

std::byte* sent_log::place(std::size_t bytes) noexcept {
  if (!open_) return nullptr;
  HEADWAY_DEBUG_ASSERT(!rewound());
  make_room_for_range();
  return room(bytes).data();
}

void sent_log::add_placed(std::size_t bytes) noexcept {
  if (bytes == 0) return;
  const auto* const at = filling_->bytes.data() + filled_;
  filled_ += bytes;
  range* const last = newest();
  if (last && last->in == filling_ && last->at + last->bytes == at) {
    last->bytes += bytes;
  } else {
    push({.first = end_, .bytes = bytes, .at = at, .in = filling_});
  }
  grow(bytes);
  copied_ += bytes;
  if (copied_ >= block_bytes) trim();
}

void sent_log::add(std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty() && open_) {
    auto* const to = place(1);
    if (!to) return pass_over(bytes.size());
    const auto part = bytes.first(std::min(bytes.size(), block_bytes - filled_));
    std::memcpy(to, part.data(), part.size());
    add_placed(part.size());
    bytes = bytes.subspan(part.size());
  }
}

/// Bytes that stay where they are.
void sent_log::keep(std::span<const std::byte> bytes, kept how) noexcept {
  HEADWAY_DEBUG_ASSERT(!rewound());
  if (!ensure_ranges()) return pass_over(bytes.size());
  while (!bytes.empty()) {
    make_room_for_range();
    range* const last = newest();
    const bool goes_on = last && last->how == how && last->bytes < block_bytes &&
                         last->at + last->bytes == bytes.data();
    const auto part =
        bytes.first(std::min(bytes.size(), goes_on ? block_bytes - last->bytes : block_bytes));
    if (goes_on) last->bytes += part.size();
    else push({.first = end_, .bytes = part.size(), .at = part.data(), .how = how});
    if (how == kept::lent) lent_bytes_ += part.size();
    grow(part.size());
    bytes = bytes.subspan(part.size());
  }
}

void sent_log::borrow(std::span<const std::byte> bytes) noexcept {
  if (!open_ || bytes.size() < borrowed_min) return add(bytes);
  keep(bytes, kept::borrowed);
}

/// Half of the ranges are left to what is copied: a range of it is up to a block.
void sent_log::lend(std::span<const std::byte> bytes) noexcept {
  constexpr auto most = ranges_max / 2;
  if ((offered_ += bytes.size()) <= copied_unasked) return add(bytes);
  if (count_ >= most && end_ - trimmed_at_ >= block_bytes) trim();
  if (!open_ || bytes.size() < lent_min || count_ >= most) return add(bytes);
  keep(bytes, kept::lent);
}

std::size_t sent_log::borrowed() noexcept {
  if (!open_) return 0;
  trim();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count_; ++i)
    if (at(i).how == kept::borrowed) bytes += at(i).bytes;
  return bytes;
}

void sent_log::give_back() noexcept {
  if (!open_) return;
  trim();
  copy_all(kept::borrowed);
}

void sent_log::reclaim() noexcept {
  offered_ = 0;
  if (lent_bytes_ > copied_unasked) trim();
  if (lent_bytes_ != 0) copy_all(kept::lent);
}

void sent_log::copy_all(kept how) noexcept {
  for (std::size_t i = count_; i-- > 0;) {
    range& r = at(i);
    if (r.how != how) continue;
    const auto to = room(r.bytes);
    if (to.empty()) return forget(r.first + r.bytes);  // with all that is older
    std::memcpy(to.data(), r.at, r.bytes);
    filled_ += r.bytes;
    copied_ += r.bytes;
    if (how == kept::lent) lent_bytes_ -= r.bytes;
    r.at = to.data();
    r.in = filling_;
    r.how = kept::copied;
    ++filling_->ranges;
  }
}

// ---- what is sent again -------------------------------------------------------------------------

bool sent_log::rewind(std::uint64_t received) noexcept {
  if (received < begin_ || received > end_) return false;
  forget(received);
  written_ = received;
  return true;
}

std::size_t sent_log::gather(std::span<iovec> vectors) const noexcept {
  std::size_t used = 0;
  for (std::size_t i = 0; i < count_ && used < vectors.size(); ++i) {
    const range& r = at(i);
    if (r.first + r.bytes <= written_) continue;
    const auto skip = written_ > r.first ? static_cast<std::size_t>(written_ - r.first) : 0;
    // The kernel only reads; iovec has no const.
    vectors[used++] = {.iov_base = const_cast<std::byte*>(r.at + skip), .iov_len = r.bytes - skip};
  }
  return used;
}

}  // namespace headway::rails::tcp
