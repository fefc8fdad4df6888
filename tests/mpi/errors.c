/* Each invalid argument gives the right class, and a message with call, argument and value. */
#include "check.h"

static void handles(void) {
  int value = 0, number;
  MPI_Comm freed, kept;
  MPI_Group group, old_group;
  MPI_Request request, old_request;
  MPI_Info info, old_info;
  REFUSED(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM,
          "MPI_Send: argument 6 (comm) is the null communicator");
  REFUSED(MPI_Comm_rank(MPI_COMM_NULL, &number), MPI_ERR_COMM, "MPI_Comm_rank: argument 1 (comm)");
  MPI_Comm_dup(MPI_COMM_SELF, &freed);
  kept = freed;
  MPI_Comm_free(&freed);
  CHECK(freed == MPI_COMM_NULL);
  REFUSED(MPI_Comm_size(kept, &number), MPI_ERR_COMM, "or a freed one");
  REFUSED(MPI_Comm_free(&kept), MPI_ERR_COMM, "or a freed one");
  REFUSED(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE,
          "argument 3 (datatype) is the null datatype");
  REFUSED(MPI_Group_size(MPI_GROUP_NULL, &number), MPI_ERR_GROUP, "argument 1 (group)");
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  old_group = group;
  MPI_Group_free(&group);
  REFUSED(MPI_Group_rank(old_group, &number), MPI_ERR_GROUP, "or a freed one");
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
  old_request = request;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL);
  REFUSED(MPI_Wait(&old_request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "or a freed one");
  request = MPI_REQUEST_NULL;
  REFUSED(MPI_Cancel(&request), MPI_ERR_REQUEST, "MPI_Cancel: argument 1 (request) is the null");
  REFUSED(MPI_Request_free(&request), MPI_ERR_REQUEST, "argument 1 (request)");
  REFUSED(MPI_Info_get_nkeys(MPI_INFO_NULL, &number), MPI_ERR_INFO, "argument 1 (info)");
  MPI_Info_create(&info);
  old_info = info;
  MPI_Info_free(&info);
  REFUSED(MPI_Info_set(old_info, "a", "b"), MPI_ERR_INFO, "or a freed one");
  REFUSED(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER,
          "argument 2 (errhandler)");
}

static void numbers(void) {
  int value = 0, size;
  MPI_Request request;
  MPI_Status status;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REFUSED(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT,
          "MPI_Send: argument 2 (count) is -1");
  REFUSED(MPI_Send_c(&value, -7, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT,
          "MPI_Send_c: argument 2 (count) is -7");
  REFUSED(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK,
          "argument 4 (dest) is");
  REFUSED(MPI_Send(&value, 1, MPI_INT, -8, 0, MPI_COMM_WORLD), MPI_ERR_RANK,
          "argument 4 (dest) is -8, but communicator MPI_COMM_WORLD has ranks 0 to");
  REFUSED(MPI_Isend(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK,
          "MPI_Isend: argument 4 (dest) is -1");
  REFUSED(MPI_Recv(&value, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD, &status), MPI_ERR_RANK,
          "MPI_Recv: argument 4 (source)");
  REFUSED(MPI_Send(&value, 1, MPI_INT, 0, -1, MPI_COMM_WORLD), MPI_ERR_TAG,
          "argument 5 (tag) is -1");
  REFUSED(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG,
          "argument 5 (tag) is -2");
  REFUSED(MPI_Irecv(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &request), MPI_ERR_TAG,
          "MPI_Irecv: argument 5 (tag) is -5");
  REFUSED(MPI_Probe(size, 0, MPI_COMM_WORLD, &status), MPI_ERR_RANK, "argument 1 (source)");
  REFUSED(MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE), MPI_ERR_COUNT, "argument 1 (count)");
  REFUSED(
      MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &value, 1, MPI_INT, 0, -9, MPI_COMM_WORLD, &status),
      MPI_ERR_TAG, "argument 10 (recvtag) is -9");
}

static void pointers(void) {
  int value = 0;
  MPI_Group group;
  REFUSED(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_ERR_BUFFER,
          "argument 1 (buf) is a null pointer, but the count is 1");
  REFUSED(MPI_Recv(NULL, 3, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_ERR_BUFFER,
          "argument 1 (buf)");
  REFUSED(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "argument 2 (size) is a null pointer");
  REFUSED(MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL), MPI_ERR_ARG,
          "argument 7 (request) is a null pointer");
  REFUSED(MPI_Comm_set_name(MPI_COMM_SELF, NULL), MPI_ERR_ARG, "argument 2 (comm_name)");
  REFUSED(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "argument 2");
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  REFUSED(MPI_Group_incl(group, 1, NULL, &group), MPI_ERR_ARG, "argument 3 (ranks)");
  MPI_Group_free(&group);
}

static void other_objects(void) {
  int key = 12345, value = 0, twice[2] = {0, 0};
  MPI_Group group, made;
  MPI_Request request;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  REFUSED(MPI_Group_incl(group, 2, twice, &made), MPI_ERR_RANK, "0 is no rank of the group");
  twice[1] = 99999;
  REFUSED(MPI_Group_excl(group, 2, twice, &made), MPI_ERR_RANK, "99999");
  MPI_Group_free(&group);
  REFUSED(MPI_Comm_set_attr(MPI_COMM_SELF, key, &value), MPI_ERR_KEYVAL, "12345");
  REFUSED(MPI_Comm_set_attr(MPI_COMM_SELF, MPI_TAG_UB, &value), MPI_ERR_KEYVAL, "predefined");
  REFUSED(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL, "12345");
  REFUSED(MPI_Comm_split(MPI_COMM_SELF, -3, 0, NULL), MPI_ERR_ARG, "argument 4");
  REFUSED(MPI_Bsend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_ERR_BUFFER,
          "no buffer is attached");
  MPI_Isend(&value, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
  REFUSED(MPI_Start(&request), MPI_ERR_REQUEST, "not persistent");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  REFUSED(MPI_Error_class(999999, &key), MPI_ERR_ARG, "999999");
}

static void truncation(void) {
  int sent[4] = {1, 2, 3, 4}, got[2] = {0, 0}, count = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Isend(sent, 4, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
  REFUSED(MPI_Recv(got, 2, MPI_INT, 0, 3, MPI_COMM_SELF, &status), MPI_ERR_TRUNCATE,
          "MPI_Recv: the message from rank 0 with tag 3 is longer than the 8 bytes");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 2 && got[0] == 1 && got[1] == 2);
}

static void not_implemented(void) {
  char port[MPI_MAX_PORT_NAME];
  REFUSED(MPI_Open_port(MPI_INFO_NULL, port), MPI_ERR_UNSUPPORTED_OPERATION,
          "MPI_Open_port: not implemented in Headway 0.1");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  handles();
  numbers();
  pointers();
  other_objects();
  truncation();
  not_implemented();
  return finish();
}
