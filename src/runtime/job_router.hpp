#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "launch/job.hpp"
#include "packets/peers.hpp"
#include "processes/table.hpp"
#include "wireup/foreign_processes.hpp"
#include "wireup/peer_rails.hpp"
#include "wireup/places.hpp"
#include "wireup/profiles.hpp"

namespace headway::runtime {

/// Finds the rails to a process in its record, when that process is first used: of the job, or of
/// another one whose processes were introduced to this one. Stores the profiles of those rails for
/// later jobs.
/// Shape:    nothing for a process that was not used.
/// Threads:  as `packets::router`; `keep_profiles` with no other thread.
class job_router final : public packets::router {
 public:
  /// What it uses; all of it outlives it.
  struct sources {
    launch::job& job;
    const processes::table& processes;
    const wireup::places& places;
    const wireup::foreign_processes& foreign;
    const wireup::own_rails& rails;  ///< in the order of the rails of `peers`
    const wireup::rail_profiles& profiles;
  };
  explicit job_router(const sources& from);

  [[nodiscard]] base::result<> route(packets::peers& all, rails::peer_id id) override;
  /// Processes of this node: shared memory detects their end.
  [[nodiscard]] bool end_is_seen(rails::peer_id id) const noexcept override;
  /// Stores the profiles that this job's transfers have shown for peers with several rails.
  void keep_profiles(packets::peers& all) const;

 private:
  [[nodiscard]] base::result<std::vector<std::byte>> record_of(rails::peer_id id) const;
  void recall_profiles(packets::peers& all, rails::peer_id id, const std::string& host);

  const sources from_;
  const processes::process_id self_;
  std::map<rails::peer_id, std::string> hosts_;  // of peers with several rails
};

}  // namespace headway::runtime
