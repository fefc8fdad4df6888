#include "runtime/job_router.hpp"

#include <optional>
#include <vector>

#include "wireup/process_record.hpp"

namespace headway::runtime {

job_router::job_router(const sources& from)
    : from_(from), job_id_(processes::job_id_of(from.job.who().job_id)) {}

base::result<> job_router::route(packets::peers& all, rails::peer_id whom) {
  const auto process = from_.processes.at(whom);
  if (process.job != job_id_)
    return base::failed(base::fault_kind::unsupported, "it is of another job");
  const int rank = static_cast<int>(process.rank);
  const auto bytes = from_.job.record_of(rank);
  if (!bytes) return std::unexpected(bytes.error());
  const auto record = wireup::process_record::unpack(*bytes);
  if (!record) return std::unexpected(record.error());
  std::vector<std::optional<wireup::rail_address>> addresses;
  std::vector<std::size_t> turns;
  for (auto& theirs : from_.rails.to(*record, from_.job.who().rank <= rank)) {
    addresses.push_back(std::move(theirs.address));
    turns.push_back(theirs.turn);
  }
  const auto reaching = all.connect(whom, addresses, turns);
  if (!reaching) return std::unexpected(reaching.error());
  if (*reaching > 1) recall_profiles(all, whom, record->host);
  return {};
}

bool job_router::end_is_seen(rails::peer_id whom) const noexcept {
  const auto process = from_.processes.at(whom);
  const auto nodes = from_.places.nodes();
  const auto own_rank = static_cast<std::uint32_t>(from_.job.who().rank);
  return process.job == job_id_ && process.rank != own_rank &&
         nodes[process.rank] == nodes[own_rank];
}

void job_router::recall_profiles(packets::peers& all, rails::peer_id whom,
                                 const std::string& host) {
  hosts_[whom] = host;
  for (std::size_t i = 0; i < all.rail_count(); ++i)
    if (const auto known = from_.profiles.find(host, all.rail_at(i).query().name))
      all.know(whom, i, *known);
}

void job_router::keep_profiles(packets::peers& all) const {
  for (const auto& [whom, host] : hosts_)
    for (std::size_t i = 0; i < all.rail_count(); ++i)
      if (const auto found = all.learnt(whom, i))
        from_.profiles.keep(host, all.rail_at(i).query().name, *found);
}

}  // namespace headway::runtime
