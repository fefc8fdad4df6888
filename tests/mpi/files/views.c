/* Views: displacements, filetypes with holes, what other ranks see of the same file, data
 * representations; collective and independent accesses against what a plain loop finds. */
#include "files.h"

/* The ranks' blocks of `block` ints lie behind each other in turns. */
static void interleave(MPI_File file, int block) {
  MPI_Datatype ints, filetype;
  MPI_Type_contiguous(block, MPI_INT, &ints);
  MPI_Type_create_resized(ints, 0, (MPI_Aint)sizeof(int) * block * check_size, &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * block * check_rank, MPI_INT, filetype,
                             "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  MPI_Type_free(&ints);
}

static void ranks_interleave(int block, int count, int collective) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  int* data = malloc((size_t)count * sizeof *data);
  int* all = malloc((size_t)count * check_size * sizeof *all);
  MPI_Status status;
  interleave(file, block);
  for (int i = 0; i < count; ++i) data[i] = check_rank * 1000000 + i;
  CHECK_OK(collective ? MPI_File_write_all(file, data, count, MPI_INT, &status)
                      : MPI_File_write(file, data, count, MPI_INT, &status));
  CHECK(count_of(&status, MPI_INT) == count, "%d", count_of(&status, MPI_INT));
  memset(data, 0, (size_t)count * sizeof *data);
  CHECK_OK(collective ? MPI_File_read_at_all(file, 0, data, count, MPI_INT, &status)
                      : MPI_File_read_at(file, 0, data, count, MPI_INT, &status));
  CHECK(count_of(&status, MPI_INT) == count, "%d", count_of(&status, MPI_INT));
  for (int i = 0; i < count; ++i) CHECK(data[i] == check_rank * 1000000 + i, "[%d] %d", i, data[i]);
  read_plain(file, 0, all, count * check_size * (int)sizeof *all);
  for (int i = 0; i < count * check_size; ++i) {
    const int rank = i / block % check_size;
    const int expected = rank * 1000000 + i / (block * check_size) * block + i % block;
    CHECK(all[i] == expected, "[%d] %d, not %d", i, all[i], expected);
  }
  free(all);
  free(data);
  CHECK_OK(MPI_File_close(&file));
}

/* All ranks write the first bytes, and each some of its own, behind a gap that none writes.
 * Together they write as many bytes as there are from the first to the last one. */
