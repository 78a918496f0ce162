/* Directories and files that a process knows by itself. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <pwd.h>
#include <unistd.h>

typedef int (*path_function)(char* buffer, size_t* size);

static void check_misuse(path_function function) {
  char buffer[8];
  size_t size = sizeof(buffer), none = 0;
  CHECK(function(NULL, &size) == UV_EINVAL);
  CHECK(function(buffer, NULL) == UV_EINVAL);
  CHECK(function(buffer, &none) == UV_EINVAL);
}

/* Gives this text; of a buffer that is too small it says what it takes. */
static void check_path(path_function function, const char* expected) {
  size_t length = strlen(expected), size = length + 1;
  char* buffer = malloc(length + 2);
  memset(buffer, 'x', length + 2);
  CHECK(function(buffer, &size) == 0);
  CHECK(size == length && strcmp(buffer, expected) == 0 && buffer[length + 1] == 'x');
  for (size = 1; size <= length; size = length + 1) {
    CHECK(function(buffer, &size) == UV_ENOBUFS);
    CHECK(size == length + 1);
    if (length > 1) {
      size = length;
      CHECK(function(buffer, &size) == UV_ENOBUFS);
      CHECK(size == length + 1);
    }
  }
  free(buffer);
}

static void the_working_directory_can_be_changed(void) {
  char before[4096], made[] = "/tmp/oxuv-paths-XXXXXX", buffer[64], *expected;
  size_t size = sizeof(buffer);
  check_misuse(uv_cwd);
  CHECK(getcwd(before, sizeof(before)) != NULL);
  check_path(uv_cwd, before);
  CHECK(uv_chdir("/") == 0);
  check_path(uv_cwd, "/");
  CHECK(mkdtemp(made) != NULL);
  CHECK(uv_chdir(made) == 0);
  expected = realpath(made, NULL);
  check_path(uv_cwd, expected);
  CHECK(rmdir(expected) == 0);
  CHECK(uv_cwd(buffer, &size) == UV_ENOENT);
  free(expected);
  CHECK(uv_chdir(made) == UV_ENOENT);
  CHECK(uv_chdir("") == UV_ENOENT);
  CHECK(uv_chdir("/dev/null") == UV_ENOTDIR);
  CHECK(uv_chdir(NULL) == UV_EFAULT);
  CHECK(uv_chdir(before) == 0);
  check_path(uv_cwd, before);
}

static void the_program_is_cut_to_the_buffer(void) {
  char expected[4096], buffer[4096];
  size_t size = sizeof(buffer);
  ssize_t length = readlink("/proc/self/exe", expected, sizeof(expected) - 1);
  CHECK(length > 10);
  expected[length] = '\0';
  check_misuse(uv_exepath);
  CHECK(uv_exepath(buffer, &size) == 0);
  CHECK(size == (size_t) length && strcmp(buffer, expected) == 0);
  memset(buffer, 'x', sizeof(buffer));
  size = 6;
  CHECK(uv_exepath(buffer, &size) == 0);
  CHECK(size == 5 && memcmp(buffer, expected, 5) == 0 && buffer[5] == '\0' && buffer[6] == 'x');
  size = 1;
  CHECK(uv_exepath(buffer, &size) == 0);
  CHECK(size == 0 && buffer[0] == '\0');
}

static void home_is_what_the_environment_says_first(void) {
  struct passwd* user = getpwuid(geteuid());
  char buffer[8];
  size_t size = sizeof(buffer);
  check_misuse(uv_os_homedir);
  CHECK(setenv("HOME", "/some/where/", 1) == 0);
  check_path(uv_os_homedir, "/some/where/");
  CHECK(setenv("HOME", "", 1) == 0);
  check_path(uv_os_homedir, "");
  CHECK(unsetenv("HOME") == 0);
  check_misuse(uv_os_homedir);
  if (user != NULL)
    check_path(uv_os_homedir, user->pw_dir);
  else
    CHECK(uv_os_homedir(buffer, &size) == UV_ENOENT);
}

static void temporary_files_go_where_the_environment_says(void) {
  const char* names[] = {"TEMPDIR", "TEMP", "TMP", "TMPDIR"};
  int i;
  for (i = 0; i < 4; i++) CHECK(unsetenv(names[i]) == 0);
  check_misuse(uv_os_tmpdir);
  check_path(uv_os_tmpdir, "/tmp");
  for (i = 0; i < 4; i++) { /* the later ones go first */
    CHECK(setenv(names[i], names[i], 1) == 0);
    check_path(uv_os_tmpdir, names[i]);
  }
  CHECK(setenv("TMPDIR", "/a/b/", 1) == 0);
  {
    char buffer[16];
    size_t size = sizeof(buffer);
    CHECK(uv_os_tmpdir(buffer, &size) == 0);
    CHECK(size == 4 && strcmp(buffer, "/a/b") == 0);
  }
  CHECK(setenv("TMPDIR", "/", 1) == 0);
  check_path(uv_os_tmpdir, "/");
  CHECK(setenv("TMPDIR", "", 1) == 0); /* set, if to nothing */
  check_path(uv_os_tmpdir, "");
}

int main(void) {
  the_working_directory_can_be_changed();
  the_program_is_cut_to_the_buffer();
  home_is_what_the_environment_says_first();
  temporary_files_go_where_the_environment_says();
  puts("ok");
  return 0;
}
