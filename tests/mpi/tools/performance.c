/* Performance variables: sessions, handles, start, stop, read, write, reset; those of a
 * communicator; counters of objects that begin to count after MPI_Init. */
#include "check.h"

static MPI_T_pvar_session session;
static int rank, size;

static int of_name(const char* name, int var_class) {
  int index = -1;
  CHECK(MPI_T_pvar_get_index(name, var_class, &index) == MPI_SUCCESS);
  return index;
}

static MPI_T_pvar_handle handle_of(int index, void* object) {
  MPI_T_pvar_handle made = MPI_T_PVAR_HANDLE_NULL;
  int count = 0;
  CHECK(MPI_T_pvar_handle_alloc(session, index, object, &made, &count) == MPI_SUCCESS);
  CHECK(count == 1);
  return made;
}

static unsigned long long read_of(MPI_T_pvar_handle handle) {
  unsigned long long value = ~0ull;
  CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
  return value;
}

static void talk(void) {
  for (int i = 0; i < 20; ++i) {
    char to = 1, from = 0;
    MPI_Sendrecv(&to, 1, MPI_CHAR, (rank + 1) % size, 0, &from, 1, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(from == 1);
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void every_variable_describes_itself(void) {
  int num = 0;
  CHECK(MPI_T_pvar_get_num(&num) == MPI_SUCCESS && num > 30);
  for (int i = 0; i < num; ++i) {
    char name[128], desc[1024];
    int name_len = sizeof name, desc_len = sizeof desc;
    int verbosity, class_of, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum words;
    CHECK(MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class_of, &type, &words, desc,
                              &desc_len, &bind, &readonly, &continuous, &atomic) == MPI_SUCCESS);
    CHECK(name_len > 1 && (int)strlen(name) + 1 == name_len && desc_len > 1);
    CHECK(strncmp(name, "job.", 4) != 0); /* what only this job has is no variable */
    CHECK(of_name(name, class_of) == i);
    CHECK(type == MPI_UNSIGNED_LONG_LONG && words == MPI_T_ENUM_NULL);
    CHECK(bind ==
          (strncmp(name, "messages.", 9) == 0 ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT));
    const int counts = class_of == MPI_T_PVAR_CLASS_COUNTER ||
                       class_of == MPI_T_PVAR_CLASS_AGGREGATE || class_of == MPI_T_PVAR_CLASS_TIMER;
    CHECK(readonly == !counts && continuous == !counts && atomic == counts);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle one = handle_of(i, &world);
    read_of(one);
    CHECK(MPI_T_pvar_handle_free(session, &one) == MPI_SUCCESS && one == MPI_T_PVAR_HANDLE_NULL);
  }
  CHECK(MPI_T_pvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_pvar_get_info(1 << 20, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
}

static void a_handle_counts_between_start_and_stop(void) {
  MPI_T_pvar_handle runs =
      handle_of(of_name("progress.explicit_rounds", MPI_T_PVAR_CLASS_COUNTER), NULL);
  CHECK(read_of(runs) == 0);
  talk();
  CHECK(read_of(runs) == 0); /* not started */
  CHECK(MPI_T_pvar_start(session, runs) == MPI_SUCCESS);
  talk();
  CHECK(MPI_T_pvar_stop(session, runs) == MPI_SUCCESS);
  const unsigned long long stopped = read_of(runs);
  CHECK(size == 1 || stopped > 0);
  talk();
  CHECK(read_of(runs) == stopped);
  CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  talk();
  unsigned long long taken = 0;
  CHECK(MPI_T_pvar_readreset(session, runs, &taken) == MPI_SUCCESS);
  CHECK(size == 1 || taken > stopped);
  CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_reset(session, runs) == MPI_SUCCESS);
  CHECK(read_of(runs) == 0);
  taken = 1000;
  CHECK(MPI_T_pvar_write(session, runs, &taken) == MPI_SUCCESS);
  CHECK(read_of(runs) == 1000);
  CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  CHECK(read_of(runs) == 0);
  CHECK(MPI_T_pvar_handle_free(session, &runs) == MPI_SUCCESS);
}

static void a_communicator_has_its_own(void) {
  MPI_Comm own, other;
  MPI_Request posted[3];
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_dup(MPI_COMM_SELF, &other);
  const int receives = of_name("messages.posted_receives", MPI_T_PVAR_CLASS_LEVEL);
  const int unexpected = of_name("messages.unexpected_messages", MPI_T_PVAR_CLASS_LEVEL);
  MPI_T_pvar_handle its_receives = handle_of(receives, &own);
  MPI_T_pvar_handle others_receives = handle_of(receives, &other);
  MPI_T_pvar_handle its_unexpected = handle_of(unexpected, &own);
  int data[3] = {0}, value = 5;
  for (int i = 0; i < 3; ++i) MPI_Irecv(&data[i], 1, MPI_INT, 0, i, own, &posted[i]);
  CHECK(read_of(its_receives) == 3 && read_of(others_receives) == 0);
  MPI_Send(&value, 1, MPI_INT, 0, 1, own);
  MPI_Wait(&posted[1], MPI_STATUS_IGNORE);
  CHECK(read_of(its_receives) == 2);
  MPI_Request sent[2];
  MPI_Isend(&value, 1, MPI_INT, 0, 8, own, &sent[0]);
  MPI_Isend(&value, 1, MPI_INT, 0, 9, own, &sent[1]);
  MPI_Probe(0, 9, own, MPI_STATUS_IGNORE);
  CHECK(read_of(its_unexpected) == 2);
  MPI_Recv(&data[0], 1, MPI_INT, 0, 8, own, MPI_STATUS_IGNORE);
  MPI_Recv(&data[0], 1, MPI_INT, 0, 9, own, MPI_STATUS_IGNORE);
  MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
  CHECK(read_of(its_unexpected) == 0);
  MPI_Send(&value, 1, MPI_INT, 0, 0, own);
  MPI_Send(&value, 1, MPI_INT, 0, 2, own);
  MPI_Waitall(3, posted, MPI_STATUSES_IGNORE);

  /* It always has its present value. */
  unsigned long long some = 1;
  CHECK(MPI_T_pvar_start(session, its_receives) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK(MPI_T_pvar_stop(session, its_receives) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK(MPI_T_pvar_write(session, its_receives, &some) == MPI_T_ERR_PVAR_NO_WRITE);
  CHECK(MPI_T_pvar_reset(session, its_receives) == MPI_T_ERR_PVAR_NO_WRITE);
  CHECK(MPI_T_pvar_readreset(session, its_receives, &some) == MPI_T_ERR_PVAR_NO_ATOMIC);

  MPI_Comm_free(&own);
  CHECK(MPI_T_pvar_read(session, its_receives, &some) == MPI_T_ERR_INVALID_HANDLE);
  MPI_T_pvar_handle none = MPI_T_PVAR_HANDLE_NULL;
  int count;
  MPI_Comm null = MPI_COMM_NULL;
  CHECK(MPI_T_pvar_handle_alloc(session, receives, &null, &none, &count) ==
        MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_handle_alloc(session, receives, NULL, &none, &count) == MPI_T_ERR_INVALID);
  MPI_Comm_free(&other);
}

static void wrong_arguments_are_refused(void) {
  unsigned long long value;
  int index, count;
  MPI_T_pvar_session another, gone, none = MPI_T_PVAR_SESSION_NULL;
  CHECK(MPI_T_pvar_session_create(NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_pvar_session_create(&another) == MPI_SUCCESS);
  const int sleeps = of_name("progress.sleeps", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle ours = handle_of(sleeps, NULL), made, freed = ours;
  CHECK(MPI_T_pvar_get_num(NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_pvar_get_index("no.such", MPI_T_PVAR_CLASS_COUNTER, &index) ==
        MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_pvar_get_index("progress.sleeps", MPI_T_PVAR_CLASS_TIMER, &index) ==
        MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_TIMER, &index) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_pvar_handle_alloc(none, sleeps, NULL, &made, &count) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_pvar_handle_alloc(session, -1, NULL, &made, &count) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_pvar_handle_alloc(session, sleeps, NULL, NULL, &count) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_pvar_read(session, ours, NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
  /* A handle of one session is none of another. */
  CHECK(MPI_T_pvar_read(another, ours, &value) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_start(another, ours) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_stop(another, ours) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_reset(another, ours) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_handle_free(another, &freed) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_start(none, ours) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_pvar_stop(none, ours) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_pvar_reset(none, ours) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_pvar_write(none, ours, &value) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_pvar_readreset(none, ours, &value) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_pvar_handle_free(none, &ours) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_pvar_handle_free(session, &ours) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_read(session, freed, &value) == MPI_T_ERR_INVALID_HANDLE);
  gone = another;
  CHECK(MPI_T_pvar_session_free(&another) == MPI_SUCCESS && another == MPI_T_PVAR_SESSION_NULL);
  CHECK(MPI_T_pvar_session_free(&gone) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_pvar_session_free(NULL) == MPI_T_ERR_INVALID_SESSION);
}

/* With HEADWAY_STATS: what a rail carried. */
static void a_rail_counts_its_bytes(void) {
  if (size == 1) return;
  static char data[100000];
  const int other = rank == 0 ? 1 : 0;
  MPI_T_pvar_handle out =
      handle_of(of_name("rail.shm.bytes_out", MPI_T_PVAR_CLASS_AGGREGATE), NULL);
  MPI_T_pvar_handle in = handle_of(of_name("rail.shm.bytes_in", MPI_T_PVAR_CLASS_AGGREGATE), NULL);
  CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  if (rank < 2)
    for (int i = 0; i < 100; ++i)
      MPI_Sendrecv(data, 1000, MPI_CHAR, other, 0, data + 2000, 1000, MPI_CHAR, other, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank < 2) CHECK(read_of(out) >= 100000 && read_of(in) >= 100000);
}

int main(int argc, char** argv) {
  int before = 0, after = 0, number_before, number_after;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &(int){0}) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_num(&before) == MPI_SUCCESS && before > 30);
  CHECK(MPI_T_category_changed(&number_before) == MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  talk();
  CHECK(MPI_T_pvar_get_num(&after) == MPI_SUCCESS && after > before);
  CHECK(MPI_T_category_changed(&number_after) == MPI_SUCCESS && number_after != number_before);
  every_variable_describes_itself();
  a_handle_counts_between_start_and_stop();
  a_communicator_has_its_own();
  wrong_arguments_are_refused();
  a_rail_counts_its_bytes();
  MPI_Finalize();
  CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return failures == 0 ? 0 : 1;
}
