/* Communicators: their ranks, that their messages do not mix, and that context ids are reused. */
#include "check.h"

static int rank, size;

/* One message around the ring of `comm`. */
static void ring(MPI_Comm comm, int value) {
  int me, n, got = -1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  MPI_Sendrecv(&value, 1, MPI_INT, (me + 1) % n, 1, &got, 1, MPI_INT, (me + n - 1) % n, 1, comm,
               MPI_STATUS_IGNORE);
  CHECK(got == value);
}

static void duplicates(void) {
  MPI_Comm one, two;
  int result, out[2] = {1, 2}, in[2] = {0, 0}, flag;
  MPI_Request requests[2];
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(one, &two);
  MPI_Comm_compare(one, MPI_COMM_WORLD, &result);
  CHECK(result == MPI_CONGRUENT);
  MPI_Comm_compare(one, one, &result);
  CHECK(result == MPI_IDENT);
  /* The same ranks and tag: only the communicator differs. */
  MPI_Isend(&out[0], 1, MPI_INT, (rank + 1) % size, 0, one, &requests[0]);
  MPI_Isend(&out[1], 1, MPI_INT, (rank + 1) % size, 0, two, &requests[1]);
  MPI_Recv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, two, MPI_STATUS_IGNORE);
  MPI_Recv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, one, MPI_STATUS_IGNORE);
  CHECK(in[0] == 1 && in[1] == 2);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_set_name(one, "one");
  MPI_Comm_get_name(one, name, &result);
  CHECK(strcmp(name, "one") == 0 && result == 3);
  MPI_Comm_test_inter(one, &flag);
  CHECK(!flag);
  REFUSED(MPI_Comm_remote_size(one, &result), MPI_ERR_COMM, "inter-communicator");
  MPI_Comm_free(&one);
  MPI_Comm_disconnect(&two);
  CHECK(one == MPI_COMM_NULL && two == MPI_COMM_NULL);
}

static void splits(void) {
  MPI_Comm part, none, node;
  int me, n, result;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  MPI_Comm_rank(part, &me);
  MPI_Comm_size(part, &n);
  CHECK(n == (size + (rank % 2 == 0)) / 2 && me == n - 1 - rank / 2);
  ring(part, rank % 2 + 5);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 3, 0, &none);
  CHECK((none == MPI_COMM_NULL) == (rank == 0));
  if (rank != 0) {
    ring(none, 8);
    MPI_Comm_free(&none);
  }
  MPI_Comm_free(&part);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_compare(node, MPI_COMM_WORLD, &result);
  CHECK(result == MPI_CONGRUENT); /* these tests run on one node */
  ring(node, 4);
  MPI_Comm_free(&node);
}

static MPI_Comm guided_by(const char* resource) {
  MPI_Info hints;
  MPI_Comm part = MPI_COMM_WORLD;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_hw_resource_type", resource);
  CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, hints, &part) ==
        MPI_SUCCESS);
  MPI_Info_free(&hints);
  return part;
}

static MPI_Comm members_of(const char* set, int split_type) {
  MPI_Info hints;
  MPI_Comm part = MPI_COMM_WORLD;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_pset_name", set);
  CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, split_type, size - rank, hints, &part) == MPI_SUCCESS);
  MPI_Info_free(&hints);
  return part;
}

/* By the members of a process set, which may be another one in each process. */
static void by_process_set(void) {
  int result, n, me;
  MPI_Comm part = members_of("mpi://world", MPI_COMM_TYPE_RESOURCE_GUIDED);
  MPI_Comm_compare(part, MPI_COMM_WORLD, &result);
  CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
  MPI_Comm_rank(part, &me);
  CHECK(me == size - 1 - rank);
  MPI_Comm_free(&part);
  part = members_of("mpi://SELF", MPI_COMM_TYPE_RESOURCE_GUIDED);
  MPI_Comm_size(part, &n);
  CHECK(n == 1);
  MPI_Comm_free(&part);
  part = members_of("headway://node", MPI_COMM_TYPE_RESOURCE_GUIDED);
  MPI_Comm_size(part, &n);
  CHECK(n == size); /* these tests run on one node */
  ring(part, 10);
  MPI_Comm_free(&part);
  CHECK(members_of("mpi://NOBODY", MPI_COMM_TYPE_RESOURCE_GUIDED) == MPI_COMM_NULL);
  CHECK(members_of("mpi://WORLD", MPI_COMM_TYPE_HW_GUIDED) == MPI_COMM_NULL);
}

