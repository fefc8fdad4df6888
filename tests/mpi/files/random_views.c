/* Random filetypes and memory types, different on each rank: what all ranks write, alone or
 * together, is in the file where a plain loop over single bytes puts it, and nothing else has
 * changed. */
#include "files.h"

enum { file_bytes = 60000, blocks_max = 12, data_max = 4000, cases = 120 };

static unsigned long state;
static int below(int limit) {
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return (int)((state >> 33) % (unsigned long)limit);
}

/* Places in the file that belong to a rank: every `check_size` bytes one, in blocks. */
struct places {
  int lengths[blocks_max], at[blocks_max], count, extent, size;
};

/* All ranks draw the same lengths of slots; in each, a rank has its own part. */
static struct places draw_places(int rank) {
  struct places p = {.count = 1 + below(blocks_max)};
  int at = below(20);
  for (int i = 0; i < p.count; ++i) {
    const int slot = 1 + below(i % 3 == 0 ? 300 : 12);
    p.lengths[i] = slot;
    p.at[i] = at + rank * slot;
    p.size += slot;
    at += check_size * slot + (below(3) == 0 ? below(500) : 0);
  }
  p.extent = at + below(30);
  return p;
}

static MPI_Datatype type_of(const struct places* p) {
  MPI_Datatype blocks, made;
  MPI_Type_indexed(p->count, p->lengths, p->at, MPI_BYTE, &blocks);
  MPI_Type_create_resized(blocks, 0, p->extent, &made);
  MPI_Type_commit(&made);
  MPI_Type_free(&blocks);
  return made;
}

/* The place in the file of byte `i` of the view. */
static long place_of(const struct places* p, long displacement, long i) {
  long in = i % p->size;
  int block = 0;
  while (in >= p->lengths[block]) in -= p->lengths[block++];
  return displacement + i / p->size * p->extent + p->at[block] + in;
}

static void one_case(unsigned seed) {
  static unsigned char expected[file_bytes], found[file_bytes], data[2 * data_max],
      back[2 * data_max];
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Datatype memory, filetype;
  MPI_Status status;
  struct places own = {.size = 0};
  state = seed;
  const int collective = below(4) != 0, gap = below(2), displacement = below(100);
  const int offset = below(50), bytes_of_all = 1 + below(data_max);
  const int begins_full = below(2);
  memset(expected, begins_full ? 0xee : 0, sizeof expected);
  long end = 0;
  const unsigned long drawn = state;
  for (int rank = 0; rank < check_size; ++rank) {
    state = drawn;
    const struct places p = draw_places(rank);
    if (rank == check_rank) own = p;
    const int bytes = rank % 3 == 2 ? 0 : bytes_of_all;
    for (int i = 0; i < bytes; ++i) {
      const long at = place_of(&p, displacement, offset + i);
      if (at >= file_bytes) continue;
      expected[at] = pattern(rank, i);
      if (at >= end) end = at + 1;
    }
  }
  int bytes = check_rank % 3 == 2 ? 0 : bytes_of_all;
  while (bytes > 0 && place_of(&own, displacement, offset + bytes - 1) >= file_bytes) --bytes;
  if (begins_full && check_rank == 0)
    CHECK_OK(MPI_File_write_at(file, 0, memset(found, 0xee, file_bytes), file_bytes, MPI_BYTE,
                               MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  filetype = type_of(&own);
  CHECK_OK(MPI_File_set_view(file, displacement, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  /* In memory, every byte has a gap behind it, or none. */
  MPI_Type_create_resized(MPI_BYTE, 0, 1 + gap, &memory);
  MPI_Type_commit(&memory);
  for (int i = 0; i < bytes; ++i) data[i * (1 + gap)] = pattern(check_rank, i);
  CHECK_OK((collective ? MPI_File_write_at_all : MPI_File_write_at)(file, offset, data, bytes,
                                                                    memory, &status));
  CHECK(count_of(&status, MPI_BYTE) == bytes, "seed %u: %d of %d", seed,
        count_of(&status, MPI_BYTE), bytes);
  memset(back, 0, sizeof back);
  CHECK_OK((collective ? MPI_File_read_at_all : MPI_File_read_at)(file, offset, back, bytes, memory,
                                                                  &status));
  for (int i = 0; i < bytes; ++i)
    CHECK(back[i * (1 + gap)] == pattern(check_rank, i), "seed %u: byte %d is %d", seed, i,
          back[i * (1 + gap)]);
  MPI_Type_free(&memory);
  if (begins_full) end = file_bytes;
  memset(found, 0, sizeof found);
  read_plain(file, 0, found, (int)end);
  for (long i = 0; i < end; ++i)
    CHECK(found[i] == expected[i], "seed %u: the file has %d at %ld, not %d", seed, found[i], i,
          expected[i]);
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (unsigned seed = 1; seed <= cases; ++seed) one_case(seed);
  return check_end("random_views");
}
