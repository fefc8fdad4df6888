/* Error handlers: which one is called, with which arguments; added classes and codes. */
#include "check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void handler(MPI_Comm* comm, int* code, ...) {
  ++calls;
  last_comm = *comm;
  last_code = *code;
}

static void on_communicators(void) {
  MPI_Errhandler mine, got;
  MPI_Comm copy;
  int value = 0, code;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, mine);
  MPI_Comm_get_errhandler(copy, &got);
  CHECK(got == mine);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&mine);
  CHECK(mine == MPI_ERRHANDLER_NULL);
  code = MPI_Send(&value, -1, MPI_INT, 0, 0, copy);
  CHECK(code == MPI_ERR_COUNT && calls == 1 && last_comm == copy && last_code == code);
  CHECK(MPI_Comm_call_errhandler(copy, MPI_ERR_TOPOLOGY) == MPI_SUCCESS);
  CHECK(calls == 2 && last_code == MPI_ERR_TOPOLOGY);
  MPI_Comm_free(&copy);
}

/* An earlier failure with the same code, of a communicator that is gone, does not matter. */
static void called_by_the_program(void) {
  MPI_Errhandler mine;
  MPI_Comm gone, here;
  int value = 0, code, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &here);
  MPI_Comm_dup(MPI_COMM_WORLD, &gone);
  MPI_Comm_set_errhandler(here, mine);
  CHECK(MPI_Send(&value, -1, MPI_INT, 0, 0, gone) == MPI_ERR_COUNT);
  calls = 0;
  CHECK(MPI_Comm_call_errhandler(here, MPI_ERR_COUNT) == MPI_SUCCESS);
  CHECK(calls == 1 && last_comm == here && last_code == MPI_ERR_COUNT);
  CHECK(MPI_Send(&value, -1, MPI_INT, 0, 0, gone) == MPI_ERR_COUNT);
  MPI_Comm_free(&gone);
  CHECK(MPI_Comm_call_errhandler(here, MPI_ERR_COUNT) == MPI_SUCCESS);
  CHECK(calls == 2 && last_comm == here && last_code == MPI_ERR_COUNT);
  /* The text of a code of the program is the program's alone. */
  MPI_Add_error_code(MPI_ERR_OTHER, &code);
  MPI_Add_error_string(code, "no tea");
  CHECK(MPI_Comm_call_errhandler(here, code) == MPI_SUCCESS && last_code == code);
  MPI_Error_string(code, text, &length);
  CHECK(strcmp(text, "no tea") == 0 && length == 6);
  MPI_Remove_error_string(code);
  MPI_Remove_error_code(code);
  MPI_Errhandler_free(&mine);
  MPI_Comm_free(&here);
}

/* An error without a communicator calls MPI_COMM_SELF's handler. */
static void without_communicator(void) {
  MPI_Errhandler mine;
  int size;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
  calls = 0;
  CHECK(MPI_Group_size(MPI_GROUP_NULL, &size) == MPI_ERR_GROUP);
  CHECK(calls == 1 && last_comm == MPI_COMM_SELF);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&mine);
}

static void added_codes(void) {
  int class, code, length, *last, flag, found;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Add_error_class(&class);
  CHECK(class > MPI_ERR_LASTCODE);
  MPI_Add_error_code(class, &code);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK(flag && *last == code);
  MPI_Add_error_string(code, "out of cheese");
  MPI_Error_string(code, text, &length);
  CHECK(strcmp(text, "out of cheese") == 0);
  MPI_Error_class(code, &found);
  CHECK(found == class);
  REFUSED(MPI_Remove_error_class(class), MPI_ERR_ARG, "still has codes");
  CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
  CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
  CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS);
  CHECK(*last == MPI_ERR_LASTCODE);
  REFUSED(MPI_Add_error_string(MPI_ERR_RANK, "mine"), MPI_ERR_ARG, "cannot be changed");
}

/* Calls that make an object call the handler that they are given for their own errors. */
static int made_class = MPI_SUCCESS, null_handle, made_calls;
static void on_making(MPI_Comm* comm, int* code, ...) {
  MPI_Error_class(*code, &made_class);
  null_handle = *comm == MPI_COMM_NULL;
  ++made_calls;
}

