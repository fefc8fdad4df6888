/* Goal: partitioned operations bring every byte to its place, round after round, whatever
 * partitions and types both ends have; a partition arrives without the others; operations match in
 * the order in which they were made; wrong calls are refused. */
#include "patterns.h"

enum { rounds = 3 };

/* To the next rank, from the one before. */
static int next(void) { return (check_rank + 1) % check_size; }
static int before(void) { return (check_rank + check_size - 1) % check_size; }

static void test_sizes(int out_parts, int out_count, int in_parts, int in_count,
                       const struct layout* from, const struct layout* to, MPI_Comm comm) {
  const int total = out_parts * out_count;
  long *out = new_buffer(from, total), *in = new_buffer(to, total);
  MPI_Request send, receive;
  CHECK_OK(
      MPI_Psend_init(out, out_parts, out_count, from->type, next(), 7, comm, MPI_INFO_NULL, &send));
  CHECK_OK(
      MPI_Precv_init(in, in_parts, in_count, to->type, before(), 7, comm, MPI_INFO_NULL, &receive));
  for (int round = 0; round < rounds; ++round) {
    fill(out, from, 0, total, check_rank, round);
    /* Either end may be ahead. */
    if ((round + check_rank) % 2) CHECK_OK(MPI_Start(&receive));
    CHECK_OK(MPI_Start(&send));
    if (round == 0) {
      for (int i = out_parts; i-- > 0;) CHECK_OK(MPI_Pready(i, send));
    } else if (round == 1 && out_parts > 0) {
      if (out_parts > 1) CHECK_OK(MPI_Pready_range(1, out_parts - 1, send));
      CHECK_OK(MPI_Pready(0, send));
    } else {
      int* list = malloc(sizeof(int) * (size_t)(out_parts + 1));
      for (int i = 0; i < out_parts; ++i) list[i] = (i + out_parts / 2) % out_parts;
      CHECK_OK(MPI_Pready_list(out_parts, list, send));
      free(list);
    }
    if ((round + check_rank) % 2 == 0) CHECK_OK(MPI_Start(&receive));
    for (int j = 0, flag = 0; j < in_parts; ++j, flag = 0) {
      while (!flag) CHECK_OK(MPI_Parrived(receive, j, &flag));
      const long first = (long)j * in_count;
      for (long i = first; i < first + in_count; ++i)
        if (*element(in, to, i) != value_of(before(), round, i)) {
          CHECK(0, "round %d, partition %d, element %ld", round, j, i);
          break;
        }
    }
    MPI_Status status;
    int count = -1;
    CHECK_OK(MPI_Wait(&receive, &status));
    MPI_Get_count(&status, to->type, &count);
    CHECK(count == total && status.MPI_SOURCE == before() && status.MPI_TAG == 7,
          "%d elements of %d", count, status.MPI_SOURCE);
    CHECK(holds(in, to, 0, total, before(), round), "round %d", round);
    int flag = 0;
    if (in_parts > 0) CHECK_OK(MPI_Parrived(receive, 0, &flag));
    CHECK(flag || in_parts == 0, "an inactive request");
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_Request_free(&send));
  CHECK_OK(MPI_Request_free(&receive));
  CHECK(send == MPI_REQUEST_NULL && receive == MPI_REQUEST_NULL, "freed");
  free(out);
  free(in);
}

