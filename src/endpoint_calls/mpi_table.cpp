// What libmpi_abi.so.1 exports beside MPI: the table that libheadway.so in the same process uses
// instead of its own.
#include "endpoint_calls/calls.hpp"

extern "C" HEADWAY_PUBLIC const headway::endpoint_calls::table* headway_endpoint_table(void);

const headway::endpoint_calls::table* headway_endpoint_table(void) {
  return &headway::endpoint_calls::own_table();
}
