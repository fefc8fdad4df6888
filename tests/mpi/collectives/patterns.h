/* Data in which every element identifies its origin, and datatypes with several layouts. */
#ifndef HEADWAY_TESTS_MPI_PATTERNS_H
#define HEADWAY_TESTS_MPI_PATTERNS_H

#include "check_all.h"

static inline long value_of(int rank, int block, long i) {
  return rank * 1000003L + block * 1009L + i;
}

/* A layout of longs: the offset of element i in a buffer, and the datatype for it. */
struct layout {
  const char* name;
  MPI_Datatype type;
  long stride; /* longs from one element to the next */
  int mine;    /* to be freed */
};

#define LAYOUTS 3

static inline void make_layouts(struct layout* l) {
  l[0] = (struct layout){"long", MPI_LONG, 1, 0};
  /* One long in the middle of three. */
  MPI_Datatype shifted;
  MPI_Aint eight = 8;
  MPI_Type_create_hindexed_block(1, 1, &eight, MPI_LONG, &shifted);
  l[1] = (struct layout){"gaps", MPI_DATATYPE_NULL, 3, 1};
  MPI_Type_create_resized(shifted, 0, 24, &l[1].type);
  MPI_Type_commit(&l[1].type);
  MPI_Type_free(&shifted);
  /* A structure of two halves. */
  int blocks[2] = {4, 4};
  MPI_Aint places[2] = {0, 4};
  MPI_Datatype types[2] = {MPI_BYTE, MPI_BYTE}, halves;
  MPI_Type_create_struct(2, blocks, places, types, &halves);
  l[2] = (struct layout){"halves", MPI_DATATYPE_NULL, 2, 1};
  MPI_Type_create_resized(halves, 0, 16, &l[2].type);
  MPI_Type_commit(&l[2].type);
  MPI_Type_free(&halves);
}

static inline void free_layouts(struct layout* l) {
  for (int i = 0; i < LAYOUTS; ++i)
    if (l[i].mine) MPI_Type_free(&l[i].type);
}

static inline long* element(long* buffer, const struct layout* l, long i) {
  return buffer + i * l->stride + (l->stride == 3 ? 1 : 0);
}

/* A buffer of `count` elements, every byte of it 0x5a. */
static inline long* new_buffer(const struct layout* l, long count) {
  const size_t bytes = (size_t)(count * l->stride + 1) * sizeof(long);
  long* made = malloc(bytes);
  memset(made, 0x5a, bytes);
  return made;
}

static inline void fill(long* buffer, const struct layout* l, long first, long count, int rank,
                        int block) {
  for (long i = 0; i < count; ++i) *element(buffer, l, first + i) = value_of(rank, block, i);
}

static inline int holds(long* buffer, const struct layout* l, long first, long count, int rank,
                        int block) {
  for (long i = 0; i < count; ++i)
    if (*element(buffer, l, first + i) != value_of(rank, block, i)) return 0;
  return 1;
}

static const long counts_tried[] = {0, 1, 3, 12, 13, 700, 20000};
#define COUNTS_TRIED ((int)(sizeof counts_tried / sizeof counts_tried[0]))

#endif