/* Also for the errors of their arguments. */
static void with_bad_arguments(MPI_Group group, MPI_Errhandler mine) {
  MPI_Comm made;
  MPI_Info freed, copy;
  MPI_Info_create(&freed);
  copy = freed;
  MPI_Info_free(&freed);
#define HANDED_OVER(call, class_of_error)                                    \
  do {                                                                       \
    made_calls = 0;                                                          \
    CHECK((call) == (class_of_error));                                       \
    CHECK(made_calls == 1 && made_class == (class_of_error) && null_handle); \
  } while (0)
  HANDED_OVER(MPI_Comm_create_from_group(MPI_GROUP_NULL, "a", MPI_INFO_NULL, mine, &made),
              MPI_ERR_GROUP);
  HANDED_OVER(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, mine, &made), MPI_ERR_ARG);
  HANDED_OVER(MPI_Comm_create_from_group(group, "a", copy, mine, &made), MPI_ERR_INFO);
  HANDED_OVER(MPI_Comm_create_from_group(group, "a", MPI_INFO_NULL, mine, NULL), MPI_ERR_ARG);
  HANDED_OVER(MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, group, 0, "a", MPI_INFO_NULL,
                                               mine, &made),
              MPI_ERR_GROUP);
  HANDED_OVER(MPI_Intercomm_create_from_groups(group, 0, MPI_GROUP_NULL, 0, "a", MPI_INFO_NULL,
                                               mine, &made),
              MPI_ERR_GROUP);
  HANDED_OVER(
      MPI_Intercomm_create_from_groups(group, 0, group, 0, NULL, MPI_INFO_NULL, mine, &made),
      MPI_ERR_ARG);
  HANDED_OVER(MPI_Intercomm_create_from_groups(group, 0, group, 0, "a", copy, mine, &made),
              MPI_ERR_INFO);
  HANDED_OVER(MPI_Intercomm_create_from_groups(group, 0, group, 0, "a", MPI_INFO_NULL, mine, NULL),
              MPI_ERR_ARG);
}

static void while_making(void) {
  int rank;
  MPI_Group world, other;
  MPI_Comm made;
  MPI_Errhandler mine;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_excl(world, 1, &rank, &other);
  MPI_Comm_create_errhandler(on_making, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  with_bad_arguments(world, mine);
  CHECK(MPI_Intercomm_create_from_groups(world, 0, world, 0, "tag", MPI_INFO_NULL, mine, &made) !=
        MPI_SUCCESS);
  CHECK(made_class == MPI_ERR_COMM && null_handle);
  if (other != MPI_GROUP_EMPTY) {
    CHECK(MPI_Comm_create_from_group(other, "tag", MPI_INFO_NULL, mine, &made) != MPI_SUCCESS);
    CHECK(made_class == MPI_ERR_GROUP);
    REFUSED(MPI_Comm_create_from_group(other, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
            MPI_ERR_GROUP, "argument 1 (group)");
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&mine);
  if (other != MPI_GROUP_EMPTY) MPI_Group_free(&other);
  MPI_Group_free(&world);
}

static int file_calls, file_code;
static void on_file(MPI_File* file, int* code, ...) {
  CHECK(*file == MPI_FILE_NULL);
  ++file_calls;
  file_code = *code;
}

/* Files have a default handler, that of MPI_FILE_NULL. */
static void on_files(void) {
  MPI_Errhandler got, mine;
  MPI_File_get_errhandler(MPI_FILE_NULL, &got);
  CHECK(got == MPI_ERRORS_RETURN);
  CHECK(MPI_File_create_errhandler(on_file, &mine) == MPI_SUCCESS);
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, mine) == MPI_SUCCESS);
  CHECK(MPI_File_get_errhandler(MPI_FILE_NULL, &got) == MPI_SUCCESS && got == mine);
  MPI_Errhandler_free(&got);
  CHECK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO) == MPI_SUCCESS);
  CHECK(file_calls == 1 && file_code == MPI_ERR_IO);
  /* An earlier failure with the same code, of a communicator that is gone, does not matter. */
  MPI_Comm gone;
  MPI_Errhandler of_comm;
  int value = 0;
  MPI_Comm_create_errhandler(handler, &of_comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &gone);
  MPI_Comm_set_errhandler(gone, of_comm);
  calls = 0;
  CHECK(MPI_Send(&value, -1, MPI_INT, 0, 0, gone) == MPI_ERR_COUNT && calls == 1);
  MPI_Comm_free(&gone);
  CHECK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_COUNT) == MPI_SUCCESS);
  CHECK(file_calls == 2 && file_code == MPI_ERR_COUNT && calls == 1);
  MPI_Errhandler_free(&of_comm);
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
  CHECK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO) == MPI_SUCCESS && file_calls == 2);
  MPI_Errhandler_free(&mine);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  on_communicators();
  called_by_the_program();
  without_communicator();
  added_codes();
  while_making();
  on_files();
  return finish();
}
