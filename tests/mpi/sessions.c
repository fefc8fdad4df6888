/* Sessions: process sets, several at the same time and one after another, with
 * their own error handlers and buffers, beside MPI_Init and without it. With an
 * argument, MPI_Init is not called. */
#include <ctype.h>

#include "check.h"

static MPI_Session open_one(void) {
  MPI_Session made = MPI_SESSION_NULL;
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
  return made;
}

static MPI_Comm comm_of(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm made = MPI_COMM_NULL;
  CHECK(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS);
  CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) ==
        MPI_SUCCESS);
  MPI_Group_free(&group);
  return made;
}

/* The ranks of a communicator add up. */
static void works(MPI_Comm comm) {
  int rank, size, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(sum == size * (size - 1) / 2);
}

static int size_of(MPI_Session session, const char* set) {
  MPI_Info info;
  char value[16] = "";
  int room = sizeof value, flag = 0, size = 0;
  MPI_Group group;
  CHECK(MPI_Session_get_pset_info(session, set, &info) == MPI_SUCCESS);
  CHECK(MPI_Info_get_string(info, "mpi_size", &room, value, &flag) == MPI_SUCCESS && flag);
  CHECK(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS);
  MPI_Group_size(group, &size);
  CHECK(size == atoi(value));
  MPI_Group_free(&group);
  MPI_Info_free(&info);
  return size;
}

static void process_sets(MPI_Session session) {
  int count = 0, world = 0, self = 0, node = 0, socket = 0;
  CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count) == MPI_SUCCESS && count >= 3);
  for (int i = 0; i < count; ++i) {
    char name[64], upper[64], cut[6];
    int length = 0;
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL) == MPI_SUCCESS);
    CHECK(length > 1 && length <= (int)sizeof name);
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name) == MPI_SUCCESS);
    CHECK((int)strlen(name) + 1 == length);
    int room = sizeof cut;
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, cut) == MPI_SUCCESS);
    CHECK(room == length && strlen(cut) == 5 && strncmp(cut, name, 5) == 0);
    for (int j = 0; j <= (int)strlen(name); ++j) upper[j] = (char)toupper((unsigned char)name[j]);
    CHECK(size_of(session, upper) == size_of(session, name)); /* URIs: in any case */
    world += strcmp(name, "mpi://WORLD") == 0;
    self += strcmp(name, "mpi://SELF") == 0;
    node += strcmp(name, "headway://node") == 0;
    socket += strcmp(name, "headway://socket") == 0;
    MPI_Comm its = comm_of(session, name, "process sets");
    works(its);
    MPI_Comm_free(&its);
  }
  CHECK(world == 1 && self == 1 && node == 1);
  CHECK(size_of(session, "mpi://SELF") == 1);
  if (getenv("HEADWAY_TOPOLOGY") != NULL) { /* imagines a single package */
    CHECK(socket == 1);
    CHECK(size_of(session, "headway://socket") == size_of(session, "headway://node"));
  }
  /* On this machine all processes share memory. */
  CHECK(size_of(session, "headway://node") == size_of(session, "mpi://WORLD"));
  int length = 0;
  MPI_Group group;
  MPI_Info info;
  REFUSED(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, NULL), MPI_ERR_ARG,
          "process sets");
  REFUSED(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group), MPI_ERR_ARG, "NOBODY");
  REFUSED(MPI_Session_get_pset_info(session, "mpi://NOBODY", &info), MPI_ERR_ARG, "NOBODY");
}

static MPI_Session called_with;
static int calls;
static void count_calls(MPI_Session* session, int* code, ...) {
  called_with = *session;
  calls += *code != MPI_SUCCESS;
}

