#include "runtime/job_router.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "wireup/process_record.hpp"

namespace headway::runtime {

job_router::job_router(const sources& from)
    : from_(from),
      self_{.job = processes::job_id_of(from.job.who().job_id),
            .rank = static_cast<std::uint32_t>(from.job.who().rank)} {
  HEADWAY_ASSERT(from.places.nodes().size() == static_cast<std::size_t>(from.job.who().size));
}

base::result<std::vector<std::byte>> job_router::record_of(rails::peer_id id) const {
  const auto process = from_.processes.at(id);
  if (process.job == self_.job) return from_.job.record_of(static_cast<int>(process.rank));
  if (auto known = from_.foreign.record_of(id)) return *std::move(known);
  return base::failed(base::fault_kind::unsupported,
                      "it is of another job, which is not connected");
}

base::result<> job_router::route(packets::peers& all, rails::peer_id id) {
  const auto process = from_.processes.at(id);
  const auto bytes = record_of(id);
  if (!bytes) return std::unexpected(bytes.error());
  const auto record = wireup::process_record::unpack(*bytes);
  if (!record) return std::unexpected(record.error());
  std::vector<std::optional<wireup::rail_address>> addresses;
  std::vector<std::size_t> turns;
  for (auto& theirs : from_.rails.to(*record, self_ <= process)) {
    addresses.push_back(std::move(theirs.address));
    turns.push_back(theirs.turn);
  }
  HEADWAY_ASSERT(addresses.size() == all.rail_count());
  const auto reaching = all.connect(id, addresses, turns);
  if (!reaching) return std::unexpected(reaching.error());
  if (*reaching > 1) recall_profiles(all, id, record->host);
  return {};
}

bool job_router::end_is_seen(rails::peer_id id) const noexcept {
  const auto process = from_.processes.at(id);
  const auto nodes = from_.places.nodes();
  if (process.job == self_.job)
    return process.rank != self_.rank && process.rank < nodes.size() &&
           nodes[process.rank] == nodes[self_.rank];
  const auto there = from_.foreign.position_of(id);
  return there && there->node == nodes[self_.rank];
}

void job_router::recall_profiles(packets::peers& all, rails::peer_id id, const std::string& host) {
  hosts_[id] = host;
  for (std::size_t i = 0; i < all.rail_count(); ++i)
    if (const auto known = from_.profiles.find(host, all.rail_at(i).query().name))
      all.know(id, i, *known);
}

void job_router::keep_profiles(packets::peers& all) const {
  for (const auto& [id, host] : hosts_)
    for (std::size_t i = 0; i < all.rail_count(); ++i)
      if (const auto found = all.learnt(id, i))
        from_.profiles.keep(host, all.rail_at(i).query().name, *found);
}

}  // namespace headway::runtime
