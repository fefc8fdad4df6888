/* Handles as numbers and back, and statuses in the forms of Fortran. */
#include "check.h"

static int same(const MPI_Status* a, const MPI_Status* b) {
  int a_count, b_count;
  MPI_Get_count(a, MPI_INT, &a_count);
  MPI_Get_count(b, MPI_INT, &b_count);
  return a->MPI_SOURCE == b->MPI_SOURCE && a->MPI_TAG == b->MPI_TAG &&
         a->MPI_ERROR == b->MPI_ERROR && a_count == b_count;
}

static void check_names_of_mpi_4(void) {
  MPI_Status status, back;
  MPI_F08_status in_f08;
  MPI_Fint in_fortran[MPI_F_STATUS_SIZE];
  int sent[3] = {1, 2, 3}, received[4];
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  CHECK(PMPI_Type_f2c(PMPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
  CHECK(MPI_Comm_f2c(-1) == MPI_COMM_NULL);
  memset(&status, 0, sizeof status);
  MPI_Sendrecv(sent, 3, MPI_INT, 0, 7, received, 4, MPI_INT, 0, 7, MPI_COMM_SELF, &status);
  status.MPI_ERROR = 5;
  CHECK(MPI_Status_c2f(&status, in_fortran) == MPI_SUCCESS && in_fortran[MPI_F_TAG] == 7);
  CHECK(in_fortran[MPI_F_SOURCE] == 0 && in_fortran[MPI_F_ERROR] == 5);
  CHECK(MPI_Status_f2f08(in_fortran, &in_f08) == MPI_SUCCESS && in_f08.MPI_TAG == 7);
  CHECK(MPI_Status_f082c(&in_f08, &back) == MPI_SUCCESS && same(&status, &back));
  CHECK(MPI_Status_c2f08(&status, &in_f08) == MPI_SUCCESS);
  CHECK(PMPI_Status_f082f(&in_f08, in_fortran) == MPI_SUCCESS);
  memset(&back, 0, sizeof back);
  CHECK(MPI_Status_f2c(in_fortran, &back) == MPI_SUCCESS && same(&status, &back));
  CHECK(MPI_Status_c2f(MPI_STATUS_IGNORE, in_fortran) == MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Request request;
  MPI_Session session;
  MPI_Win win;
  int value, received, number;
  MPI_Init(&argc, &argv);
  check_names_of_mpi_4();
  CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && MPI_Comm_toint(MPI_COMM_NULL) == 0x100);
  CHECK(MPI_Comm_fromint(0x102) == MPI_COMM_SELF && MPI_Comm_fromint(0x100) == MPI_COMM_NULL);
  CHECK(MPI_Type_toint(MPI_INT) == 0x209 && MPI_Type_fromint(0x214) == MPI_DOUBLE);
  CHECK(MPI_Op_toint(MPI_SUM) == 0x21 && MPI_Op_fromint(0x20) == MPI_OP_NULL);
  CHECK(MPI_Win_toint(MPI_WIN_NULL) == 0x110 && MPI_File_fromint(0x118) == MPI_FILE_NULL);
  CHECK(MPI_Session_toint(MPI_SESSION_NULL) == 0x120);
  CHECK(MPI_Message_fromint(0x129) == MPI_MESSAGE_NO_PROC);
  CHECK(MPI_Message_toint(MPI_MESSAGE_NO_PROC) == 0x129 && MPI_File_toint(MPI_FILE_NULL) == 0x118);
  CHECK(MPI_Win_fromint(0x110) == MPI_WIN_NULL && MPI_Session_fromint(0x120) == MPI_SESSION_NULL);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
  MPI_Session_finalize(&session);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &win);
  CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
  MPI_Win_free(&win);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  number = MPI_Comm_toint(comm);
  CHECK(number > 4095 && MPI_Comm_toint(comm) == number && MPI_Comm_fromint(number) == comm);
  CHECK(MPI_Group_fromint(number) == MPI_GROUP_NULL);
  MPI_Comm_free(&comm);
  CHECK(MPI_Comm_fromint(number) == MPI_COMM_NULL);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
  MPI_Group_free(&group);
  MPI_Info_create(&info);
  CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
  MPI_Info_free(&info);
  CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  CHECK(handler == MPI_ERRORS_ARE_FATAL);
  MPI_Irecv(&received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  CHECK(MPI_Request_fromint(MPI_Request_toint(request)) == request);
  /* A number ends with its object, also when another one has taken the memory. */
  for (value = 0; value < 100; ++value) {
    number = MPI_Request_toint(request);
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(MPI_Request_fromint(number) == MPI_REQUEST_NULL);
    MPI_Irecv(&received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    CHECK(MPI_Request_fromint(number) == MPI_REQUEST_NULL);
    CHECK(MPI_Request_toint(request) != number);
  }
  MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return finish();
}
