// What libmpi_abi.so.1 exports besides MPI: the table that libheadway.so in the same process uses
// instead of its own.
#include "c_api/endpoints/calls.hpp"

extern "C" HEADWAY_PUBLIC const headway::endpoint_api::table* headway_endpoint_table(void);

const headway::endpoint_api::table* headway_endpoint_table(void) {
  return &headway::endpoint_api::own_table();
}
