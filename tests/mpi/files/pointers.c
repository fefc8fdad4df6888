/* Individual and shared file pointers, non-blocking and split collective accesses, what is read at
 * the end of a file, atomic mode, files that are used sequentially. */
#include "files.h"

enum { records = 200 };

/* What every record of `write_shared` holds. */
struct record {
  int rank, number, check;
};

static MPI_Datatype record_type(void) {
  MPI_Datatype made;
  MPI_Type_contiguous(3, MPI_INT, &made);
  MPI_Type_commit(&made);
  return made;
}

static MPI_Offset position(MPI_File file) {
  MPI_Offset at = -1;
  CHECK_OK(MPI_File_get_position(file, &at));
  return at;
}

static void the_individual_pointer_counts_etypes(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  int data[10] = {0}, back[10];
  MPI_Status status;
  MPI_Request request;
  for (int i = 0; i < 10; ++i) data[i] = 100 * check_rank + i;
  CHECK_OK(MPI_File_set_view(file, 40 * check_rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write(file, data, 4, MPI_INT, &status));
  CHECK(position(file) == 4, "%lld", (long long)position(file));
  CHECK_OK(MPI_File_iwrite(file, data + 4, 6, MPI_INT, &request));
  CHECK(position(file) == 10, "at the call: %lld", (long long)position(file));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK(count_of(&status, MPI_INT) == 6, "%d", count_of(&status, MPI_INT));
  CHECK_OK(MPI_File_seek(file, -3, MPI_SEEK_CUR));
  CHECK(position(file) == 7, "%lld", (long long)position(file));
  CHECK_OK(MPI_File_read(file, back, 3, MPI_INT, &status));
  CHECK(back[0] == data[7] && back[2] == data[9], "%d %d", back[0], back[2]);
  CHECK_CLASS(MPI_File_seek(file, -11, MPI_SEEK_CUR), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_seek(file, 0, 77), MPI_ERR_ARG);
  CHECK(position(file) == 10, "after a seek that failed: %lld", (long long)position(file));
  CHECK_OK(MPI_File_close(&file));
}

static void a_read_says_how_much_there_was(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  int back[8];
  MPI_Status status;
  MPI_Request request;
  CHECK_OK(MPI_File_set_size(file, 5 * sizeof(int)));
  CHECK_OK(MPI_File_read_at(file, 2 * sizeof(int), back, 8, MPI_INT, &status));
  CHECK(count_of(&status, MPI_INT) == 3, "%d", count_of(&status, MPI_INT));
  CHECK_OK(MPI_File_iread_at(file, 5 * sizeof(int), back, 8, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK(count_of(&status, MPI_INT) == 0, "%d", count_of(&status, MPI_INT));
  CHECK_OK(MPI_File_read_at(file, 4 * sizeof(int) + 1, back, 1, MPI_INT, &status));
  CHECK(count_of(&status, MPI_INT) == MPI_UNDEFINED, "%d", count_of(&status, MPI_INT));
  CHECK_OK(MPI_File_read_at_c(file, 0, back, (MPI_Count)0, MPI_INT, &status));
  CHECK(count_of(&status, MPI_INT) == 0, "%d", count_of(&status, MPI_INT));
  CHECK_OK(MPI_File_close(&file));
}

static void each_shared_record_is_there_once(int by_request) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Datatype type = record_type();
  MPI_Offset at;
  CHECK_OK(MPI_File_set_view(file, 8, type, type, "native", MPI_INFO_NULL));
  for (int i = 0; i < records; ++i) {
    const struct record r = {check_rank, i, check_rank * 7 + i};
    MPI_Request request;
    if (by_request) {
      CHECK_OK(MPI_File_iwrite_shared(file, &r, 1, type, &request));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
      CHECK_OK(MPI_File_write_shared(file, &r, 1, type, MPI_STATUS_IGNORE));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == records * check_size, "%lld", (long long)at);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  int* seen = calloc((size_t)records * check_size, sizeof *seen);
  for (int i = 0; i < records; ++i) {
    struct record r = {-1, -1, -1};
    CHECK_OK(MPI_File_read_shared(file, &r, 1, type, MPI_STATUS_IGNORE));
    CHECK(r.check == r.rank * 7 + r.number, "%d %d %d", r.rank, r.number, r.check);
    if (r.rank >= 0 && r.rank < check_size && r.number >= 0 && r.number < records)
      ++seen[r.rank * records + r.number];
  }
  MPI_Allreduce(MPI_IN_PLACE, seen, records * check_size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < records * check_size; ++i) CHECK(seen[i] == 1, "[%d] %d", i, seen[i]);
  free(seen);
  MPI_Type_free(&type);
  CHECK_OK(MPI_File_close(&file));
}

static void ordered_accesses_are_in_the_order_of_the_ranks(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  enum { rounds = 20 };
  int data[16], back[16], place = 0;
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int round = 0; round < rounds; ++round) {
    const int count = (check_rank + round) % 3;
    for (int i = 0; i < count; ++i) data[i] = 100000 * check_rank + 100 * round + i;
    if (round % 2 == 0) {
      CHECK_OK(MPI_File_write_ordered(file, data, count, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      CHECK_OK(MPI_File_write_ordered_begin(file, data, count, MPI_INT));
      CHECK_OK(MPI_File_write_ordered_end(file, data, MPI_STATUS_IGNORE));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < rounds; ++round)
    for (int rank = 0; rank < check_size; ++rank)
      for (int i = 0; i < (rank + round) % 3; ++i, ++place) {
        CHECK_OK(MPI_File_read_at(file, place, back, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(back[0] == 100000 * rank + 100 * round + i, "[%d] %d", place, back[0]);
      }
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  MPI_Status status;
  CHECK_OK(MPI_File_read_ordered(file, back, (check_rank) % 3, MPI_INT, &status));
  for (int i = 0; i < check_rank % 3; ++i) CHECK(back[i] == 100000 * check_rank + i, "%d", back[i]);
  CHECK_OK(MPI_File_close(&file));
}

static void many_requests_are_under_way(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  enum { pieces = 40, ints = 5000 };
  int* data = malloc(pieces * ints * sizeof *data);
  int* back = malloc(pieces * ints * sizeof *back);
  MPI_Request requests[pieces];
  MPI_Status statuses[pieces];
  MPI_Datatype vector;
  MPI_Type_vector(ints / 2, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  for (int i = 0; i < pieces * ints; ++i) data[i] = check_rank * 10000000 + i;
  const MPI_Offset own = (MPI_Offset)check_rank * pieces * ints * (MPI_Offset)sizeof *data;
  CHECK_OK(MPI_File_set_view(file, own, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int i = 0; i < pieces; ++i)
    CHECK_OK((i % 2 ? MPI_File_iwrite_at : MPI_File_iwrite_at_all)(
        file, (MPI_Offset)i * ints, data + i * ints, ints, MPI_INT, &requests[i]));
  CHECK_OK(MPI_Waitall(pieces, requests, statuses));
  for (int i = 0; i < pieces; ++i)
    CHECK(count_of(&statuses[i], MPI_INT) == ints, "%d", count_of(&statuses[i], MPI_INT));
  memset(back, 0, pieces * ints * sizeof *back);
  /* The type is freed at once: the requests keep what they need. */
  for (int i = 0; i < pieces; ++i)
    CHECK_OK(
        MPI_File_iread_at(file, (MPI_Offset)i * ints, back + i * ints, 1, vector, &requests[i]));
  MPI_Type_free(&vector);
  for (int done = 0, flag = 0; done < pieces; done += flag) {
    int index;
    CHECK_OK(MPI_Testany(pieces, requests, &index, &flag, &statuses[0]));
  }
  /* Of two ints in memory, one was read. */
  for (int i = 0; i < pieces * ints; ++i) {
    const int expected = i % 2 ? 0 : data[i / ints * ints + i % ints / 2];
    CHECK(back[i] == expected, "[%d] %d, not %d", i, back[i], expected);
  }
  free(data);
  free(back);
  CHECK_OK(MPI_File_close(&file));
}

static void a_split_access_ends_with_its_own_call(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  int data[4] = {1, 2, 3, check_rank}, back[4] = {0};
  MPI_Status status;
  CHECK_OK(MPI_File_set_view(file, 16 * check_rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write_all_end(file, data, &status), MPI_ERR_OTHER);
  CHECK_OK(MPI_File_write_all_begin(file, data, 4, MPI_INT));
  CHECK_CLASS(MPI_File_write_all_begin(file, data, 4, MPI_INT), MPI_ERR_OTHER);
  CHECK_CLASS(MPI_File_read_all_end(file, back, &status), MPI_ERR_OTHER);
  MPI_File still = file;
  CHECK_CLASS(MPI_File_close(&still), MPI_ERR_OTHER);
  CHECK_OK(MPI_File_write_all_end(file, data, &status));
  CHECK(count_of(&status, MPI_INT) == 4, "%d", count_of(&status, MPI_INT));
  CHECK_OK(MPI_File_read_at_all_begin(file, 0, back, 4, MPI_INT));
  CHECK_OK(MPI_File_read_at_all_end(file, back, &status));
  CHECK(memcmp(data, back, sizeof data) == 0, "%d %d", back[0], back[3]);
  CHECK_OK(MPI_File_close(&file));
}

/* All ranks write the same bytes again and again, each its own value: who reads sees one value. */
static void atomic_accesses_are_whole(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  enum { pieces = 50, rounds = 30 };
  MPI_Datatype vector;
  int flag = -1, data[pieces], back[pieces];
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK(flag == 0, "%d", flag);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK(flag == 1, "%d", flag);
  MPI_Type_vector(pieces, 1, 2000, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, vector, "native", MPI_INFO_NULL));
  for (int i = 0; i < pieces; ++i) data[i] = check_rank;
  CHECK_OK(MPI_File_write_at_all(file, 0, data, pieces, MPI_INT, MPI_STATUS_IGNORE));
  for (int round = 0; round < rounds; ++round) {
    CHECK_OK(MPI_File_write_at(file, 0, data, pieces, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at(file, 0, back, pieces, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 1; i < pieces; ++i)
      CHECK(back[i] == back[0], "[%d] %d and %d", i, back[i], back[0]);
  }
  if (check_size > 1) CHECK_CLASS(MPI_File_set_atomicity(file, check_rank == 0), MPI_ERR_NOT_SAME);
  MPI_Type_free(&vector);
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_close(&file));
}

static void sequential_files_have_a_shared_pointer_alone(void) {
  MPI_File file = new_file(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  MPI_Offset at;
  int value = check_rank;
  CHECK_CLASS(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_get_position(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  CHECK_OK(
      MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_get_size(file, &at));
  CHECK(at == 2 * check_size * (MPI_Offset)sizeof value, "%lld", (long long)at);
  CHECK_OK(MPI_File_close(&file));
}

static void each_rank_opens_a_file_alone(void) {
  char path[path_max + 16], common[path_max];
  MPI_File file;
  MPI_Offset at;
  int value = check_rank, back = -1;
  new_path(common);
  snprintf(path, sizeof path, "%s-%d", common, check_rank);
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, path,
                         MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &file));
  CHECK_OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == sizeof value, "%lld", (long long)at);
  CHECK_OK(MPI_File_read_at_all(file, 0, &back, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(back == value, "%d", back);
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  the_individual_pointer_counts_etypes();
  a_read_says_how_much_there_was();
  each_shared_record_is_there_once(0);
  each_shared_record_is_there_once(1);
  ordered_accesses_are_in_the_order_of_the_ranks();
  many_requests_are_under_way();
  a_split_access_ends_with_its_own_call();
  atomic_accesses_are_whole();
  sequential_files_have_a_shared_pointer_alone();
  each_rank_opens_a_file_alone();
  return check_end("pointers");
}
