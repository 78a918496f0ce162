/* The names and messages of errors. */
#include "check.h"

typedef char* (*into)(int, char*, size_t);

/* The whole text fits, or its beginning and a zero; nothing else is touched. */
static void check_into(into function, int error, const char* expected) {
  char text[80];
  size_t length = strlen(expected), size, i;
  for (size = 0; size < sizeof(text); size++) {
    memset(text, 0x55, sizeof(text));
    CHECK(function(error, text, size) == text);
    if (size > 0) {
      size_t shown = length < size ? length : size - 1;
      CHECK(strlen(text) == shown && memcmp(text, expected, shown) == 0);
      for (i = shown + 1; i < sizeof(text); i++) CHECK(text[i] == 0x55);
    } else {
      for (i = 0; i < sizeof(text); i++) CHECK(text[i] == 0x55);
    }
  }
  CHECK(function(error, NULL, 0) == NULL);
}

static void check_error(int error, const char* name, const char* message) {
  CHECK(strcmp(uv_err_name(error), name) == 0);
  CHECK(strcmp(uv_strerror(error), message) == 0);
  check_into(uv_err_name_r, error, name);
  check_into(uv_strerror_r, error, message);
  CHECK(uv_translate_sys_error(error) == error);
  CHECK(uv_translate_sys_error(-error) == error);
}

static void every_error_has_its_name_and_message(void) {
#define EACH(name, message) check_error(UV_##name, #name, message);
  UV_ERRNO_MAP(EACH)
#undef EACH
}

static int is_error(int number) {
#define EACH(name, message) if (number == UV_##name) return 1;
  UV_ERRNO_MAP(EACH)
#undef EACH
  return 0;
}

static void every_other_number_says_so(void) {
  const int far[] = {INT32_MIN, INT32_MIN + 1, -5000, -4096, -1000, 1, 2, 4095, INT32_MAX};
  char expected[64];
  size_t i;
  int number;
  for (number = -4200; number < 200; number++) {
    if (is_error(number) || UV_VERSION_HEX < 0x013500) continue; /* a header before 1.53.0 has fewer of them */
    snprintf(expected, sizeof(expected), "Unknown system error %d", number);
    CHECK(strcmp(uv_strerror(number), expected) == 0);
    CHECK(strcmp(uv_err_name(number), expected) == 0);
  }
  for (i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
    snprintf(expected, sizeof(expected), "Unknown system error %d", far[i]);
    check_into(uv_err_name_r, far[i], expected);
    check_into(uv_strerror_r, far[i], expected);
    CHECK(strcmp(uv_strerror(far[i]), expected) == 0);
    /* The text stays, and a second one is not made. */
    CHECK(uv_strerror(far[i]) == uv_err_name(far[i]));
  }
  CHECK(uv_translate_sys_error(0) == 0);
  CHECK(uv_translate_sys_error(INT32_MIN) == INT32_MIN);
  CHECK(uv_translate_sys_error(INT32_MAX) == -INT32_MAX);
  CHECK(uv_translate_sys_error(12345) == -12345); /* unknown ones, too */
}

int main(void) {
  every_error_has_its_name_and_message();
  every_other_number_says_so();
  puts("ok");
  return 0;
}
