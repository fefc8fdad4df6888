/* Every form of an access that moves data: what one form writes, each form reads. */
#include "files.h"

enum { ints = 25 };

typedef void form(MPI_File file, int* data, MPI_Status* status);

/* The shared pointer is where a rank's data lies if the ranks call in their order. */
static void in_order(MPI_File file, form* run, int* data, MPI_Status* status) {
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  for (int rank = 0; rank < check_size; ++rank) {
    if (rank == check_rank) run(file, data, status);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void wait_for(MPI_Request request, MPI_Status* status) {
  CHECK_OK(MPI_Wait(&request, status));
}
static MPI_Offset own(void) { return (MPI_Offset)check_rank * ints; }
static void seek(MPI_File file) { CHECK_OK(MPI_File_seek(file, own(), MPI_SEEK_SET)); }
static void seek_shared(MPI_File file) { CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET)); }

static void write_at(MPI_File file, int* data, MPI_Status* status) {
  CHECK_OK(MPI_File_write_at(file, own(), data, ints, MPI_INT, status));
}
static void iwrite_at(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  CHECK_OK(MPI_File_iwrite_at(file, own(), data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void write_at_all(MPI_File file, int* data, MPI_Status* status) {
  CHECK_OK(MPI_File_write_at_all(file, own(), data, ints, MPI_INT, status));
}
static void iwrite_at_all(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  CHECK_OK(MPI_File_iwrite_at_all(file, own(), data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void plain_write(MPI_File file, int* data, MPI_Status* status) {
  seek(file);
  CHECK_OK(MPI_File_write(file, data, ints, MPI_INT, status));
}
static void iplain_write(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  seek(file);
  CHECK_OK(MPI_File_iwrite(file, data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void write_all(MPI_File file, int* data, MPI_Status* status) {
  seek(file);
  CHECK_OK(MPI_File_write_all(file, data, ints, MPI_INT, status));
}
static void iwrite_all(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  seek(file);
  CHECK_OK(MPI_File_iwrite_all(file, data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void one_write_shared(MPI_File file, int* data, MPI_Status* status) {
  CHECK_OK(MPI_File_write_shared(file, data, ints, MPI_INT, status));
}
static void one_iwrite_shared(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  CHECK_OK(MPI_File_iwrite_shared(file, data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void write_shared(MPI_File file, int* data, MPI_Status* status) {
  in_order(file, one_write_shared, data, status);
}
static void iwrite_shared(MPI_File file, int* data, MPI_Status* status) {
  in_order(file, one_iwrite_shared, data, status);
}
static void write_ordered(MPI_File file, int* data, MPI_Status* status) {
  seek_shared(file);
  CHECK_OK(MPI_File_write_ordered(file, data, ints, MPI_INT, status));
}
static void split_write_ordered(MPI_File file, int* data, MPI_Status* status) {
  seek_shared(file);
  CHECK_OK(MPI_File_write_ordered_begin(file, data, ints, MPI_INT));
  CHECK_OK(MPI_File_write_ordered_end(file, data, status));
}
static void split_write_all(MPI_File file, int* data, MPI_Status* status) {
  seek(file);
  CHECK_OK(MPI_File_write_all_begin(file, data, ints, MPI_INT));
  CHECK_OK(MPI_File_write_all_end(file, data, status));
}
static void split_write_at_all(MPI_File file, int* data, MPI_Status* status) {
  CHECK_OK(MPI_File_write_at_all_begin(file, own(), data, ints, MPI_INT));
  CHECK_OK(MPI_File_write_at_all_end(file, data, status));
}

static void read_at(MPI_File file, int* data, MPI_Status* status) {
  CHECK_OK(MPI_File_read_at(file, own(), data, ints, MPI_INT, status));
}
static void iread_at(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  CHECK_OK(MPI_File_iread_at(file, own(), data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void read_at_all(MPI_File file, int* data, MPI_Status* status) {
  CHECK_OK(MPI_File_read_at_all(file, own(), data, ints, MPI_INT, status));
}
static void iread_at_all(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  CHECK_OK(MPI_File_iread_at_all(file, own(), data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void plain_read(MPI_File file, int* data, MPI_Status* status) {
  seek(file);
  CHECK_OK(MPI_File_read(file, data, ints, MPI_INT, status));
}
static void iplain_read(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  seek(file);
  CHECK_OK(MPI_File_iread(file, data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void read_all(MPI_File file, int* data, MPI_Status* status) {
  seek(file);
  CHECK_OK(MPI_File_read_all(file, data, ints, MPI_INT, status));
}
static void iread_all(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  seek(file);
  CHECK_OK(MPI_File_iread_all(file, data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void one_read_shared(MPI_File file, int* data, MPI_Status* status) {
  CHECK_OK(MPI_File_read_shared(file, data, ints, MPI_INT, status));
}
static void one_iread_shared(MPI_File file, int* data, MPI_Status* status) {
  MPI_Request request;
  CHECK_OK(MPI_File_iread_shared(file, data, ints, MPI_INT, &request));
  wait_for(request, status);
}
static void read_shared(MPI_File file, int* data, MPI_Status* status) {
  in_order(file, one_read_shared, data, status);
}
static void iread_shared(MPI_File file, int* data, MPI_Status* status) {
  in_order(file, one_iread_shared, data, status);
}
static void read_ordered(MPI_File file, int* data, MPI_Status* status) {
  seek_shared(file);
  CHECK_OK(MPI_File_read_ordered(file, data, ints, MPI_INT, status));
}
static void split_read_ordered(MPI_File file, int* data, MPI_Status* status) {
  seek_shared(file);
  CHECK_OK(MPI_File_read_ordered_begin(file, data, ints, MPI_INT));
  CHECK_OK(MPI_File_read_ordered_end(file, data, status));
}
static void split_read_all(MPI_File file, int* data, MPI_Status* status) {
  seek(file);
  CHECK_OK(MPI_File_read_all_begin(file, data, ints, MPI_INT));
  CHECK_OK(MPI_File_read_all_end(file, data, status));
}
static void split_read_at_all(MPI_File file, int* data, MPI_Status* status) {
  CHECK_OK(MPI_File_read_at_all_begin(file, own(), data, ints, MPI_INT));
  CHECK_OK(MPI_File_read_at_all_end(file, data, status));
}

static form* const write_forms[] = {
    write_at,      iwrite_at,           write_at_all,    iwrite_at_all,     plain_write,
    iplain_write,  write_all,           iwrite_all,      write_shared,      iwrite_shared,
    write_ordered, split_write_ordered, split_write_all, split_write_at_all};
static form* const read_forms[] = {
    read_at,      iread_at,           read_at_all,    iread_at_all,     plain_read,
    iplain_read,  read_all,           iread_all,      read_shared,      iread_shared,
    read_ordered, split_read_ordered, split_read_all, split_read_at_all};
enum {
  writes = sizeof write_forms / sizeof *write_forms,
  reads = sizeof read_forms / sizeof *read_forms
};

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Info hints;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "cb_nodes", "1");
  CHECK_OK(MPI_File_set_info(file, hints));
  MPI_Info_free(&hints);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int w = 0; w < writes; ++w)
    for (int r = 0; r < reads; ++r) {
      int data[ints], back[ints];
      MPI_Status status;
      for (int i = 0; i < ints; ++i) data[i] = (w * reads + r) * 10000 + check_rank * 100 + i;
      memset(back, -1, sizeof back);
      write_forms[w](file, data, &status);
      CHECK(count_of(&status, MPI_INT) == ints, "write %d: %d", w, count_of(&status, MPI_INT));
      MPI_Barrier(MPI_COMM_WORLD);
      read_forms[r](file, back, &status);
      CHECK(count_of(&status, MPI_INT) == ints, "read %d: %d", r, count_of(&status, MPI_INT));
      CHECK(memcmp(data, back, sizeof data) == 0, "write %d, read %d: %d, not %d", w, r, back[0],
            data[0]);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  CHECK_OK(MPI_File_close(&file));
  return check_end("forms");
}
