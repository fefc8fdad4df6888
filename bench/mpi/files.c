/// Files: time of an access by all ranks to one file, a block of each rank in turn, and of the
/// shared pointer. `bytes` is a block; each rank has `--mb` megabytes in all (a block at most).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/// The file, one rank's data, and how much of it one access moves.
struct place {
  MPI_File file;
  char* data;
  size_t bytes;
};

typedef void access(struct place* p);

static void write_at(struct place* p) {
  MPI_File_write_at(p->file, 0, p->data, (int)p->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void write_at_all(struct place* p) {
  MPI_File_write_at_all(p->file, 0, p->data, (int)p->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void read_at(struct place* p) {
  MPI_File_read_at(p->file, 0, p->data, (int)p->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void read_at_all(struct place* p) {
  MPI_File_read_at_all(p->file, 0, p->data, (int)p->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void wait_for(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
static void iwrite_at_all(struct place* p) {
  MPI_Request request;
  MPI_File_iwrite_at_all(p->file, 0, p->data, (int)p->bytes, MPI_BYTE, &request);
  wait_for(request);
}
static void iread_at_all(struct place* p) {
  MPI_Request request;
  MPI_File_iread_at_all(p->file, 0, p->data, (int)p->bytes, MPI_BYTE, &request);
  wait_for(request);
}
static void write_shared(struct place* p) {
  MPI_File_write_shared(p->file, p->data, (int)p->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void write_ordered(struct place* p) {
  MPI_File_write_ordered(p->file, p->data, (int)p->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static const struct operation {
  const char* name;
  access* run;
  bool by_pointer;  ///< of one block; else of all blocks of the rank
} operations[] = {
    {"write_at", write_at, false},
    {"write_at_all", write_at_all, false},
    {"read_at", read_at, false},
    {"read_at_all", read_at_all, false},
    {"iwrite_at_all", iwrite_at_all, false},
    {"iread_at_all", iread_at_all, false},
    {"write_shared", write_shared, true},
    {"write_ordered", write_ordered, true},
};
enum { operations_count = sizeof operations / sizeof *operations };

/// The time on the slowest rank, in us, after a barrier.
static double timed(access* run, struct place* p) {
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t begun = now_ns();
  run(p);
  return (double)(now_ns() - begun) / 1000;
}

/// Blocks of all ranks lie behind each other in turns.
static void take_turns(const struct bench* b, MPI_File file, size_t block) {
  MPI_Datatype bytes, filetype;
  MPI_Type_contiguous((int)block, MPI_BYTE, &bytes);
  MPI_Type_create_resized(bytes, 0, (MPI_Aint)(block * (size_t)b->size), &filetype);
  MPI_Type_commit(&filetype);
  MPI_File_set_view(file, (MPI_Offset)(block * (size_t)b->rank), MPI_BYTE, filetype, "native",
                    MPI_INFO_NULL);
  MPI_Type_free(&filetype);
  MPI_Type_free(&bytes);
}

static void measure(struct bench* b, const struct operation* o, MPI_File file, size_t block,
                    size_t bytes) {
  struct place p = {file, buffer(bytes), o->by_pointer ? block : bytes};
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  if (!o->by_pointer) take_turns(b, file, block);
  struct samples trials = {0};
  for (int i = 0; i < 3; ++i) samples_add(&trials, largest(timed(o->run, &p)));
  const long rounds = bench_repeat(b, 1000 * median_of(&trials), 5, o->by_pointer ? 20000 : 500);
  struct samples samples = {0};
  for (long i = 0; i < rounds; ++i) samples_add(&samples, timed(o->run, &p));
  MPI_Allreduce(MPI_IN_PLACE, samples.value, (int)samples.count, MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
  const struct summary s = summarise(&samples);
  samples_free(&samples);
  const double moved = (double)p.bytes * b->size;
  table_row(&b->table, o->name,
            (double[]){b->size, (double)block, s.median, moved / s.median, (double)rounds});
  free(p.data);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "files",
                    .about = "files: time of an access of all ranks to one file.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .seconds = 0.2};
  struct list sizes = {.count = 0};
  list_read(&sizes, "64,4K,256K,4M");
  double megabytes = 4;
  const char* path = "headway-bench-files";
  const struct option own[] = {{"--sizes", option_list, &sizes, "bytes of a block"},
                               {"--mb", option_number, &megabytes, "megabytes of each rank"},
                               {"--path", option_text, &path, "the file, removed at the end"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, path,
                    MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS)
    bench_refuse(&b, "the file cannot be made");
  const struct column columns[] = {
      {"ranks", 0}, {"bytes", 0}, {"median_us", 2}, {"mb_per_s", 0}, {"calls", 0}};
  bench_table(&b, "operation", columns, 5);
  for (int o = 0; o < operations_count; ++o)
    for (int i = 0; i < (operations[o].by_pointer ? 1 : sizes.count); ++i) {
      const size_t block = sizes.value[i];
      const size_t bytes = (size_t)(megabytes * 1e6) / block * block;
      measure(&b, &operations[o], file, block, bytes > block ? bytes : block);
    }
  MPI_File_close(&file);
  return bench_finish(&b);
}
