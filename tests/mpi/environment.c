/* Start, end, version and other facts about the library, most of them also before the start. */
#include "check.h"

static void any_time(void) {
  int major, minor, flag, length;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Info info;
  CHECK(MPI_Get_version(&major, &minor) == MPI_SUCCESS && major == 5 && minor == 0);
  CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0);
  CHECK(MPI_Get_library_version(text, &length) == MPI_SUCCESS);
  CHECK(strncmp(text, "Headway", 7) == 0 && (int)strlen(text) == length);
  CHECK(MPI_Initialized(&flag) == MPI_SUCCESS);
  CHECK(MPI_Info_create(&info) == MPI_SUCCESS && MPI_Info_free(&info) == MPI_SUCCESS);
  CHECK(MPI_Error_string(MPI_ERR_RANK, text, &length) == MPI_SUCCESS);
  CHECK(MPI_Abi_get_info(&info) == MPI_SUCCESS);
  length = sizeof text;
  CHECK(MPI_Info_get_string(info, "mpi_count_size", &length, text, &flag) == MPI_SUCCESS);
  CHECK(flag && strcmp(text, "8") == 0);
  MPI_Info_free(&info);
}

/* What a Fortran library tells once: its LOGICAL, and facts in an info object. */
static void facts_about_fortran(void) {
  int yes = 1, no = 0, is_set = -1, flag = 0, length = 8;
  int found_yes = -1, found_no = -1;
  char value[8] = "";
  MPI_Info given, found = MPI_INFO_NULL;
  REFUSED(MPI_Abi_get_fortran_booleans(3, &found_yes, &found_no, &is_set), MPI_ERR_ARG, "3 bytes");
  CHECK(MPI_Abi_get_fortran_booleans(sizeof yes, &found_yes, &found_no, &is_set) == MPI_SUCCESS);
  CHECK(!is_set && found_yes == -1);
  CHECK(MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no) == MPI_SUCCESS);
  REFUSED(MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no), MPI_ERR_ABI, "before");
  CHECK(MPI_Abi_get_fortran_booleans(sizeof yes, &found_yes, &found_no, &is_set) == MPI_SUCCESS);
  CHECK(is_set && found_yes == yes && found_no == no);
  CHECK(MPI_Abi_get_fortran_info(&found) == MPI_SUCCESS && found == MPI_INFO_NULL);
  MPI_Info_create(&given);
  MPI_Info_set(given, "mpi_integer_size", "4");
  CHECK(MPI_Abi_set_fortran_info(given) == MPI_SUCCESS);
  REFUSED(MPI_Abi_set_fortran_info(given), MPI_ERR_ABI, "before");
  MPI_Info_free(&given);
  CHECK(MPI_Abi_get_fortran_info(&found) == MPI_SUCCESS && found != MPI_INFO_NULL);
  MPI_Info_get_string(found, "mpi_integer_size", &length, value, &flag);
  CHECK(flag && strcmp(value, "4") == 0);
  MPI_Info_free(&found);
}

static void running(void) {
  int flag = 0, level = -1, length = 0, *number = NULL;
  char name[MPI_MAX_PROCESSOR_NAME];
  void* memory = NULL;
  double before = MPI_Wtime();
  CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag);
  CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && !flag);
  CHECK(MPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE);
  CHECK(MPI_Is_thread_main(&flag) == MPI_SUCCESS && flag);
  CHECK(MPI_Get_processor_name(name, &length) == MPI_SUCCESS && (int)strlen(name) == length);
  CHECK(MPI_Alloc_mem(100, MPI_INFO_NULL, &memory) == MPI_SUCCESS && memory != NULL);
  memset(memory, 1, 100);
  CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
  CHECK(MPI_Wtime() >= before && MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
  CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag) == MPI_SUCCESS);
  CHECK(flag && *number >= 32767);
  CHECK(MPI_Pcontrol(1) == MPI_SUCCESS);
}

static int ended = 0;

static int on_end(MPI_Comm comm, int key, void* value, void* extra) {
  int flag = 1;
  (void)comm, (void)key, (void)extra;
  MPI_Finalized(&flag);
  CHECK(!flag);
  CHECK(ended == *(int*)value); /* the one that was set last goes first */
  ++ended;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  static int order[2] = {1, 0};
  int provided = -1, flag = 0, first, second;
  any_time();
  CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  return_errors();
  any_time();
  facts_about_fortran();
  running();
  REFUSED(MPI_Init(&argc, &argv), MPI_ERR_OTHER, "initialised already");
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_end, &first, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_end, &second, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, first, &order[0]);
  MPI_Comm_set_attr(MPI_COMM_SELF, second, &order[1]);
  CHECK(MPI_Finalize() == MPI_SUCCESS);
  CHECK(ended == 2);
  CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag);
  any_time();
  return failures == 0 ? 0 : 1;
}
