#include "wireup/foreign_processes.hpp"

#include "base/lock_guard.hpp"
#include "wireup/process_record.hpp"

namespace headway::wireup {

base::result<> foreign_processes::add(processes::peer_id process,
                                      std::span<const std::byte> record) {
  const base::lock_guard held(lock_);
  if (known_.contains(process)) return {};
  const auto read = process_record::unpack(record);
  if (!read) return std::unexpected(read.error());
  const auto& place = read->place;
  known_[process] = {.record = {record.begin(), record.end()},
                     .position = {.node = nodes_.of(place.memory),
                                  .computer = computers_.of(place.kernel),
                                  .processors = static_cast<int>(place.processors),
                                  .package = place.package}};
  return {};
}

std::optional<std::vector<std::byte>> foreign_processes::record_of(
    processes::peer_id process) const {
  const base::lock_guard held(lock_);
  const auto at = known_.find(process);
  return at == known_.end() ? std::nullopt : std::optional(at->second.record);
}

std::optional<process_position> foreign_processes::position_of(processes::peer_id process) const {
  const base::lock_guard held(lock_);
  const auto at = known_.find(process);
  return at == known_.end() ? std::nullopt : std::optional(at->second.position);
}

}  // namespace headway::wireup