static void own_error_handler(void) {
  MPI_Session one, other;
  MPI_Errhandler counting, found;
  MPI_Group group;
  CHECK(MPI_Session_create_errhandler(count_calls, &counting) == MPI_SUCCESS);
  CHECK(MPI_Session_init(MPI_INFO_NULL, counting, &one) == MPI_SUCCESS);
  other = open_one();
  calls = 0;
  CHECK(MPI_Group_from_session_pset(one, "mpi://NOBODY", &group) != MPI_SUCCESS);
  CHECK(calls == 1 && called_with == one);
  CHECK(MPI_Group_from_session_pset(other, "mpi://NOBODY", &group) != MPI_SUCCESS);
  CHECK(calls == 1);
  CHECK(MPI_Session_set_errhandler(other, counting) == MPI_SUCCESS);
  CHECK(MPI_Session_get_errhandler(other, &found) == MPI_SUCCESS && found == counting);
  MPI_Errhandler_free(&found);
  CHECK(MPI_Session_call_errhandler(other, MPI_ERR_ARG) == MPI_SUCCESS);
  CHECK(calls == 2 && called_with == other);
  MPI_Errhandler_free(&counting);
  CHECK(MPI_Session_finalize(&one) == MPI_SUCCESS && one == MPI_SESSION_NULL);
  CHECK(MPI_Session_finalize(&other) == MPI_SUCCESS);
}

/* What is wrong with the arguments of MPI_Session_init goes to the handler that it is given. */
static void errors_while_making_one(void) {
  MPI_Session made;
  MPI_Errhandler counting;
  MPI_Info freed, copy;
  MPI_Info_create(&freed);
  copy = freed;
  MPI_Info_free(&freed);
  CHECK(MPI_Session_create_errhandler(count_calls, &counting) == MPI_SUCCESS);
  calls = 0;
  CHECK(MPI_Session_init(copy, counting, &made) == MPI_ERR_INFO);
  CHECK(calls == 1 && called_with == MPI_SESSION_NULL);
  CHECK(MPI_Session_init(MPI_INFO_NULL, counting, NULL) == MPI_ERR_ARG);
  CHECK(calls == 2 && called_with == MPI_SESSION_NULL);
  CHECK(MPI_Session_init(copy, MPI_ERRORS_RETURN, &made) == MPI_ERR_INFO);
  MPI_Errhandler_free(&counting);
}

static void own_information_and_buffer(void) {
  enum { room = 4096 };
  static char memory[room];
  MPI_Session session = open_one();
  MPI_Info info;
  MPI_Request request;
  char value[64] = "";
  int flag = 0, bytes = 0, length = sizeof value;
  void* back = NULL;
  CHECK(MPI_Session_get_info(session, &info) == MPI_SUCCESS);
  CHECK(MPI_Info_get_string(info, "thread_level", &length, value, &flag) == MPI_SUCCESS && flag);
  CHECK(strcmp(value, "MPI_THREAD_MULTIPLE") == 0);
  MPI_Info_free(&info);
  MPI_Comm self = comm_of(session, "mpi://SELF", "buffers");
  CHECK(MPI_Session_attach_buffer(session, memory, room) == MPI_SUCCESS);
  CHECK(MPI_Session_flush_buffer(session) == MPI_SUCCESS);
  CHECK(MPI_Session_iflush_buffer(session, &request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Comm_iflush_buffer(self, &request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Session_detach_buffer(session, &back, &bytes) == MPI_SUCCESS);
  CHECK(back == memory && bytes == room);
  MPI_Comm_free(&self);
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

/* Communicators of one session live on when another one ends, and new sessions
 * may begin. */
static void beside_each_other_and_after_another(void) {
  for (int round = 0; round < 3; ++round) {
    MPI_Session first = open_one(), second = open_one();
    CHECK(first != second);
    MPI_Comm of_first = comm_of(first, "mpi://WORLD", "first");
    MPI_Comm of_second = comm_of(second, "mpi://WORLD", "second");
    works(of_first);
    works(of_second);
    MPI_Comm_free(&of_first);
    CHECK(MPI_Session_finalize(&first) == MPI_SUCCESS);
    works(of_second);
    MPI_Session third = open_one();
    MPI_Comm of_third = comm_of(third, "MPI://world", "third");
    works(of_third);
    MPI_Comm_free(&of_second);
    CHECK(MPI_Session_finalize(&second) == MPI_SUCCESS);
    works(of_third);
    MPI_Comm_free(&of_third);
    CHECK(MPI_Session_finalize(&third) == MPI_SUCCESS);
  }
}

int main(int argc, char** argv) {
  const int with_world = argc == 1;
  if (with_world) {
    MPI_Init(&argc, &argv);
    return_errors();
  }
  errors_while_making_one();
  MPI_Session session = open_one();
  process_sets(session);
  errors_while_making_one();
  own_error_handler();
  own_information_and_buffer();
  beside_each_other_and_after_another();
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
  if (with_world) return finish();
  return failures == 0 ? 0 : 1;
}
