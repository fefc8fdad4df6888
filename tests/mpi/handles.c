/* Handles as numbers and back. */
#include "check.h"

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
