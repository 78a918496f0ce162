/* Shared libraries. */
#include "check.h"

static void the_program_itself_can_be_opened(void) {
  uv_lib_t lib;
  void* address = NULL;
  memset(&lib, 0xff, sizeof(lib));
  CHECK(uv_dlopen(NULL, &lib) == 0);
  CHECK(strcmp(uv_dlerror(&lib), "no error") == 0);
  CHECK(uv_dlsym(&lib, "malloc", &address) == 0 && address != NULL);
  CHECK(strcmp(uv_dlerror(&lib), "no error") == 0);

  /* An error stays until the next one. */
  CHECK(uv_dlsym(&lib, "there_is_no_such_symbol", &address) == -1);
  CHECK(address == NULL);
  CHECK(strstr(uv_dlerror(&lib), "there_is_no_such_symbol") != NULL);
  CHECK(uv_dlsym(&lib, "free", &address) == 0 && address != NULL);
  CHECK(strstr(uv_dlerror(&lib), "there_is_no_such_symbol") != NULL);
  CHECK(uv_dlsym(&lib, "nor_one_of_this_name", &address) == -1);
  CHECK(strstr(uv_dlerror(&lib), "nor_one_of_this_name") != NULL);

  uv_dlclose(&lib);
  CHECK(strcmp(uv_dlerror(&lib), "no error") == 0);
  uv_dlclose(&lib); /* does nothing */
}

static void a_failure_has_a_reason(void) {
  static const char* const names[] = {"/no/such/library.so", "/", "no-such-library.so.0"};
  uv_lib_t lib;
  void* address;
  size_t i;
  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    memset(&lib, 0xff, sizeof(lib));
    CHECK(uv_dlopen(names[i], &lib) == -1);
    CHECK(strstr(uv_dlerror(&lib), names[i]) != NULL);
    /* What was not opened is the program. */
    CHECK(uv_dlsym(&lib, "malloc", &address) == 0 && address != NULL);
    CHECK(uv_dlsym(&lib, "there_is_no_such_symbol", &address) == -1);
    CHECK(strstr(uv_dlerror(&lib), "there_is_no_such_symbol") != NULL);
    uv_dlclose(&lib);
    CHECK(strcmp(uv_dlerror(&lib), "no error") == 0);
  }
}

static void a_library_has_its_own_symbols(void) {
#ifdef __GLIBC__
  uv_lib_t lib;
  void* address;
  double (*cosine)(double);
  CHECK(uv_dlopen("libm.so.6", &lib) == 0);
  CHECK(uv_dlsym(&lib, "cos", &address) == 0);
  memcpy(&cosine, &address, sizeof(cosine));
  CHECK(cosine(0) == 1);
  uv_dlclose(&lib);
#endif
}

static void null_is_refused(void) {
  uv_lib_t lib;
  void* address;
  CHECK(uv_dlopen(NULL, NULL) == -1);
  CHECK(uv_dlopen(NULL, &lib) == 0);
  CHECK(uv_dlsym(&lib, NULL, &address) == -1);
  CHECK(uv_dlsym(&lib, "malloc", NULL) == -1);
  CHECK(uv_dlsym(NULL, "malloc", &address) == -1);
  CHECK(strcmp(uv_dlerror(NULL), "no error") == 0);
  uv_dlclose(&lib);
  uv_dlclose(NULL);
}

int main(void) {
  the_program_itself_can_be_opened();
  a_failure_has_a_reason();
  a_library_has_its_own_symbols();
  null_is_refused();
  puts("ok");
  return 0;
}
