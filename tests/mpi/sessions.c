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
  /* A character may be in its encoded form, if it is one that needs none. */
  CHECK(size_of(session, "mpi://%57ORLD") == size_of(session, "mpi://WORLD"));
  CHECK(size_of(session, "MPI://w%4f%72ld") == size_of(session, "mpi://WORLD"));
  CHECK(size_of(session, "headway://n%6Fde") == size_of(session, "headway://node"));
  int length = 0;
  MPI_Group group;
  MPI_Info info;
  REFUSED(MPI_Group_from_session_pset(session, "%6Dpi://WORLD", &group), MPI_ERR_ARG, "%6Dpi");
  REFUSED(MPI_Group_from_session_pset(session, "mpi:%2F/WORLD", &group), MPI_ERR_ARG, "%2F");
  REFUSED(MPI_Group_from_session_pset(session, "mpi://WORL%4", &group), MPI_ERR_ARG, "WORL");
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
  /* An earlier failure with the same code, of a communicator that is gone, does not matter. */
  MPI_Comm gone = comm_of(one, "mpi://SELF", "gone");
  int value = 0;
  CHECK(MPI_Send(&value, -1, MPI_INT, 0, 0, gone) == MPI_ERR_COUNT);
  MPI_Comm_free(&gone);
  CHECK(MPI_Session_call_errhandler(other, MPI_ERR_COUNT) == MPI_SUCCESS);
  CHECK(calls == 3 && called_with == other);
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

/* A buffered send uses the buffer that is attached to the session of its communicator. */
static void buffered_in(MPI_Session session, MPI_Comm comm) {
  enum { numbers = 256, room = numbers * (int)sizeof(int) + MPI_BSEND_OVERHEAD };
  static int memory[room / sizeof(int)], sent[numbers], received[numbers];
  int rank, bytes = 0;
  void* back = NULL;
  MPI_Comm_rank(comm, &rank);
  memset(memory, 0, sizeof memory);
  for (int i = 0; i < numbers; ++i) sent[i] = i + 1;
  REFUSED(MPI_Bsend(sent, numbers, MPI_INT, rank, 5, comm), MPI_ERR_BUFFER, "no buffer");
  CHECK(MPI_Session_attach_buffer(session, memory, sizeof memory) == MPI_SUCCESS);
  CHECK(MPI_Bsend(sent, numbers, MPI_INT, rank, 5, comm) == MPI_SUCCESS);
  CHECK(memcmp(memory, sent, sizeof sent) == 0);
  CHECK(MPI_Recv(received, numbers, MPI_INT, rank, 5, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(memcmp(received, sent, sizeof sent) == 0);
  CHECK(MPI_Session_detach_buffer(session, &back, &bytes) == MPI_SUCCESS && back == memory);
}

static void own_buffer_of_all_that_is_made_of_it(void) {
  MPI_Session one = open_one(), other = open_one();
  MPI_Comm comm = comm_of(one, "mpi://WORLD", "of one"), copy, split, made = MPI_COMM_NULL;
  MPI_Group all, first;
  const int number = 0;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_split(comm, 0, 0, &split);
  MPI_Comm_group(copy, &all);
  MPI_Group_incl(all, 1, &number, &first);
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0)
    CHECK(MPI_Comm_create_from_group(first, "first", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) ==
          MPI_SUCCESS);
  buffered_in(one, comm);
  buffered_in(one, copy);
  buffered_in(one, split);
  if (rank == 0) buffered_in(one, made);
  /* Another session's buffer is not used, that of the communicator goes before. */
  char memory[1024], own[1024];
  int bytes, sent = 1, received = 0;
  void* back;
  CHECK(MPI_Session_attach_buffer(other, memory, sizeof memory) == MPI_SUCCESS);
  REFUSED(MPI_Bsend(&sent, 1, MPI_INT, rank, 5, comm), MPI_ERR_BUFFER, "no buffer");
  CHECK(MPI_Session_attach_buffer(one, memory, 1) == MPI_SUCCESS);
  CHECK(MPI_Comm_attach_buffer(comm, own, sizeof own) == MPI_SUCCESS);
  CHECK(MPI_Bsend(&sent, 1, MPI_INT, rank, 5, comm) == MPI_SUCCESS);
  MPI_Recv(&received, 1, MPI_INT, rank, 5, comm, MPI_STATUS_IGNORE);
  CHECK(MPI_Comm_detach_buffer(comm, &back, &bytes) == MPI_SUCCESS && back == own);
  MPI_Group_free(&first);
  MPI_Group_free(&all);
  if (rank == 0) MPI_Comm_free(&made);
  MPI_Comm_free(&split);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  CHECK(MPI_Session_finalize(&one) == MPI_SUCCESS);
  CHECK(MPI_Session_finalize(&other) == MPI_SUCCESS);
}

static void has_kinds(MPI_Info of, const char* expected) {
  char value[256] = "";
  int flag = 0, length = sizeof value;
  MPI_Info_get_string(of, "mpi_memory_alloc_kinds", &length, value, &flag);
  CHECK(flag && strcmp(value, expected) == 0);
  MPI_Info_free(&of);
}

/* Those that are supported are named, with those that were asked for. */
static void kinds_of_memory(const char* requested, const char* expected) {
  MPI_Session session;
  MPI_Info info;
  MPI_Win window;
  MPI_Info_create(&info);
  if (requested != NULL) MPI_Info_set(info, "mpi_memory_alloc_kinds", requested);
  CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  MPI_Info_free(&info);
  MPI_Session_get_info(session, &info);
  has_kinds(info, expected);
  MPI_Comm comm = comm_of(session, "mpi://WORLD", "kinds"), copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_get_info(copy, &info);
  has_kinds(info, expected);
  CHECK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window) == MPI_SUCCESS);
  MPI_Win_get_info(window, &info);
  has_kinds(info, expected);
  MPI_Win_free(&window);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
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
  own_buffer_of_all_that_is_made_of_it();
  kinds_of_memory(NULL, "mpi,system");
  kinds_of_memory("system", "mpi,system");
  kinds_of_memory("cuda:device, system,gold", "mpi,system");
  kinds_of_memory("system,mpi:alloc_mem,mpi:tea,mpi:win_allocate:alloc_mem,mpi:alloc_mem",
                  "mpi,system,mpi:alloc_mem,mpi:win_allocate:alloc_mem");
  if (with_world) {
    MPI_Info info;
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    has_kinds(info, "mpi,system");
  }
  beside_each_other_and_after_another();
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
  if (with_world) return finish();
  return failures == 0 ? 0 : 1;
}
