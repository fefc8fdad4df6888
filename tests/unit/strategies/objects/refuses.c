#include <headway/strategy.h>

const struct headway_strategy* headway_strategy_get(const struct headway_strategy_host* host) {
  (void)host;
  return NULL;
}
