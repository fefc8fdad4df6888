/* Files as such: access modes, their errors, size, group, hints, deletion, error handlers. */
#include "files.h"

static char path[path_max];

static void modes_are_checked(void) {
  static const int wrong[] = {0,
                              MPI_MODE_RDONLY | MPI_MODE_WRONLY,
                              MPI_MODE_WRONLY | MPI_MODE_RDWR,
                              MPI_MODE_RDONLY | MPI_MODE_CREATE,
                              MPI_MODE_RDONLY | MPI_MODE_EXCL,
                              MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL};
  MPI_File file;
  for (int i = 0; i < (int)(sizeof wrong / sizeof *wrong); ++i)
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, wrong[i], MPI_INFO_NULL, &file), MPI_ERR_AMODE);
  if (check_size > 1) {
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, check_rank == 0 ? 0 : MPI_MODE_RDWR,
                              MPI_INFO_NULL, &file),
                check_rank == 0 ? MPI_ERR_AMODE : MPI_ERR_NOT_SAME);
    const int amode = MPI_MODE_CREATE | (check_rank == 0 ? MPI_MODE_RDWR : MPI_MODE_WRONLY);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file), MPI_ERR_NOT_SAME);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void what_the_system_refuses_has_its_class(void) {
  MPI_File file = MPI_FILE_NULL;
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file),
              MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/tmp", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
              MPI_ERR_BAD_FILE);
  CHECK(file == MPI_FILE_NULL, "the handle of a file that was not opened");
  CHECK_CLASS(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  MPI_Barrier(MPI_COMM_WORLD);
  const int new = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, new, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL, "the handle of a closed file");
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, new, MPI_INFO_NULL, &file), MPI_ERR_FILE_EXISTS);
}

/* `path` exists, and is empty. */
static void a_file_knows_what_it_was_opened_with(void) {
  MPI_File file;
  MPI_Info hints, shown;
  MPI_Group group, world;
  char value[MPI_MAX_INFO_VAL + 1];
  int amode, same, flag, length = sizeof value;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "access_style", "write_once");
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, hints, &file));
  MPI_Info_free(&hints);
  CHECK_OK(MPI_File_get_amode(file, &amode));
  CHECK(amode == MPI_MODE_RDWR, "%d", amode);
  CHECK_OK(MPI_File_get_group(file, &group));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &same);
  CHECK(same == MPI_IDENT, "%d", same);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  CHECK_OK(MPI_File_get_info(file, &shown));
  MPI_Info_get_string(shown, "access_style", &length, value, &flag);
  CHECK(flag && strcmp(value, "write_once") == 0, "%s", flag ? value : "no hint");
  MPI_Info_free(&shown);
  CHECK_OK(MPI_File_close(&file));
}

static void sizes_change_together(void) {
  MPI_File file;
  MPI_Offset size;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_set_size(file, 1000));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK(size == 1000, "%lld", (long long)size);
  CHECK_OK(MPI_File_preallocate(file, 500));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK(size == 1000, "%lld", (long long)size);
  CHECK_OK(MPI_File_preallocate(file, 3000));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK(size == 3000, "%lld", (long long)size);
  if (check_size > 1) CHECK_CLASS(MPI_File_set_size(file, 10 + check_rank), MPI_ERR_NOT_SAME);
  CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
  CHECK_OK(MPI_File_close(&file));
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  CHECK_CLASS(MPI_File_set_size(file, 5), MPI_ERR_READ_ONLY);
  CHECK_OK(MPI_File_close(&file));
}

/* `path` has 3000 bytes. */
static void appending_begins_at_the_end(void) {
  MPI_File file;
  MPI_Offset at;
  CHECK_OK(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_get_position(file, &at));
  CHECK(at == 3000, "%lld", (long long)at);
  CHECK_OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == 3000, "%lld", (long long)at);
  CHECK_OK(MPI_File_close(&file));
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_close(&file));
  CHECK(access(path, F_OK) != 0, "the file is still there");
}

static int errors_seen;
static void count_error(MPI_File* file, int* code, ...) {
  (void)file;
  (void)code;
  ++errors_seen;
}

static void errors_call_the_handler_of_the_file(void) {
  MPI_File file;
  MPI_Errhandler counts, had;
  char byte;
  MPI_File_create_errhandler(count_error, &counts);
  CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &had));
  CHECK(had == MPI_ERRORS_RETURN, "the default error handler");
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, counts));
  errors_seen = 0;
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file),
              MPI_ERR_NO_SUCH_FILE);
  CHECK(errors_seen == 1, "%d", errors_seen);
  file = new_file(MPI_MODE_WRONLY);
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_File_read_at(file, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  CHECK(errors_seen == 2, "%d", errors_seen);
  CHECK_OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_File_read_at(file, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  CHECK(errors_seen == 2, "%d", errors_seen);
  MPI_Errhandler_free(&counts);
  CHECK_OK(MPI_File_close(&file));
}

static void handles_are_checked(void) {
  MPI_File file = new_file(MPI_MODE_RDWR), closed = file;
  MPI_Offset size;
  char byte = 0;
  MPI_Datatype not_committed;
  MPI_Type_contiguous(1, MPI_BYTE, &not_committed);
  CHECK_CLASS(MPI_File_write_at(file, 0, &byte, 1, not_committed, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_File_write_at(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_File_write_at(file, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  MPI_Type_free(&not_committed);
  CHECK_OK(MPI_File_close(&file));
  CHECK_CLASS(MPI_File_get_size(closed, &size), MPI_ERR_FILE);
  CHECK_CLASS(MPI_File_get_size(MPI_FILE_NULL, &size), MPI_ERR_FILE);
  CHECK_CLASS(MPI_File_close(&file), MPI_ERR_FILE);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  new_path(path);
  modes_are_checked();
  what_the_system_refuses_has_its_class();
  a_file_knows_what_it_was_opened_with();
  sizes_change_together();
  appending_begins_at_the_end();
  errors_call_the_handler_of_the_file();
  handles_are_checked();
  return check_end("opening");
}
