/* Info objects: keys keep their order, values their length. */
#include "check.h"

static void setting(void) {
  MPI_Info info, copy;
  char value[32], key[MPI_MAX_INFO_KEY];
  char large[MPI_MAX_INFO_KEY + 8];
  int flag, count, length;
  MPI_Info_create(&info);
  MPI_Info_set(info, "first", "1");
  MPI_Info_set(info, "second", "two");
  MPI_Info_set(info, "first", "uno");
  MPI_Info_get_nkeys(info, &count);
  CHECK(count == 2);
  MPI_Info_get_nthkey(info, 0, key);
  CHECK(strcmp(key, "first") == 0);
  MPI_Info_get_nthkey(info, 1, key);
  CHECK(strcmp(key, "second") == 0);
  REFUSED(MPI_Info_get_nthkey(info, 2, key), MPI_ERR_ARG, "there are 2 keys");
  MPI_Info_dup(info, &copy);
  REFUSED(MPI_Info_delete(info, "third"), MPI_ERR_INFO_NOKEY, "third");
  CHECK(MPI_Info_delete(info, "first") == MPI_SUCCESS);
  length = sizeof value;
  MPI_Info_get_string(info, "first", &length, value, &flag);
  CHECK(!flag && length == sizeof value);
  MPI_Info_get_string(copy, "first", &length, value, &flag);
  CHECK(flag && strcmp(value, "uno") == 0 && length == 4);
  length = 0;
  MPI_Info_get_string(copy, "second", &length, NULL, &flag);
  CHECK(flag && length == 4);
  length = 3;
  MPI_Info_get_string(copy, "second", &length, value, &flag);
  CHECK(flag && strcmp(value, "tw") == 0 && length == 4);
  memset(large, 'k', sizeof large);
  large[sizeof large - 1] = '\0';
  REFUSED(MPI_Info_set(info, large, "v"), MPI_ERR_INFO_KEY, "argument 2 (key)");
  REFUSED(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY, "argument 2 (key)");
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
  CHECK(info == MPI_INFO_NULL);
}

/* The deprecated functions, which give no terminating zero a place of its own in their lengths. */
static void reading_as_before_4_0(void) {
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int flag = 0, length = -1;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  CHECK(MPI_Info_get_valuelen(info, "key", &length, &flag) == MPI_SUCCESS && flag && length == 5);
  CHECK(MPI_Info_get(info, "key", 5, value, &flag) == MPI_SUCCESS);
  CHECK(flag && strcmp(value, "value") == 0);
  CHECK(MPI_Info_get(info, "key", 3, value, &flag) == MPI_SUCCESS);
  CHECK(flag && strcmp(value, "val") == 0);
  CHECK(MPI_Info_get(info, "other", 5, value, &flag) == MPI_SUCCESS && !flag);
  CHECK(MPI_Info_get_valuelen(info, "other", &length, &flag) == MPI_SUCCESS && !flag);
  MPI_Info_free(&info);
}

/* What the program's own arguments do not change is the same in both, also after MPI_Finalize. */
static void same_as_the_environment(void) {
  char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL], other[MPI_MAX_INFO_VAL];
  char* arguments[] = {"program"};
  int keys = 0, keys_there = 0, flag = 0, length;
  MPI_Info info;
  MPI_Info_create_env(1, arguments, &info);
  MPI_Info_get_nkeys(info, &keys);
  MPI_Info_get_nkeys(MPI_INFO_ENV, &keys_there);
  CHECK(keys == keys_there);
  for (int i = 0; i < keys; ++i) {
    MPI_Info_get_nthkey(info, i, key);
    length = sizeof value;
    MPI_Info_get_string(info, key, &length, value, &flag);
    length = sizeof other;
    MPI_Info_get_string(MPI_INFO_ENV, key, &length, other, &flag);
    CHECK(flag && (strcmp(key, "command") == 0 || strcmp(value, other) == 0));
  }
  length = sizeof value;
  MPI_Info_get_string(info, "thread_level", &length, value, &flag);
  CHECK(flag && strcmp(value, "MPI_THREAD_SINGLE") == 0);
  length = sizeof value;
  MPI_Info_get_string(info, "maxprocs", &length, value, &flag);
  CHECK(flag && atoi(value) >= 1);
  MPI_Info_free(&info);
}

static void environment(void) {
  char value[MPI_MAX_INFO_VAL];
  int flag = 0, length = sizeof value;
  MPI_Info info;
  char* arguments[] = {"program", "one", "two"};
  MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &length, value, &flag);
  CHECK(flag && atoi(value) >= 1);
  REFUSED(MPI_Info_set(MPI_INFO_ENV, "a", "b"), MPI_ERR_INFO, "MPI_INFO_ENV");
  MPI_Info_create_env(3, arguments, &info);
  length = sizeof value;
  MPI_Info_get_string(info, "argv", &length, value, &flag);
  CHECK(flag && strcmp(value, "one two") == 0);
  MPI_Info_free(&info);
  same_as_the_environment();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  setting();
  reading_as_before_4_0();
  environment();
  MPI_Finalize();
  same_as_the_environment();
  return failures == 0 ? 0 : 1;
}