static void a_gap_stays_where_ranks_write_the_same_bytes(void) {
  enum { length = 10, bytes_max = 100 };
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Datatype filetype;
  int lengths[] = {length, length}, places[] = {0, 2 * length + length * check_rank};
  char data[2 * length], found[bytes_max];
  if (check_rank == 0)
    CHECK_OK(MPI_File_write_at(file, 0, memset(found, 'g', bytes_max), bytes_max, MPI_BYTE,
                               MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_indexed(2, lengths, places, MPI_BYTE, &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  memset(data, 'a', length);
  memset(data + length, 'b' + check_rank, length);
  CHECK_OK(MPI_File_write_all(file, data, 2 * length, MPI_BYTE, MPI_STATUS_IGNORE));
  read_plain(file, 0, found, bytes_max);
  for (int i = 0; i < bytes_max; ++i) {
    const int rank = i / length - 2;
    const int expected = i < length ? 'a' : rank >= 0 && rank < check_size ? 'b' + rank : 'g';
    CHECK(found[i] == expected, "[%d] %d, not %d", i, found[i], expected);
  }
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_close(&file));
}

static void arguments_are_checked(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Datatype three, backwards;
  int lengths[] = {1, 1}, places[] = {3, 0};
  MPI_Type_contiguous(3, MPI_BYTE, &three);
  MPI_Type_commit(&three);
  MPI_Type_indexed(2, lengths, places, MPI_INT, &backwards);
  MPI_Type_commit(&backwards);
  CHECK_CLASS(MPI_File_set_view(file, -1, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native",
                                MPI_INFO_NULL),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, three, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, backwards, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "roman", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  if (check_size > 1) {
    MPI_Datatype type = check_rank == 0 ? MPI_INT : MPI_DOUBLE;
    CHECK_CLASS(MPI_File_set_view(file, 0, type, type, "native", MPI_INFO_NULL), MPI_ERR_NOT_SAME);
    /* The rank that is right learns of the other one's error. */
    CHECK_CLASS(MPI_File_set_view(file, check_rank - 1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
                MPI_ERR_ARG);
  }
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write(file, lengths, 1, three, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  MPI_Type_free(&three);
  MPI_Type_free(&backwards);
  CHECK_OK(MPI_File_close(&file));
}

static void a_view_is_shown(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Datatype vector, etype, filetype;
  MPI_Offset at;
  MPI_Aint lower, extent;
  char name[MPI_MAX_DATAREP_STRING];
  int size;
  CHECK_OK(MPI_File_get_view(file, &at, &etype, &filetype, name));
  CHECK(at == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(name, "native") == 0,
        "the view of a new file: %lld, %s", (long long)at, name);
  MPI_Type_vector(2, 1, 3, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  CHECK_OK(MPI_File_set_view(file, 12, MPI_INT, vector, "internal", MPI_INFO_NULL));
  MPI_Type_free(&vector);
  CHECK_OK(MPI_File_get_view(file, &at, &etype, &filetype, name));
  MPI_Type_size(filetype, &size);
  MPI_Type_get_extent(filetype, &lower, &extent);
  CHECK(at == 12 && etype == MPI_INT && size == 8 && extent == 16 && strcmp(name, "internal") == 0,
        "%lld, %d of %ld bytes, %s", (long long)at, size, (long)extent, name);
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_get_byte_offset(file, 3, &at));
  CHECK(at == 12 + 16 + 12, "%lld", (long long)at);
  CHECK_OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
  CHECK(extent == sizeof(double), "%ld", (long)extent);
  CHECK_OK(MPI_File_close(&file));
}

static void the_end_of_a_view_is_behind_its_last_etype(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Offset at;
  CHECK_OK(MPI_File_set_size(file, (MPI_Offset)sizeof(int) * (2 * check_size + 1)));
  interleave(file, 1);
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  CHECK_OK(MPI_File_get_position(file, &at));
  CHECK(at == (check_rank == 0 ? 3 : 2), "%lld", (long long)at);
  CHECK_OK(MPI_File_close(&file));
}

static void external32_is_big_endian(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  const int values[] = {0x01020304, -2};
  int back[3] = {0, 0, 7};
  unsigned char bytes[8];
  static const unsigned char expected[] = {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe};
  MPI_Status status;
  MPI_Request request;
  CHECK_OK(MPI_File_set_view(file, 8 * check_rank, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write(file, values, 2, MPI_INT, &status));
  CHECK(count_of(&status, MPI_INT) == 2, "%d", count_of(&status, MPI_INT));
  CHECK_OK(MPI_File_iread_at(file, 0, back, 2, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK(back[0] == values[0] && back[1] == values[1] && back[2] == 7, "%x %x", back[0], back[1]);
  read_plain(file, 8 * check_rank, bytes, 8);
  CHECK(memcmp(bytes, expected, 8) == 0, "%d %d %d %d", bytes[0], bytes[1], bytes[2], bytes[3]);
  /* A read that ends inside of an element has what there is. */
  MPI_Datatype many;
  int some[8] = {0};
  MPI_Type_contiguous(8, MPI_INT, &many);
  MPI_Type_commit(&many);
  CHECK_OK(
      MPI_File_set_view(file, 8 * (check_size - 1), MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at(file, 0, some, 1, many, &status));
  CHECK(count_of(&status, MPI_INT) == 2, "%d", count_of(&status, MPI_INT));
  CHECK(some[0] == values[0] && some[1] == values[1] && some[2] == 0, "%x %x", some[0], some[1]);
  MPI_Type_free(&many);
  CHECK_OK(MPI_File_close(&file));
}

/* A representation of the program's: every byte is inverted. */
static int invert(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position,
                  void* state) {
  int size;
  unsigned char *from = state ? memory : file, *to = state ? file : memory;
  MPI_Type_size(type, &size);
  CHECK(position == 0, "%lld", (long long)position);
  for (int i = 0; i < count * size; ++i) to[i] = (unsigned char)~from[i];
  return MPI_SUCCESS;
}
static int to_file(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position,
                   void* state) {
  return invert(memory, type, count, file, position, state ? state : file);
}
static int from_file(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position,
                     void* state) {
  (void)state;
  return invert(memory, type, count, file, position, NULL);
}
static int same_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  MPI_Aint lower;
  (void)state;
  return MPI_Type_get_extent(type, &lower, extent);
}

static void the_program_converts(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  const int value = 0x01020304;
  int back = 0, plain = 0;
  CHECK_OK(MPI_Register_datarep("inverted", from_file, to_file, same_extent, NULL));
  CHECK_CLASS(MPI_Register_datarep("inverted", from_file, to_file, same_extent, NULL),
              MPI_ERR_DUP_DATAREP);
  CHECK_CLASS(MPI_Register_datarep("native", from_file, to_file, same_extent, NULL),
              MPI_ERR_DUP_DATAREP);
  CHECK_CLASS(MPI_Register_datarep_c("inverted", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C,
                                     same_extent, NULL),
              MPI_ERR_DUP_DATAREP);
  CHECK_OK(MPI_File_set_view(file, 4 * check_rank, MPI_INT, MPI_INT, "inverted", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at(file, 0, &back, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(back == value, "%x", back);
  read_plain(file, 4 * check_rank, &plain, 4);
  CHECK(plain == ~value, "%x", plain);
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int collective = 0; collective < 2; ++collective) {
    ranks_interleave(1, 300, collective);
    ranks_interleave(16, 20000, collective);
    ranks_interleave(500, 5000, collective);
    ranks_interleave(3000, 9000, collective);
  }
  a_gap_stays_where_ranks_write_the_same_bytes();
  arguments_are_checked();
  a_view_is_shown();
  the_end_of_a_view_is_behind_its_last_etype();
  external32_is_big_endian();
  the_program_converts();
  return check_end("views");
}
