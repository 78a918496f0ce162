/* The environment, beside the C library's functions. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <unistd.h>

extern char** environ;

static void a_variable_is_copied_to_the_buffer(void) {
  char buffer[32];
  size_t size = sizeof(buffer);
  memset(buffer, 'x', sizeof(buffer));
  CHECK(uv_os_setenv("OXUV_ONE", "value") == 0);
  CHECK(strcmp(getenv("OXUV_ONE"), "value") == 0);
  CHECK(uv_os_getenv("OXUV_ONE", buffer, &size) == 0);
  CHECK(size == 5 && memcmp(buffer, "value\0x", 7) == 0);

  memset(buffer, 'x', sizeof(buffer));
  size = 5;
  CHECK(uv_os_getenv("OXUV_ONE", buffer, &size) == UV_ENOBUFS);
  CHECK(size == 6 && buffer[0] == 'x');
  CHECK(uv_os_getenv("OXUV_ONE", buffer, &size) == 0);
  CHECK(size == 5);

  CHECK(uv_os_setenv("OXUV_ONE", "") == 0);
  size = 1;
  CHECK(uv_os_getenv("OXUV_ONE", buffer, &size) == 0);
  CHECK(size == 0 && buffer[0] == '\0');

  strcpy(buffer, "OXUV_ONE"); /* the name may lie in the buffer */
  size = sizeof(buffer);
  CHECK(uv_os_setenv("OXUV_ONE", "a=b") == 0);
  CHECK(uv_os_getenv(buffer, buffer, &size) == 0);
  CHECK(size == 3 && strcmp(buffer, "a=b") == 0);

  CHECK(uv_os_unsetenv("OXUV_ONE") == 0);
  CHECK(uv_os_unsetenv("OXUV_ONE") == 0);
  CHECK(getenv("OXUV_ONE") == NULL);
  size = sizeof(buffer);
  CHECK(uv_os_getenv("OXUV_ONE", buffer, &size) == UV_ENOENT);
  CHECK(size == sizeof(buffer));
}

static void what_cannot_be_is_refused(void) {
  char buffer[8];
  size_t size = sizeof(buffer), none = 0;
  CHECK(uv_os_getenv(NULL, buffer, &size) == UV_EINVAL);
  CHECK(uv_os_getenv("OXUV_ONE", NULL, &size) == UV_EINVAL);
  CHECK(uv_os_getenv("OXUV_ONE", buffer, NULL) == UV_EINVAL);
  CHECK(uv_os_getenv("OXUV_ONE", buffer, &none) == UV_EINVAL);
  CHECK(uv_os_getenv("", buffer, &size) == UV_ENOENT);
  CHECK(uv_os_setenv(NULL, "x") == UV_EINVAL);
  CHECK(uv_os_setenv("OXUV_ONE", NULL) == UV_EINVAL);
  CHECK(uv_os_setenv("", "x") == UV_EINVAL);
  CHECK(uv_os_setenv("OXUV=ONE", "x") == UV_EINVAL);
  CHECK(uv_os_unsetenv(NULL) == UV_EINVAL);
  CHECK(uv_os_unsetenv("") == UV_EINVAL);
  CHECK(uv_os_unsetenv("OXUV=ONE") == UV_EINVAL);
}

static void all_variables_are_copied(void) {
  char *strange[] = {"A=1", "NO_VALUE", "EMPTY=", "=C:=C:\\", "TWICE=a=b", NULL};
  char** before = environ;
  uv_env_item_t* items = (uv_env_item_t*) &items;
  int count, i;
  CHECK(uv_os_environ(NULL, &count) == UV_EINVAL);
  CHECK(uv_os_environ(&items, NULL) == UV_EINVAL);
  CHECK(uv_os_setenv("OXUV_TWO", "2") == 0);
  CHECK(uv_os_environ(&items, &count) == 0);
  for (i = 0; environ[i] != NULL; i++) {
    size_t length = strlen(items[i].name);
    CHECK(i < count);
    CHECK(memcmp(environ[i], items[i].name, length) == 0 && environ[i][length] == '=');
    CHECK(strcmp(environ[i] + length + 1, items[i].value) == 0);
  }
  CHECK(i == count && count > 0);
  CHECK(uv_os_setenv("OXUV_TWO", "3") == 0); /* the copy stays */
  for (i = 0; strcmp(items[i].name, "OXUV_TWO") != 0; i++) CHECK(i + 1 < count);
  CHECK(strcmp(items[i].value, "2") == 0);
  uv_os_free_environ(items, count);

  environ = strange;
  CHECK(uv_os_environ(&items, &count) == 0);
  CHECK(count == 4);
  CHECK(strcmp(items[0].name, "A") == 0 && strcmp(items[0].value, "1") == 0);
  CHECK(strcmp(items[1].name, "EMPTY") == 0 && strcmp(items[1].value, "") == 0);
  CHECK(strcmp(items[2].name, "") == 0 && strcmp(items[2].value, "C:=C:\\") == 0);
  CHECK(strcmp(items[3].name, "TWICE") == 0 && strcmp(items[3].value, "a=b") == 0);
  uv_os_free_environ(items, count);

  environ = NULL; /* as clearenv leaves it */
  CHECK(uv_os_environ(&items, &count) == 0);
  CHECK(count == 0);
  uv_os_free_environ(items, count);
  uv_os_free_environ(NULL, 0);
  environ = before;
}

int main(void) {
  a_variable_is_copied_to_the_buffer();
  what_cannot_be_is_refused();
  all_variables_are_copied();
  puts("ok");
  return 0;
}
