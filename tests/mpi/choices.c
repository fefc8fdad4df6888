/* What docs/mpi.md says of the cases that the standard leaves to the library, or where libraries
 * differ: each row of its table that no other program here tests. */
#include <stdbool.h>

#include "check.h"

static int rank, size;

static void a_freed_key_may_be_freed_again_while_it_is_attached(void) {
  static char memory[1];
  int key, copy, flag = 0;
  void* value = NULL;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  copy = key;
  MPI_Comm_set_attr(MPI_COMM_SELF, key, memory);
  CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
  key = copy;
  CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
  CHECK(MPI_Comm_get_attr(MPI_COMM_SELF, copy, &value, &flag) == MPI_SUCCESS);
  CHECK(flag && value == memory);
  CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, copy) == MPI_SUCCESS);
  REFUSED(MPI_Comm_free_keyval(&copy), MPI_ERR_KEYVAL, "");
}

static void a_datatype_has_one_name(void) {
  char name[MPI_MAX_OBJECT_NAME], other[MPI_MAX_OBJECT_NAME];
  int length = 0;
  CHECK(MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length) == MPI_SUCCESS);
  CHECK(strncmp(name, "MPI_C_", 6) == 0 && (int)strlen(name) == length);
  CHECK(MPI_Type_get_name(MPI_C_COMPLEX, other, &length) == MPI_SUCCESS);
  CHECK((MPI_C_COMPLEX == MPI_C_FLOAT_COMPLEX) == (strcmp(name, other) == 0));
}

static void a_part_pads_nothing_in_the_whole(void) {
  MPI_Datatype part, whole;
  MPI_Aint lb, extent;
  MPI_Type_create_hvector(3, 4, 25, MPI_INT, &part);
  CHECK(MPI_Type_get_extent(part, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == 68);
  MPI_Type_create_hvector(2, 3, 4 * extent + 1, part, &whole);
  CHECK(MPI_Type_get_extent(whole, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == 476);
  CHECK(MPI_Type_get_true_extent(whole, &lb, &extent) == MPI_SUCCESS && extent == 475);
  MPI_Type_free(&whole);
  MPI_Type_free(&part);
}

static void a_message_may_end_inside_an_element(void) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  struct {
    int number;
    double real;
  } pair = {-1, -1};
  int number = 7, count = -1, elements = -1, words[2] = {0, 0};
  MPI_Datatype both;
  MPI_Status status;
  MPI_Type_create_struct(2, lengths, places, types, &both);
  MPI_Type_commit(&both);
  MPI_Sendrecv(&number, 1, MPI_INT, 0, 1, &pair, 1, both, 0, 1, MPI_COMM_SELF, &status);
  CHECK(MPI_Get_count(&status, both, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
  CHECK(MPI_Get_elements(&status, both, &elements) == MPI_SUCCESS && elements == 1);
  CHECK(pair.number == 7 && pair.real == -1);
  MPI_Type_free(&both);
  MPI_Sendrecv("abcdef", 6, MPI_BYTE, 0, 1, words, 2, MPI_INT, 0, 1, MPI_COMM_SELF, &status);
  CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
  CHECK(MPI_Get_elements(&status, MPI_INT, &elements) == MPI_SUCCESS && elements == MPI_UNDEFINED);
  CHECK(memcmp(words, "abcdef", 6) == 0);
}

static void a_null_datatype_is_refused_also_for_no_process(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  REFUSED(MPI_Irecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request),
          MPI_ERR_TYPE, "");
  REFUSED(MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "");
  CHECK(request == MPI_REQUEST_NULL);
}

static int on_world, on_self;
static void count_on(MPI_Comm* comm, int* code, ...) {
  (void)code;
  ++*(*comm == MPI_COMM_SELF ? &on_self : &on_world);
}

static void an_error_without_an_object_goes_to_self(void) {
  MPI_Errhandler counting;
  int number;
  MPI_Comm_create_errhandler(count_on, &counting);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
  MPI_Group_rank(MPI_GROUP_NULL, &number);
  CHECK(on_self == 1 && on_world == 0);
  return_errors();
  MPI_Errhandler_free(&counting);
}

static void nonsense_for_a_thread_level_is_ignored(void) {
  char value[64] = "";
  int flag = 0, length = sizeof value;
  MPI_Session session;
  MPI_Info info, used;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_OF_GOLD");
  CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  MPI_Info_free(&info);
  CHECK(MPI_Session_get_info(session, &used) == MPI_SUCCESS);
  MPI_Info_get_string(used, "thread_level", &length, value, &flag);
  CHECK(flag && strcmp(value, "MPI_THREAD_MULTIPLE") == 0);
  MPI_Info_free(&used);
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

/* Rank 0 begins a broadcast of one number and makes one of two; all others do it the other way
 * round. The operations are paired by their order: the blocking call fails on the other ranks,
 * because less arrives than they expect. Its message names the call, and the rank that the data
 * came from. */
static void operations_of_other_sizes_meet_with_an_error(void) {
  int one = 1, two[2] = {1, 2}, code, other, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm comm;
  if (size == 1) return;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (rank == 0) {
    code = MPI_Ibcast(&one, 1, MPI_INT, 0, comm, &request);
    CHECK(code == MPI_SUCCESS);
    other = MPI_Bcast(two, 2, MPI_INT, 0, comm);
  } else {
    code = MPI_Bcast(two, 2, MPI_INT, 0, comm);
    CHECK(code != MPI_SUCCESS);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "MPI_Bcast") != NULL && strstr(text, "rank ") != NULL);
    other = MPI_Ibcast(&one, 1, MPI_INT, 0, comm, &request);
    CHECK(other == MPI_SUCCESS);
  }
  code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank != 0) CHECK(code != MPI_SUCCESS);
  MPI_Comm_free(&comm);
}

/* A session may outlive MPI_Finalize; once both are over, MPI does not start again. */
static void the_end_is_final(void) {
  MPI_Session session, another;
  MPI_Group group;
  MPI_Comm comm;
  int sum = 0;
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  MPI_Finalize();
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &another) == MPI_SUCCESS);
  CHECK(MPI_Group_from_session_pset(another, "mpi://WORLD", &group) == MPI_SUCCESS);
  CHECK(MPI_Comm_create_from_group(group, "end", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_SUCCESS);
  CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
  CHECK(MPI_Session_finalize(&another) == MPI_SUCCESS);
  REFUSED(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &another), MPI_ERR_OTHER,
          "cannot be initialised again");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return_errors();
  a_freed_key_may_be_freed_again_while_it_is_attached();
  a_datatype_has_one_name();
  a_part_pads_nothing_in_the_whole();
  a_message_may_end_inside_an_element();
  a_null_datatype_is_refused_also_for_no_process();
  an_error_without_an_object_goes_to_self();
  nonsense_for_a_thread_level_is_ignored();
  operations_of_other_sizes_meet_with_an_error();
  the_end_is_final();
  return failures == 0 ? 0 : 1;
}
