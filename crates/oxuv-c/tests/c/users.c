/* Users and groups, beside the C library's databases. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

static void check_user(uid_t uid, int result, uv_passwd_t* user) {
  struct passwd* expected = getpwuid(uid);
  if (expected == NULL) {
    CHECK(result == UV_ENOENT);
    return;
  }
  CHECK(result == 0);
  CHECK(strcmp(user->username, expected->pw_name) == 0);
  CHECK(strcmp(user->homedir, expected->pw_dir) == 0);
  CHECK(strcmp(user->shell, expected->pw_shell) == 0);
  CHECK(user->uid == expected->pw_uid && user->gid == expected->pw_gid);
  uv_os_free_passwd(user);
  CHECK(user->username == NULL && user->homedir == NULL && user->shell == NULL);
  uv_os_free_passwd(user);
}

static void users_are_those_of_the_database(void) {
  struct passwd* entry;
  uid_t ids[256];
  int count = 0, i;
  uv_passwd_t user;
  CHECK(uv_os_get_passwd(NULL) == UV_EINVAL);
  CHECK(uv_os_get_passwd2(NULL, 0) == UV_EINVAL);
  uv_os_free_passwd(NULL);
  memset(&user, 0xff, sizeof(user));
  check_user(geteuid(), uv_os_get_passwd(&user), &user);
  while (count < 256 && (entry = getpwent()) != NULL) ids[count++] = entry->pw_uid;
  endpwent();
  for (i = 0; i < count; i++) check_user(ids[i], uv_os_get_passwd2(&user, ids[i]), &user);
  check_user((uid_t) -2, uv_os_get_passwd2(&user, (uid_t) -2), &user);
}

static void check_group(gid_t gid, int result, uv_group_t* group) {
  struct group* expected = getgrgid(gid);
  int i;
  if (expected == NULL) {
    CHECK(result == UV_ENOENT);
    return;
  }
  CHECK(result == 0);
  CHECK(strcmp(group->groupname, expected->gr_name) == 0);
  CHECK(group->gid == expected->gr_gid);
  for (i = 0; expected->gr_mem[i] != NULL; i++) {
    CHECK(group->members[i] != NULL);
    CHECK(strcmp(group->members[i], expected->gr_mem[i]) == 0);
  }
  CHECK(group->members[i] == NULL);
  uv_os_free_group(group);
  CHECK(group->groupname == NULL && group->members == NULL);
  uv_os_free_group(group);
}

static void groups_are_those_of_the_database(void) {
  struct group* entry;
  gid_t ids[256];
  int count = 0, i;
  uv_group_t group;
  CHECK(uv_os_get_group(NULL, 0) == UV_EINVAL);
  uv_os_free_group(NULL);
  while (count < 256 && (entry = getgrent()) != NULL) ids[count++] = entry->gr_gid;
  endgrent();
  for (i = 0; i < count; i++) {
    memset(&group, 0xff, sizeof(group));
    check_group(ids[i], uv_os_get_group(&group, ids[i]), &group);
  }
  check_group((gid_t) -2, uv_os_get_group(&group, (gid_t) -2), &group);
}

int main(void) {
  users_are_those_of_the_database();
  groups_are_those_of_the_database();
  puts("ok");
  return 0;
}
