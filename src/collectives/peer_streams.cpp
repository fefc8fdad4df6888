#include "collectives/peer_streams.hpp"

#include <algorithm>

#include "base/copy_between_cores.hpp"

namespace headway::collectives {

using messages::outcome;
using place_of_value = bank_memory::value::place;

bool peer_streams::is_whole(int rank) const noexcept {
  const auto& value = run_.memory.line_of(rank, run_.number).value;
  return value.total > sizeof value.small && value.longer.is_whole();
}

bool peer_streams::size_fits(int rank, std::int64_t due) noexcept {
  const auto& value = run_.memory.line_of(rank, run_.number).value;
  run_.banks.readers().note_finished(rank, value.finished);
  const bool none = value.total == bank_memory::no_stream;
  const auto bytes = static_cast<std::int64_t>(value.total);
  if (!none && bytes > run_.memory.bank_bytes() && !is_whole(rank)) run_.long_streams = true;
  if (!none && (bytes == due || due == any_size)) [[likely]]
    return true;
  run_.fail(!none && bytes > due ? outcome::truncated : outcome::failed, rank);
  return false;
}

peer_streams::found peer_streams::find(int rank, std::int64_t offset,
                                       std::int64_t bytes) const noexcept {
  auto& memory = run_.memory;
  const auto& l = memory.line_of(rank, run_.number);
  if (l.value.total <= sizeof l.value.small) return {l.value.small + offset, 0, bytes};
  if (l.value.total == bank_memory::no_stream) return {};
  const place_of_value& where = l.value.longer;
  if (where.address != 0)
    return {nullptr, where.address + static_cast<std::uint64_t>(offset), bytes};
  const auto ready = static_cast<std::int64_t>(l.bytes_ready());
  if ((where.begin & place_of_value::in_ring) != 0) {
    const auto* stream = memory.ring(rank) + (where.begin & ~place_of_value::in_ring);
    return {stream + offset, 0, std::clamp<std::int64_t>(ready - offset, 0, bytes)};
  }
  if (const auto which = where.passed(); which != rails::passed_place::none && memory.passed()) {
    const auto* stream = memory.passed()->find(which);
    return {stream + offset, 0, stream ? std::clamp<std::int64_t>(ready - offset, 0, bytes) : 0};
  }
  const auto at = offset % memory.bank_bytes();
  const auto there = std::min({ready - offset, bytes, memory.bank_bytes() - at});
  return {memory.bank(rank) + where.begin + at, 0, std::max<std::int64_t>(there, 0)};
}

bool peer_streams::read(int rank, const found& f, std::byte* to, std::int64_t bytes) noexcept {
  const auto size = static_cast<std::size_t>(bytes);
  if (f.here) {
    if (run_.past_caches) base::copy_past_caches(to, f.here, size);
    else base::copy_from_writer(to, f.here, size);
    return true;
  }
  if (run_.ranks.memory.copies->read(rank, f.there, {to, size})) return true;
  run_.fail(run_.ranks.via.lost(rank) ? outcome::peer_lost : outcome::failed, rank);
  return false;
}

}  // namespace headway::collectives
