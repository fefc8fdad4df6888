/* Control variables: every setting is one; names, indices, types, enumerations, handles. */
#include "check.h"

static int of_name(const char* name) {
  int index = -1;
  CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
  return index;
}

static void every_variable_describes_itself(void) {
  int num = 0;
  CHECK(MPI_T_cvar_get_num(&num) == MPI_SUCCESS);
  for (int i = 0; i < num; ++i) {
    char name[64], desc[1024], item[64];
    int name_len = sizeof name, desc_len = sizeof desc, item_len, verbosity, bind, scope, items;
    MPI_Datatype type;
    MPI_T_enum words;
    CHECK(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &words, desc, &desc_len, &bind,
                              &scope) == MPI_SUCCESS);
    CHECK(strncmp(name, "HEADWAY_", 8) == 0 && (int)strlen(name) + 1 == name_len);
    CHECK((int)strlen(desc) + 1 == desc_len && desc_len > 10);
    CHECK(of_name(name) == i);
    CHECK(verbosity == MPI_T_VERBOSITY_USER_BASIC || verbosity == MPI_T_VERBOSITY_TUNER_DETAIL);
    CHECK(bind == MPI_T_BIND_NO_OBJECT);
    CHECK(scope == MPI_T_SCOPE_LOCAL || scope == MPI_T_SCOPE_ALL_EQ);
    CHECK(type == MPI_INT || type == MPI_COUNT || type == MPI_CHAR);
    CHECK((type == MPI_INT) == (words != MPI_T_ENUM_NULL));
    if (words == MPI_T_ENUM_NULL) continue;
    name_len = sizeof name;
    CHECK(MPI_T_enum_get_info(words, &items, name, &name_len) == MPI_SUCCESS && items >= 2);
    for (int j = 0; j < items; ++j) {
      int value = -1;
      item_len = sizeof item;
      CHECK(MPI_T_enum_get_item(words, j, &value, item, &item_len) == MPI_SUCCESS);
      CHECK(value == j && item_len > 1);
    }
    CHECK(MPI_T_enum_get_item(words, items, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_enum_get_item(words, -1, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
  }
  CHECK(MPI_T_cvar_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
}

static void texts_are_cut_to_the_room(void) {
  const int index = of_name("HEADWAY_LOG");
  char name[8];
  int len = 4;
  CHECK(MPI_T_cvar_get_info(index, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_SUCCESS);
  CHECK(len == 4 && strcmp(name, "HEA") == 0);
  len = 0; /* asks for the length */
  CHECK(MPI_T_cvar_get_info(index, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_SUCCESS);
  CHECK(len == (int)sizeof "HEADWAY_LOG");
  len = 100;
  CHECK(MPI_T_cvar_get_info(index, NULL, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_SUCCESS);
  CHECK(len == (int)sizeof "HEADWAY_LOG");
}

static void wrong_arguments_are_refused(void) {
  int index, count;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL, freed;
  CHECK(MPI_T_cvar_get_num(NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_get_index("HEADWAY_NO_SUCH", &index) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_cvar_get_index(NULL, &index) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_get_index("HEADWAY_LOG", NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_cvar_handle_alloc(1 << 20, NULL, &handle, &count) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_handle_free(&handle) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_cvar_handle_free(NULL) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_cvar_read(handle, &index) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_cvar_write(handle, &index) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_cvar_handle_alloc(0, NULL, &handle, &count) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_read(handle, NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_write(handle, NULL) == MPI_T_ERR_INVALID);
  freed = handle;
  CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
  CHECK(MPI_T_cvar_read(freed, &index) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_cvar_handle_free(&freed) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, NULL, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

/* A word, a text: written before MPI_Init, and the library then does as they say. */
static void what_is_written_holds(int* argc, char*** argv) {
  int count, busy = 2, read = -1;
  char rails[4096], wanted[4096] = "shm";
  MPI_T_cvar_handle wait, which;
  CHECK(MPI_T_cvar_handle_alloc(of_name("HEADWAY_WAIT"), NULL, &wait, &count) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_handle_alloc(of_name("HEADWAY_RAILS"), NULL, &which, &count) == MPI_SUCCESS);
  CHECK(count == (int)sizeof rails);
  CHECK(MPI_T_cvar_write(wait, &busy) == MPI_SUCCESS);
  busy = 99;
  CHECK(MPI_T_cvar_write(wait, &busy) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_write(which, wanted) == MPI_SUCCESS);
  memset(wanted, 'x', sizeof wanted); /* without an end */
  CHECK(MPI_T_cvar_write(which, wanted) == MPI_T_ERR_INVALID);
  MPI_Init(argc, argv);
  CHECK(MPI_T_cvar_read(wait, &read) == MPI_SUCCESS && read == 2);
  CHECK(MPI_T_cvar_read(which, rails) == MPI_SUCCESS && strcmp(rails, "shm") == 0);
  MPI_T_pvar_session session;
  int num = 0, tcp = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_num(&num) == MPI_SUCCESS);
  for (int i = 0; i < num; ++i) {
    char name[128] = "";
    int len = sizeof name;
    MPI_T_pvar_get_info(i, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    tcp += strncmp(name, "rail.tcp", 8) == 0;
  }
  CHECK(tcp == 0);
  MPI_Finalize();
}

int main(int argc, char** argv) {
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &(int){0}) == MPI_SUCCESS);
  every_variable_describes_itself();
  texts_are_cut_to_the_room();
  wrong_arguments_are_refused();
  what_is_written_holds(&argc, &argv);
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return failures == 0 ? 0 : 1;
}
