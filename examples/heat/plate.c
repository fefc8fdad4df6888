#include "plate.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double beta = 0.05;      ///< how much conductivity grows with temperature
static const double time_step = 0.2;  ///< stable: 4 * c_layer * (1 + beta) * time_step < 1
static const double exchange = 0.1;   ///< h, between two layers

static void* zeroed(size_t count) {
  double* memory = calloc(count, sizeof *memory);
  if (memory == NULL) {
    fprintf(stderr, "heat: no memory for %zu MB\n", count * sizeof(double) >> 20);
    exit(1);
  }
  return memory;
}

/// Doubles from one row to the next: a row has one cell of the rim at each end.
static size_t stride(const struct plate* p) {
  return (size_t)(p->whole.columns + 2) * (size_t)p->whole.layers;
}

int plate_row_length(const struct plate* p) { return p->whole.columns * p->whole.layers; }

double* plate_row(const struct plate* p, int index) {
  return p->now + (size_t)index * stride(p) + p->whole.layers;
}

/// A warm disc in the middle of the plate, whose layers differ.
static double at_start(const struct shape* s, int row, int column, int layer) {
  const double y = (row + 0.5) / s->rows - 0.5;
  const double x = (column + 0.5) / s->columns - 0.5;
  return exp(-12 * (x * x + y * y)) * (1 + 0.5 * sin(layer));
}

static void heat_up(struct plate* p) {
  for (int row = 1; row <= p->rows; ++row) {
    double* cell = plate_row(p, row);
    for (int column = 0; column < p->whole.columns; ++column)
      for (int layer = 0; layer < p->whole.layers; ++layer)
        *cell++ = at_start(&p->whole, p->first_row + row - 1, column, layer);
  }
}

struct plate plate_cut(struct shape whole, int first_row, int rows) {
  struct plate p = {.whole = whole, .first_row = first_row, .rows = rows};
  const size_t cells = (size_t)(rows + 2) * stride(&p);
  const size_t layers = (size_t)whole.layers;
  p.now = zeroed(cells);
  p.next = zeroed(cells);
  p.conductivity = zeroed(layers);
  p.above = zeroed(layers);
  p.below = zeroed(layers);
  for (int layer = 0; layer < whole.layers; ++layer) {
    p.conductivity[layer] = 0.5 * (1 + layer % 5) / 5.0;
    p.above[layer] = layer + 1 < whole.layers ? exchange : 0;
    p.below[layer] = layer > 0 ? exchange : 0;
  }
  heat_up(&p);
  return p;
}

void plate_free(struct plate* p) {
  free(p->now);
  free(p->next);
  free(p->conductivity);
  free(p->above);
  free(p->below);
  *p = (struct plate){.rows = 0};
}

/// Heat through the face between two cells, without the factor of the layer's conductivity.
static inline double flux(double cell, double next) {
  return (1 + beta * 0.5 * (cell + next)) * (next - cell);
}

/// One point of the grid, all its layers. `row`: doubles to the same cell of the next row.
static inline void advance_point(const struct plate* p, const double* restrict now,
                                 double* restrict next, size_t row) {
  const int layers = p->whole.layers;
  const double* restrict c = p->conductivity;
  const double* restrict above = p->above;
  const double* restrict below = p->below;
  for (int k = 0; k < layers; ++k) {
    const double cell = now[k];
    const double along = flux(cell, now[k - layers]) + flux(cell, now[k + layers]) +
                         flux(cell, now[k - (ptrdiff_t)row]) + flux(cell, now[k + row]);
    // Beyond the outermost layers lies another column's cell; its factor is 0.
    const double across = above[k] * (now[k + 1] - cell) + below[k] * (now[k - 1] - cell);
    next[k] = cell + time_step * (c[k] * along + across);
  }
}

void plate_advance(struct plate* p, int from, int to) {
  const size_t row = stride(p);
  for (int index = from; index <= to; ++index) {
    const double* now = plate_row(p, index);
    double* next = p->next + (now - p->now);
    for (int column = 0; column < p->whole.columns; ++column) {
      const size_t at = (size_t)column * (size_t)p->whole.layers;
      advance_point(p, now + at, next + at, row);
    }
  }
}

void plate_swap(struct plate* p) {
  double* now = p->now;
  p->now = p->next;
  p->next = now;
}

/// Mixes 64 bits so that each depends on all (the finaliser of a multiplicative hash).
static uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

uint64_t plate_fingerprint(const struct plate* p) {
  const uint64_t length = (uint64_t)plate_row_length(p);
  uint64_t sum = 0;
  for (int index = 1; index <= p->rows; ++index) {
    const double* cell = plate_row(p, index);
    const uint64_t first = (uint64_t)(p->first_row + index - 1) * length;
    for (uint64_t i = 0; i < length; ++i) {
      uint64_t bits;
      memcpy(&bits, &cell[i], sizeof bits);
      sum += mixed(bits ^ mixed(first + i + 1));
    }
  }
  return sum;
}

double plate_heat(const struct plate* p) {
  double sum = 0;
  for (int index = 1; index <= p->rows; ++index) {
    const double* cell = plate_row(p, index);
    for (int i = 0; i < plate_row_length(p); ++i) sum += cell[i];
  }
  return sum;
}
