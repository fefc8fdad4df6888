/// The physics: heat in a laminated plate, a field of `layers` temperatures at each point of a 2-D
/// grid. Uses no MPI.
///
/// Each layer conducts along the plate, with a conductivity that grows with temperature, and
/// exchanges heat with the layers above and below it. Explicit Euler steps, fluxes through the
/// faces of cells:
///     dT/dt = div((1 + beta T) c_layer grad T) + h (T_above - 2 T + T_below)
/// The rim of the plate is kept at temperature 0; top and bottom are insulated.
#pragma once

#include <stdint.h>

struct shape {
  int rows, columns, layers;
};

/// Some consecutive rows of a plate, with one more row on either side: a neighbour's, or the rim.
/// A row is one piece of memory, so a halo is one message: columns * layers doubles.
struct plate {
  struct shape whole;
  int first_row;  ///< where the own rows start in the whole plate
  int rows;       ///< own rows; they have the indices 1 … rows, 0 and rows + 1 are the neighbours'
  double *now, *next;
  double *conductivity, *above, *below;  ///< by layer
};

/// Makes rows [first_row, first_row + rows) of the plate, with the temperatures at the start.
/// Errors: ends the program when there is no memory.
struct plate plate_cut(struct shape whole, int first_row, int rows);
void plate_free(struct plate* p);

/// The cells of row `index` (0 … rows + 1) as they are now, and how many doubles they are.
double* plate_row(const struct plate* p, int index);
int plate_row_length(const struct plate* p);

/// Computes rows [from, to] of the next time step from the rows around them.
void plate_advance(struct plate* p, int from, int to);
/// Makes the next time step the present one.
void plate_swap(struct plate* p);

/// A sum over all own cells of a hash of place and exact value: the parts of a cut plate add up,
/// modulo 2^64, to the sum of the whole if and only if (but for chance) every bit is the same.
uint64_t plate_fingerprint(const struct plate* p);
/// The sum of temperatures in the own rows, to be printed.
double plate_heat(const struct plate* p);
