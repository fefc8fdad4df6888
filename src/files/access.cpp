#include "files/access.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace headway::files {
namespace {

/// A piece of a file, and where its bytes are among those of the access.
struct piece {
  std::int64_t offset, bytes, at;
};

/// Pieces are read together if they are shorter than that on average, and if no more than so much
/// lies between two of them.
constexpr std::int64_t small_bytes_max = 16 * 1024, gap_bytes_max = 4 * 1024;

/// Moves packed data to or from a file.
class mover {
 public:
  mover(const open_file& file, const view& seen) noexcept : file_(file), view_(seen) {}

  /// The bytes at `position` of the view.
  [[nodiscard]] moved move(direction way, std::int64_t position, std::byte* data,
                           std::int64_t bytes) {
    if (view_.is_contiguous()) return one(way, {view_.offset_of(position), bytes, 0}, data);
    list(position, bytes);
    moved all;
    for (std::size_t first = 0; first < pieces_.size();) {
      const auto behind = way == direction::reading ? last_near(first) : first + 1;
      const auto next =
          behind - first == 1 ? one(way, pieces_[first], data) : read_together(first, behind, data);
      all.bytes += next.bytes;
      all.error = next.error;
      const auto& last = pieces_[behind - 1];
      if (all.error != 0 || all.bytes < last.at + last.bytes) break;
      first = behind;
    }
    return all;
  }

 private:
  [[nodiscard]] moved one(direction way, const piece& p, std::byte* data) const noexcept {
    return way == direction::reading ? file_.read(data + p.at, p.bytes, p.offset)
                                     : file_.write(data + p.at, p.bytes, p.offset);
  }

  void list(std::int64_t position, std::int64_t bytes) {
    pieces_.clear();
    std::int64_t at = 0;
    bool complete = true;
    view_.for_each_piece(position, position + bytes, [&](std::int64_t offset, std::int64_t length) {
      complete = complete && add({offset, length, at});
      at += length;
    });
    if (!complete) throw std::bad_alloc();  // not in `add`: nothing may be thrown through a layout
  }

  [[nodiscard]] bool add(const piece& next) noexcept try {
    pieces_.push_back(next);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  /// Behind the last piece that is read together with `first`.
  [[nodiscard]] std::size_t last_near(std::size_t first) const noexcept {
    auto behind = first + 1;
    std::int64_t useful = pieces_[first].bytes;
    for (; behind < pieces_.size(); ++behind) {
      const auto& before = pieces_[behind - 1];
      const auto& next = pieces_[behind];
      const auto gap = next.offset - (before.offset + before.bytes);
      const auto span = next.offset + next.bytes - pieces_[first].offset;
      useful += next.bytes;
      const auto count = static_cast<std::int64_t>(behind - first + 1);
      if (gap < 0 || gap > gap_bytes_max || span > staging_bytes_max ||
          useful > count * small_bytes_max)
        break;
    }
    return behind;
  }

  [[nodiscard]] moved read_together(std::size_t first, std::size_t behind, std::byte* data) {
    const auto begin = pieces_[first].offset;
    const auto end = pieces_[behind - 1].offset + pieces_[behind - 1].bytes;
    if (!span_) span_ = std::make_unique_for_overwrite<std::byte[]>(staging_bytes_max);
    const auto got = file_.read(span_.get(), end - begin, begin);
    moved all{.error = got.error};
    for (auto i = first; i < behind; ++i) {
      const auto& p = pieces_[i];
      const auto there = std::clamp<std::int64_t>(begin + got.bytes - p.offset, 0, p.bytes);
      std::memcpy(data + p.at, span_.get() + (p.offset - begin), static_cast<std::size_t>(there));
      all.bytes += there;
      if (there < p.bytes) break;
    }
    return all;
  }

  const open_file& file_;
  const view& view_;
  std::vector<piece> pieces_;
  std::unique_ptr<std::byte[]> span_;
};

[[nodiscard]] moved move_staged(const access& what, mover& by, std::int64_t bytes) {
  const auto& memory = what.memory;
  const auto stage_bytes = std::min(bytes, staging_bytes_max);
  const auto stage =
      std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(stage_bytes));
  moved all;
  while (all.bytes < bytes) {
    const auto begin = all.bytes, end = std::min(bytes, begin + stage_bytes);
    if (what.way == direction::writing)
      memory.type->pack(memory.buffer, memory.count, begin, end, stage.get());
    const auto next = by.move(what.way, what.position + begin, stage.get(), end - begin);
    if (what.way == direction::reading)
      memory.type->unpack(stage.get(), begin, begin + next.bytes, memory.buffer, memory.count);
    all.bytes += next.bytes;
    all.error = next.error;
    if (all.error != 0 || next.bytes < end - begin) break;
  }
  return all;
}

/// In one piece in memory, so that only the list of the file's pieces is limited.
[[nodiscard]] moved move_in_place(const access& what, mover& by, const view& seen,
                                  std::int64_t bytes) {
  std::byte* const data = what.memory.buffer + what.memory.type->true_lb();
  const auto step = seen.is_contiguous() ? bytes : staging_bytes_max;
  moved all;
  while (all.bytes < bytes) {
    const auto wanted = std::min(step, bytes - all.bytes);
    const auto next = by.move(what.way, what.position + all.bytes, data + all.bytes, wanted);
    all.bytes += next.bytes;
    all.error = next.error;
    if (all.error != 0 || next.bytes < wanted) break;
  }
  return all;
}

[[nodiscard]] moved move_all(const access& what, const open_file& file, const view& seen,
                             std::int64_t bytes) noexcept {
  try {
    mover by(file, seen);
    return what.memory.type->is_one_block(what.memory.count) ? move_in_place(what, by, seen, bytes)
                                                             : move_staged(what, by, bytes);
  } catch (const std::bad_alloc&) {
    return {.bytes = 0, .error = ENOMEM};
  }
}

}  // namespace

moved carry_out(const access& what, const open_file& file, const view& seen) noexcept {
  const auto bytes = what.memory.bytes();
  if (bytes == 0) return {};
  if (!what.atomic) return move_all(what, file, seen, bytes);
  const auto begin = seen.offset_of(what.position);
  const auto end = seen.offset_of(what.position + bytes - 1) + 1;
  const auto kind = what.way == direction::reading ? open_file::lock_kind::shared
                                                   : open_file::lock_kind::exclusive;
  if (const int error = file.lock(kind, begin, end)) return {.bytes = 0, .error = error};
  auto all = move_all(what, file, seen, bytes);
  if (const int error = file.unlock(begin, end); all.error == 0) all.error = error;
  return all;
}

}  // namespace headway::files
