/* Whatever allocation fails: an error, nothing left behind, and no end of the process. */
#include "check.h"
#include "failing.h"

static int cpus(void) {
  uv_cpu_info_t* array;
  int count, result = uv_cpu_info(&array, &count);
  CHECK((result == 0) == (array != NULL) && (result == 0) == (count > 0));
  uv_free_cpu_info(array, count);
  return result;
}

static int interfaces(void) {
  uv_interface_address_t* array;
  int count, result = uv_interface_addresses(&array, &count);
  CHECK((array != NULL) == (count > 0));
  uv_free_interface_addresses(array, count);
  return result;
}

static int environment(void) {
  uv_env_item_t* array;
  int count, result = uv_os_environ(&array, &count);
  CHECK((result == 0) == (array != NULL) && (result == 0) == (count > 0));
  uv_os_free_environ(array, count);
  return result;
}

static int user(void) {
  uv_passwd_t user;
  int result = uv_os_get_passwd2(&user, 0);
  if (result == 0) uv_os_free_passwd(&user);
  return result;
}

static int group(void) {
  uv_group_t group;
  int result = uv_os_get_group(&group, 0);
  if (result == 0) uv_os_free_group(&group);
  return result;
}

static int home(void) {
  char buffer[4096];
  size_t size = sizeof(buffer);
  CHECK(uv_os_unsetenv("HOME") == 0);
  return uv_os_homedir(buffer, &size);
}

/* These have no error, or tell what they can. */
static int numbers(void) {
  double uptime, load[3];
  CHECK(uv_get_total_memory() > 0 && uv_get_free_memory() > 0);
  uv_get_constrained_memory();
  uv_get_available_memory();
  CHECK(uv_available_parallelism() > 0);
  CHECK(uv_uptime(&uptime) == 0 && uptime > 0);
  uv_loadavg(load);
  return failed ? UV_ENOMEM : 0;
}

static int resident(void) {
  size_t resident;
  return uv_resident_set_memory(&resident);
}

static void check(int (*function)(void)) {
  int nth = 0, result, before = count_blocks();
  do {
    failed = 0;
    left_until_failure = nth++;
    result = function();
    CHECK(result == 0 || (failed && result == UV_ENOMEM) || (function == user && result == UV_ENOENT) ||
          (function == group && result == UV_ENOENT) || (function == home && result == UV_ENOENT));
    CHECK(count_blocks() == before);
  } while (failed);
  CHECK(nth < 1000);
}

int main(void) {
  CHECK(uv_replace_allocator(short_malloc, short_realloc, short_calloc, counting_free) == 0);
  check(cpus);
  check(interfaces);
  check(environment);
  check(user);
  check(group);
  check(home);
  check(numbers);
  check(resident);
  {
    char program[] = "program";
    char* arguments[] = {program, NULL};
    left_until_failure = 0;
    CHECK(uv_setup_args(1, arguments) == arguments);
    CHECK(uv_set_process_title("x") == UV_ENOBUFS);
  }
  puts("ok");
  return 0;
}