/* By each resource that the library names: a part for those that are bound within one of it. */
static void by_hardware(void) {
  MPI_Info resources;
  MPI_Comm part, smaller;
  int keys = 0, result, whole;
  MPI_Get_hw_resource_info(&resources);
  MPI_Info_get_nkeys(resources, &keys);
  CHECK(keys > 0);
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1], value[8] = "";
    int length = sizeof value, found = 0;
    MPI_Info_get_nthkey(resources, i, key);
    MPI_Info_get_string(resources, key, &length, value, &found);
    part = guided_by(key);
    CHECK((part != MPI_COMM_NULL) == (strcmp(value, "true") == 0));
    if (part != MPI_COMM_NULL) ring(part, 9);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  }
  MPI_Info_free(&resources);
  part = guided_by("mpi_shared_memory");
  MPI_Comm_compare(part, MPI_COMM_WORLD, &result);
  CHECK(result == MPI_CONGRUENT); /* these tests run on one node */
  MPI_Comm_free(&part);
  CHECK(guided_by("hwloc://Nothing") == MPI_COMM_NULL);
  /* Without guidance each part is smaller, until there is nothing to divide. The info names what
   * was divided by. */
  MPI_Comm_dup(MPI_COMM_WORLD, &part);
  while (part != MPI_COMM_NULL) {
    char resource[64] = "";
    int length = sizeof resource, found = 0;
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Comm_split_type(part, MPI_COMM_TYPE_HW_UNGUIDED, 0, hints, &smaller);
    MPI_Info_get_string(hints, "mpi_hw_resource_type", &length, resource, &found);
    CHECK(found == (smaller != MPI_COMM_NULL));
    MPI_Info_free(&hints);
    MPI_Comm_size(part, &whole);
    if (smaller != MPI_COMM_NULL) MPI_Comm_size(smaller, &result);
    CHECK(smaller == MPI_COMM_NULL || result < whole);
    MPI_Comm_free(&part);
    part = smaller;
  }
}

static void from_groups(void) {
  MPI_Group all, half;
  MPI_Comm made;
  int range[1][3] = {{0, 0, 1}}, n;
  range[0][1] = (size - 1) / 2;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, 1, range, &half);
  MPI_Comm_create(MPI_COMM_WORLD, half, &made);
  CHECK((made != MPI_COMM_NULL) == (rank <= range[0][1]));
  if (made != MPI_COMM_NULL) {
    MPI_Comm_size(made, &n);
    CHECK(n == range[0][1] + 1);
    ring(made, 6);
    MPI_Comm_free(&made);
  }
  if (rank <= range[0][1]) {
    MPI_Comm_create_group(MPI_COMM_WORLD, half, 17, &made);
    ring(made, 7);
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&half);
  MPI_Group_free(&all);
}

/* MPI_Comm_idup does not wait: rank 0 starts it long before the others. */
static void later(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  int value = 0;
  if (rank == 0) {
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    for (int i = 1; i < size; ++i) MPI_Send(&value, 1, MPI_INT, i, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  ring(made, 9);
  MPI_Comm_free(&made);
}

/* Freed with messages under way: they arrive. */
static void freed_early(void) {
  MPI_Comm made;
  MPI_Request requests[2];
  static int out[50000], in[50000];
  out[49999] = rank + 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Irecv(in, 50000, MPI_INT, (rank + size - 1) % size, 0, made, &requests[0]);
  MPI_Isend(out, 50000, MPI_INT, (rank + 1) % size, 0, made, &requests[1]);
  MPI_Comm_free(&made);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(in[49999] == (rank + size - 1) % size + 1);
}

/* More communicators than there are context ids, which are reused. */
static void many(void) {
  for (int i = 0; i < 300; ++i) {
    MPI_Comm one, two;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_split(one, 0, -rank, &two);
    MPI_Comm_free(&one);
    if (i % 50 == 0) ring(two, i);
    MPI_Comm_free(&two);
  }
}

static void sessions(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm made;
  MPI_Info info;
  int count = 0, length = 0, n = 0, flag = 0;
  char name[MPI_MAX_PSET_NAME_LEN], text[16];
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
  CHECK(count >= 3);
  MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL);
  CHECK(length == 12);
  MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
  CHECK(strcmp(name, "mpi://WORLD") == 0);
  MPI_Session_get_pset_info(session, name, &info);
  length = sizeof text;
  MPI_Info_get_string(info, "mpi_size", &length, text, &flag);
  CHECK(flag && atoi(text) == size);
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, name, &group);
  MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
  MPI_Comm_size(made, &n);
  CHECK(n == size);
  ring(made, 21);
  MPI_Comm_free(&made);
  MPI_Group_free(&group);
  CHECK(MPI_Group_from_session_pset(session, "MPI://world", &group) == MPI_SUCCESS);
  MPI_Group_size(group, &n);
  CHECK(n == size);
  MPI_Group_free(&group);
  REFUSED(MPI_Group_from_session_pset(session, "nonsense", &group), MPI_ERR_ARG, "nonsense");
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS && session == MPI_SESSION_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  duplicates();
  splits();
  by_hardware();
  by_process_set();
  from_groups();
  later();
  freed_early();
  many();
  sessions();
  return finish();
}
