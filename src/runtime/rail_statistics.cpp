#include "runtime/rail_statistics.hpp"

#include "packets/peer_state.hpp"
#include "packets/peers.hpp"
#include "runtime/counted_rail.hpp"

namespace headway::runtime {
namespace {

/// For rails that reach some peer together with others.
void add_bundle_rows(const packets::peers& peers, watch::page_image& image) {
  constexpr std::uint64_t milli = 1000;
  for (std::size_t i = 0; i < peers.rail_count(); ++i) {
    const auto use = peers.use_of(i);
    if (!use) continue;
    auto& row = image.add("bundle", peers.rail_at(i).query().name);
    row.add("packets", use->packets);
    row.add("frames", use->frames);
    row.add("per_frame_milli", use->frames == 0 ? 0 : use->packets * milli / use->frames);
    row.add("losses", use->losses);
    row.add("returns", use->returns);
  }
}

}  // namespace

void add_rail_rows(packets::peers& peers, const std::vector<progress::meter::report>& threads,
                   watch::page_image& image) {
  rail_count all;
  for (std::size_t i = 0; i < peers.rail_count(); ++i) {
    const auto* counted = dynamic_cast<const counted_rail*>(&peers.rail_at(i));
    if (!counted) continue;
    const auto c = counted->count();
    auto& row = image.add("rail", counted->query().name);
    row.add("packets_out", c.packets_out);
    row.add("bytes_out", c.bytes_out);
    row.add("packets_in", c.packets_in);
    row.add("bytes_in", c.bytes_in);
    row.add("bytes_overlap", c.bytes_overlap);
    all.bytes_in += c.bytes_in;
    all.bytes_out += c.bytes_out;
    all.bytes_overlap += c.bytes_overlap;
  }
  add_bundle_rows(peers, image);
  std::uint64_t waited_ns = 0;
  for (const auto& t : threads) waited_ns += t.waited_ns;
  auto& row = image.add("overlap", "messages");
  row.add("bytes_moved", all.bytes_in + all.bytes_out);
  row.add("bytes_overlap", all.bytes_overlap);
  row.add("waited_ns", waited_ns);
}

std::string name_of_rail_to(const packets::peers& peers, processes::peer_id process) {
  // Every peer that is found is the base of one.
  const auto* found = static_cast<const packets::peer_state*>(peers.find(process));
  if (!found || !found->reached()) return {};
  if (found->bundle()) return "several rails";
  for (std::size_t i = 0; i < peers.rail_count(); ++i)
    if (!found->sent_over_another(i)) return peers.rail_at(i).query().name;
  return {};
}

}  // namespace headway::runtime
