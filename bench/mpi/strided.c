/// One-way time of data that is not one block of memory on either side, between ranks 0 and 1: by a
/// derived datatype, and packed by hand into memory that is kept, sent, and unpacked by hand.
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/// A struct with a gap and a member of odd size; 15 of its 24 bytes are sent.
struct record {
  double value;
  int count;
  int not_sent;
  char name[3];
};
enum { record_bytes = 15, indexed_block_max = 7, vector_block_doubles = 16 };

/// Data of one kind: `units` of it in `memory`, of which `bytes` are sent.
struct data {
  size_t bytes, units;
  char* memory;
  char* packed;
  int* blocks;  ///< of `indexed`: doubles in each block; a block is followed by as large a gap
};

/// Moves the data between `memory` and `packed`, as a program would that packs by hand.
typedef void by_hand(struct data* d, bool pack);

static void hand_column(struct data* d, bool pack) {
  double* memory = (double*)d->memory;
  double* packed = (double*)d->packed;
  if (pack)
    for (size_t i = 0; i < d->units; ++i) packed[i] = memory[2 * i];
  else
    for (size_t i = 0; i < d->units; ++i) memory[2 * i] = packed[i];
}

static void hand_blocks(struct data* d, bool pack) {
  enum { bytes = vector_block_doubles * sizeof(double) };
  for (size_t i = 0; i < d->units; ++i) {
    char* at = d->memory + 2 * i * bytes;
    if (pack) memcpy(d->packed + i * bytes, at, bytes);
    else memcpy(at, d->packed + i * bytes, bytes);
  }
}

static void hand_indexed(struct data* d, bool pack) {
  double* memory = (double*)d->memory;
  double* packed = (double*)d->packed;
  for (size_t i = 0; i < d->units; ++i) {
    const int length = d->blocks[i];
    if (pack)
      for (int k = 0; k < length; ++k) packed[k] = memory[k];
    else
      for (int k = 0; k < length; ++k) memory[k] = packed[k];
    packed += length;
    memory += 2 * length;
  }
}

static void hand_struct(struct data* d, bool pack) {
  struct record* records = (struct record*)d->memory;
  for (size_t i = 0; i < d->units; ++i) {
    char* at = d->packed + i * record_bytes;
    struct record* r = &records[i];
    if (pack) {
      memcpy(at, &r->value, 8);
      memcpy(at + 8, &r->count, 4);
      memcpy(at + 12, r->name, 3);
    } else {
      memcpy(&r->value, at, 8);
      memcpy(&r->count, at + 8, 4);
      memcpy(r->name, at + 12, 3);
    }
  }
}

/// Each makes a type of which one element is all of the data, and sets `units` and exact `bytes`.
typedef MPI_Datatype maker(struct data* d);

static MPI_Datatype make_column(struct data* d) {
  MPI_Datatype made;
  d->units = d->bytes / sizeof(double);
  d->bytes = d->units * sizeof(double);
  MPI_Type_vector((int)d->units, 1, 2, MPI_DOUBLE, &made);
  return made;
}

static MPI_Datatype make_blocks(struct data* d) {
  MPI_Datatype made;
  d->units = d->bytes / (vector_block_doubles * sizeof(double));
  d->bytes = d->units * vector_block_doubles * sizeof(double);
  MPI_Type_vector((int)d->units, vector_block_doubles, 2 * vector_block_doubles, MPI_DOUBLE, &made);
  return made;
}

static MPI_Datatype make_indexed(struct data* d) {
  const size_t doubles = d->bytes / sizeof(double);
  d->blocks = malloc(doubles * sizeof *d->blocks);
  int* const starts = malloc(doubles * sizeof *starts);
  if (d->blocks == NULL || starts == NULL) abort();
  size_t sent = 0;
  for (d->units = 0; sent < doubles; ++d->units) {
    const size_t wanted = 1 + d->units * 5 % indexed_block_max;
    const size_t length = wanted < doubles - sent ? wanted : doubles - sent;
    d->blocks[d->units] = (int)length;
    starts[d->units] = (int)(2 * sent);
    sent += length;
  }
  d->bytes = doubles * sizeof(double);
  MPI_Datatype made;
  MPI_Type_indexed((int)d->units, d->blocks, starts, MPI_DOUBLE, &made);
  free(starts);
  return made;
}

