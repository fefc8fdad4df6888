#include "progress/core/events.hpp"

namespace headway::progress::events {

base::event_type wait_slept{
    "progress.wait_slept",
    {"slept_ns"},
    "a thread of the program slept in a wait, because what it waits for took longer than a spin"};

}  // namespace headway::progress::events