/* A partition arrives, and nothing else, as long as the others are not ready. */
static void test_alone(int count) {
  enum { parts = 4 };
  int* out = calloc((size_t)(parts * count), sizeof(int));
  int* in = calloc((size_t)(parts * count), sizeof(int));
  for (int i = 0; i < parts * count; ++i) out[i] = i + check_rank;
  MPI_Request requests[2];
  MPI_Psend_init_c(out, parts, count, MPI_INT, next(), 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
  MPI_Precv_init_c(in, parts, count, MPI_INT, before(), 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
  CHECK_OK(MPI_Startall(2, requests));
  for (int ready = parts; ready-- > 0;) {
    CHECK_OK(MPI_Pready(ready, requests[0]));
    for (int j = 0; j < parts; ++j) {
      int flag = 0;
      do CHECK_OK(MPI_Parrived(requests[1], j, &flag));
      while (j == ready && !flag);
      CHECK(flag == (j >= ready), "partition %d when %d is ready", j, ready);
    }
    CHECK(in[ready * count] == ready * count + before(), "%d", in[ready * count]);
    int flag = -1;
    if (ready > 0) CHECK_OK(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
    if (ready > 0) CHECK(!flag, "complete too early");
    MPI_Barrier(MPI_COMM_WORLD); /* no rank is a partition ahead */
  }
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  free(out);
  free(in);
}

/* Several operations of one tag: the n-th sender belongs to the n-th receiver, also where they are
 * started in another order. */
static void test_order(void) {
  enum { many = 5 };
  int out[many][2], in[many][2];
  MPI_Request send[many], receive[many];
  for (int i = 0; i < many; ++i) {
    MPI_Psend_init(out[i], 2, 1, MPI_INT, next(), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send[i]);
    MPI_Precv_init(in[i], 1, 2, MPI_INT, before(), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receive[i]);
  }
  for (int round = 0; round < rounds; ++round) {
    for (int i = many; i-- > 0;) {
      out[i][0] = round * 100 + i;
      out[i][1] = check_rank;
      CHECK_OK(MPI_Start(&send[i]));
      CHECK_OK(MPI_Pready_range(0, 1, send[i]));
    }
    for (int i = 0; i < many; ++i) CHECK_OK(MPI_Start(&receive[(i + round) % many]));
    CHECK_OK(MPI_Waitall(many, receive, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(many, send, MPI_STATUSES_IGNORE));
    for (int i = 0; i < many; ++i)
      CHECK(in[i][0] == round * 100 + i && in[i][1] == before(), "operation %d has %d", i,
            in[i][0]);
  }
  for (int i = 0; i < many; ++i) {
    MPI_Request_free(&send[i]);
    MPI_Request_free(&receive[i]);
  }
}

/* Beside messages of the same tag, which it does not match. */
static void test_beside_messages(void) {
  int out[2] = {check_rank, -check_rank}, in[2] = {-1, -1}, plain = 5, got = 0;
  MPI_Request requests[4];
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]);
  MPI_Psend_init(out, 2, 1, MPI_INT, next(), 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(in, 2, 1, MPI_INT, before(), 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  CHECK_OK(MPI_Startall(2, requests));
  CHECK_OK(MPI_Pready_range(0, 1, requests[0]));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK(in[0] == before() && in[1] == -before(), "%d %d", in[0], in[1]);
  CHECK_OK(MPI_Isend(&plain, 1, MPI_INT, next(), 0, MPI_COMM_WORLD, &requests[3]));
  CHECK_OK(MPI_Waitall(2, requests + 2, MPI_STATUSES_IGNORE));
  CHECK(got == 5, "%d", got);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void test_no_process(void) {
  int data[4] = {1, 2, 3, 4}, flag = 0;
  MPI_Request requests[2];
  MPI_Status status;
  CHECK_OK(MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &requests[0]));
  CHECK_OK(MPI_Precv_init(data, 2, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &requests[1]));
  for (int round = 0; round < rounds; ++round) {
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready_range(0, 3, requests[0]));
    CHECK_OK(MPI_Parrived(requests[1], 1, &flag));
    CHECK(flag, "of MPI_PROC_NULL");
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&requests[1], &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL, "%d", status.MPI_SOURCE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void test_refusals(void) {
  int data[4] = {0}, in[4], flag;
  MPI_Request send, receive, plain;
  CHECK_CLASS(MPI_Psend_init(data, -1, 1, MPI_INT, next(), 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send),
              MPI_ERR_ARG);
  CHECK_CLASS(
      MPI_Precv_init(in, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive),
      MPI_ERR_RANK);
  CHECK_CLASS(
      MPI_Precv_init(in, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &receive),
      MPI_ERR_TAG);
  MPI_Psend_init(data, 2, 2, MPI_INT, next(), 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(in, 2, 2, MPI_INT, before(), 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Send_init(data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &plain);
  CHECK_CLASS(MPI_Pready(0, send), MPI_ERR_REQUEST); /* not started */
  CHECK_OK(MPI_Start(&send));
  CHECK_OK(MPI_Start(&receive));
  CHECK_CLASS(MPI_Start(&send), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Pready(2, send), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready(-1, send), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready(0, receive), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Pready(0, plain), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Pready_range(1, 0, send), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready_range(0, 2, send), MPI_ERR_ARG);
  CHECK_OK(MPI_Pready(0, send));
  CHECK_CLASS(MPI_Pready(0, send), MPI_ERR_ARG); /* twice */
  CHECK_CLASS(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Parrived(receive, 2, &flag), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cancel(&receive), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Request_free(&send), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Pready(1, send));
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  flag = 0;
  CHECK_OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
  CHECK(flag, "a null request");
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
  MPI_Request_free(&plain);
  /* More than the receiver has place for. */
  MPI_Psend_init(data, 4, 1, MPI_INT, next(), 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(in, 1, 2, MPI_INT, before(), 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Start(&send);
  MPI_Start(&receive);
  MPI_Pready_range(0, 3, send);
  CHECK_CLASS(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
  /* Never started, never matched. */
  MPI_Precv_init(in, 2, 2, MPI_INT, check_rank, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  CHECK_OK(MPI_Request_free(&receive));
}

static void test_intercommunicator(void) {
  if (check_size < 2) return;
  MPI_Comm local, inter;
  const int second = check_rank > 0;
  MPI_Comm_split(MPI_COMM_WORLD, second, check_rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !second, 0, &inter);
  int out[6], in[6] = {0}, rank;
  MPI_Comm_rank(local, &rank);
  for (int i = 0; i < 6; ++i) out[i] = check_rank * 10 + i;
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Psend_init(out, 3, 2, MPI_INT, 0, 0, inter, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 2, 3, MPI_INT, 0, 0, inter, MPI_INFO_NULL, &requests[1]);
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready_range(0, 2, requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 6; ++i) CHECK(in[i] == !second * 10 + i, "element %d is %d", i, in[i]);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
}

int main(int argc, char** argv) {
  struct layout layouts[LAYOUTS];
  /* partitions and counts of the sender, partitions of the receiver */
  const int sizes[][3] = {{1, 1, 1},    {4, 6, 4},  {4, 6, 3},     {3, 4, 12},
                          {12, 1, 1},   {5, 21, 7}, {1, 60000, 6}, {16, 8192, 16},
                          {7, 3000, 3}, {3, 0, 2},  {0, 3, 0}};
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  make_layouts(layouts);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
    for (int l = 0; l < LAYOUTS; ++l) {
      const int total = sizes[i][0] * sizes[i][1], parts = sizes[i][2];
      test_sizes(sizes[i][0], sizes[i][1], parts, parts ? total / parts : 5, &layouts[l],
                 &layouts[(l + (int)i) % LAYOUTS], i % 2 ? copy : MPI_COMM_WORLD);
    }
  MPI_Comm_free(&copy);
  test_alone(1);
  test_alone(100000);
  test_order();
  test_beside_messages();
  test_no_process();
  test_intercommunicator();
  test_refusals();
  free_layouts(layouts);
  return check_end("partitioned");
}