static MPI_Datatype make_struct(struct data* d) {
  d->units = d->bytes / record_bytes;
  d->bytes = d->units * record_bytes;
  const int lengths[] = {1, 1, 3};
  const MPI_Aint places[] = {offsetof(struct record, value), offsetof(struct record, count),
                             offsetof(struct record, name)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
  MPI_Datatype members, one, made;
  MPI_Type_create_struct(3, lengths, places, types, &members);
  MPI_Type_create_resized(members, 0, sizeof(struct record), &one);
  MPI_Type_contiguous((int)d->units, one, &made);
  MPI_Type_free(&members);
  MPI_Type_free(&one);
  return made;
}

static const struct kind {
  const char* name;
  maker* make;
  by_hand* by_hand;
} kinds[] = {{"column", make_column, hand_column},
             {"blocks", make_blocks, hand_blocks},
             {"indexed", make_indexed, hand_indexed},
             {"struct", make_struct, hand_struct}};

enum how { typed, hand, contiguous, hows };

struct exchange {
  const struct kind* kind;
  struct data data;
  MPI_Datatype type;
  int peer;
};

static void send_one(struct exchange* x, enum how how) {
  struct data* d = &x->data;
  if (how == typed) {
    MPI_Send(d->memory, 1, x->type, x->peer, 0, MPI_COMM_WORLD);
    return;
  }
  if (how == hand) x->kind->by_hand(d, true);
  MPI_Send(d->packed, (int)d->bytes, MPI_BYTE, x->peer, 0, MPI_COMM_WORLD);
}

static void receive_one(struct exchange* x, enum how how) {
  struct data* d = &x->data;
  if (how == typed) {
    MPI_Recv(d->memory, 1, x->type, x->peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Recv(d->packed, (int)d->bytes, MPI_BYTE, x->peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (how == hand) x->kind->by_hand(d, false);
}

/// Microseconds one way.
static double once(struct exchange* x, enum how how) {
  const uint64_t start = now_ns();
  if (x->peer == 1) {
    send_one(x, how);
    receive_one(x, how);
  } else {
    receive_one(x, how);
    send_one(x, how);
  }
  return (double)(now_ns() - start) / 2000;
}

static void measure(struct bench* b, const struct kind* kind, size_t bytes) {
  struct exchange x = {.kind = kind, .data = {.bytes = bytes}, .peer = 1 - b->rank};
  x.type = kind->make(&x.data);
  MPI_Type_commit(&x.type);
  x.data.memory = buffer(2 * bytes + 64);
  x.data.packed = buffer(bytes);
  double first_us = 0;
  for (int how = 0; how < hows; ++how) first_us += once(&x, (enum how)how);
  first_us += once(&x, typed);
  const long rounds = bench_repeat(b, first_us * 2000, 10, samples_max);
  struct samples samples[hows] = {{0}};
  const uint64_t start = now_ns();
  // In turns, so that a disturbance meets all three.
  for (long done = 0; bench_goes_on(b, done, rounds, start); ++done)
    for (int how = 0; how < hows; ++how) samples_add(&samples[how], once(&x, (enum how)how));
  double median[hows];
  for (int how = 0; how < hows; ++how) {
    median[how] = summarise(&samples[how]).median;
    samples_free(&samples[how]);
  }
  table_row(&b->table, kind->name,
            (double[]){(double)bytes, median[typed], median[hand], median[contiguous],
                       median[hand] > 0 ? median[typed] / median[hand] : 0});
  MPI_Type_free(&x.type);
  free(x.data.memory);
  free(x.data.packed);
  free(x.data.blocks);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "strided",
                    .about =
                        "strided: data that is not contiguous on either side, one way.\n"
                        "column: every second double; blocks: 128 bytes of every 256;\n"
                        "indexed: blocks of 1 to 7 doubles; struct: 15 of 24 bytes.\n"
                        "median_us: by its datatype; by_hand_us: packed and unpacked by hand;\n"
                        "contiguous_us: as many bytes in one block.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 0.3};
  struct list sizes = {.count = 0};
  list_read(&sizes, "1K,8K,32K,128K,256K,1M,2M");
  const struct option own[] = {{"--sizes", option_list, &sizes, "bytes that are sent"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {
      {"bytes", 0}, {"median_us", 2}, {"by_hand_us", 2}, {"contiguous_us", 2}, {"ratio", 2}};
  bench_table(&b, "kind", columns, 5);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    for (int s = 0; s < sizes.count; ++s) measure(&b, &kinds[k], sizes.value[s]);
  return bench_finish(&b);
}
