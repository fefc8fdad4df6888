/* Linked into tests that say ONE_THREAD (headway_test in cmake/modules.cmake): ends a test that
 * starts a thread, because ThreadSanitizer would not see it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int pthread_create(pthread_t* restrict made,
                                                          const pthread_attr_t* restrict how,
                                                          void* (*run)(void*),
                                                          void* restrict argument) {
  (void)made, (void)how, (void)run, (void)argument;
  fputs("this test says ONE_THREAD in its CMakeLists.txt, and starts a thread\n", stderr);
  abort();
}
