#include <headway/strategy.h>

static const struct headway_strategy it = {.version = 99};

const struct headway_strategy* headway_strategy_get(const struct headway_strategy_host* host) {
  (void)host;
  return &it;
}
