// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "rails/settings.hpp"

namespace headway::rails {
namespace {

base::text_tunable rails_wanted{
    "HEADWAY_RAILS", "",
    "DRIVER or DRIVER:INTERFACE, by commas, with * and ?; all but those after a !",
    "drivers and interfaces to use, best first; empty: shared memory inside a node, TCP on the "
    "interfaces that reach others between nodes"};

base::number_tunable connections{
    "HEADWAY_CONNECTIONS",
    "connections",
    0,
    0,
    8,
    "connections to a peer on each interface of a network, each a rail of its own; more than one "
    "pays where one alone does not fill the link. The smaller number of both ends counts. 0: as "
    "many as `headway sample` found to pay between the two hosts, else one"};

}  // namespace

settings settings::from_environment() {
  return {.wanted = rails_wanted.get(), .connections = static_cast<int>(rails::connections.get())};
}

}  // namespace headway::rails
