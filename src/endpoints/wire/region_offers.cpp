#include "endpoints/wire/region_offers.hpp"

#include "base/log.hpp"

namespace headway::endpoints {

bool region_offers::maps(std::uint32_t process, std::uint32_t owner) noexcept {
  using answer = region_answers::answer;
  if (!share_) return false;
  // A buffer of this process has come back from it in place, so it maps our region; or it never had
  // one.
  if (process == owner) return same_node(process);
  auto& answers = remotes_[process].regions;
  const auto known = owner == self_ ? answers.look_own() : answers.look(owner);
  if (known != answer::unknown) return known == answer::yes;
  region* what = buffers_.region_of(owner);
  if (what && same_node(process))
    out_.tell(process, plain_head{.kind = wire_kind::region_offered, .process = owner},
              std::as_bytes(std::span(&what->offer(), 1)));
  return false;
}

void region_offers::arrived(std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  plain_head head;
  region_offer offer;
  if (!read_head(bytes, head) || head.process >= remotes_.size()) return;
  if (head.kind == wire_kind::region_answer) {
    const auto said = head.value == 1 ? region_answers::answer::yes : region_answers::answer::no;
    if (head.process == self_) return remotes_[from].regions.set_own(said);
    return remotes_[from].regions.set(head.process, said);
  }
  if (!read_head(bytes.subspan(sizeof head), offer)) return;
  bool well = offer.owner == head.process && share_ && same_node(from);
  if (well) {
    const auto mapped = buffers_.map(offer);
    well = mapped.has_value();
    if (!well)
      base::log(base::severity::info, "buffers of peer {} cannot be read in place: {}", offer.owner,
                mapped.error().text);
  }
  out_.tell(from, plain_head{.kind = wire_kind::region_answer,
                             .process = head.process,
                             .value = well ? 1u : 0u});
}

}  // namespace headway::endpoints
