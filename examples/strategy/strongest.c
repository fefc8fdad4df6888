/* Everything over the rail with the highest rate, large messages too: for a machine where a second
 * rail is there for others. HEADWAY_STRATEGY=/path/strongest.so. */
#include <headway/strategy.h>

static const struct headway_strategy_host* host;

static uint32_t strongest_of(const struct headway_rail* rails, size_t count) {
  const uint64_t bytes = 1 << 20;
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (rails[i].state == HEADWAY_RAIL_DOWN) continue;
    if (rails[best].state == HEADWAY_RAIL_DOWN ||
        host->piece_ns(&rails[i], bytes) < host->piece_ns(&rails[best], bytes))
      best = i;
  }
  return best;
}

static size_t choose(const struct headway_waiting* what) {
  const uint32_t best = strongest_of(what->rails, what->rail_count);
  /* To leave packets waiting is allowed only for a rail that is busy: it will ask again. */
  return what->rail == best || what->rails[best].state != HEADWAY_RAIL_BUSY;
}

static size_t split(uint64_t offset, uint64_t bytes, const struct headway_rail* rails,
                    size_t rail_count, struct headway_piece* pieces) {
  pieces[0] = (struct headway_piece){
      .offset = offset, .bytes = bytes, .rail = strongest_of(rails, rail_count)};
  return 1;
}

static const struct headway_strategy strongest = {
    .version = HEADWAY_STRATEGY_VERSION, .collects = 1, .choose = choose, .split = split};

const struct headway_strategy* headway_strategy_get(const struct headway_strategy_host* of) {
  if (of->version != HEADWAY_STRATEGY_VERSION) return NULL;
  host = of;
  return &strongest;
}
