/* Looking up addresses and names, without a network: what is in texts and in the system's files. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "check.h"

#include <arpa/inet.h>
#include <netdb.h>

static uv_loop_t* loop;
static uv_sem_t begun;
static uv_sem_t go_on;
static int calls;
static int last_status;

static struct addrinfo numeric(int family) {
  struct addrinfo hints;
  memset(&hints, 0, sizeof(hints));
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  return hints;
}

static void check_loopback(const struct addrinfo* found, int port) {
  const struct sockaddr_in* address = (const struct sockaddr_in*) found->ai_addr;
  CHECK(found->ai_family == AF_INET && found->ai_socktype == SOCK_STREAM);
  CHECK(address->sin_family == AF_INET && address->sin_port == htons(port));
  CHECK(address->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
  CHECK(found->ai_next == NULL);
}

static void on_addresses(uv_getaddrinfo_t* req, int status, struct addrinfo* found) {
  CHECK(req->loop == loop && req->type == UV_GETADDRINFO);
  CHECK(uv_cancel((uv_req_t*) req) == UV_EBUSY);
  CHECK(req->addrinfo == found && (status == 0) == (found != NULL));
  calls++;
  last_status = status;
  if (status == 0 && found->ai_family == AF_INET) check_loopback(found, 80);
  uv_freeaddrinfo(found);
  memset(req, 0xdb, sizeof(*req));
  free(req);
}

static uv_getaddrinfo_t* look_up(const char* host, const char* service, const struct addrinfo* hints) {
  uv_getaddrinfo_t* req = dirty(sizeof(*req));
  CHECK(uv_getaddrinfo(loop, req, on_addresses, host, service, hints) == 0);
  return req;
}

static void addresses_come(void) {
  char host[] = "127.0.0.1", service[] = "80";
  struct addrinfo hints = numeric(AF_INET);
  calls = 0;
  look_up(host, service, &hints);
  /* All three are copied. */
  memset(host, 'x', sizeof(host) - 1);
  memset(service, 'x', sizeof(service) - 1);
  memset(&hints, 0xff, sizeof(hints));
  CHECK(calls == 0 && uv_loop_close(loop) == UV_EBUSY);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 1 && last_status == 0);
}

static void addresses_are_there_at_once(void) {
  uv_getaddrinfo_t req;
  struct addrinfo hints = numeric(AF_UNSPEC);
  memset(&req, 0xff, sizeof(req));
  CHECK(uv_getaddrinfo(NULL, &req, NULL, "127.0.0.1", "443", &hints) == 0);
  check_loopback(req.addrinfo, 443);
  uv_freeaddrinfo(req.addrinfo);
  CHECK(uv_getaddrinfo(loop, &req, NULL, "::1", NULL, &hints) == 0);
  CHECK(req.addrinfo->ai_family == AF_INET6);
  uv_freeaddrinfo(req.addrinfo);
  CHECK(uv_getaddrinfo(loop, &req, NULL, NULL, "1", NULL) == 0);
  CHECK(req.addrinfo != NULL);
  uv_freeaddrinfo(req.addrinfo);
  CHECK(uv_getaddrinfo(loop, &req, NULL, "localhost", NULL, NULL) == 0);
  uv_freeaddrinfo(req.addrinfo);
  CHECK(!uv_loop_alive(loop));
  uv_freeaddrinfo(NULL);
}

static void what_cannot_be_is_told(void) {
  uv_getaddrinfo_t req;
  struct addrinfo hints = numeric(AF_UNSPEC);
  calls = 0;
  look_up("no-address", "80", &hints);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 1 && last_status == UV_EAI_NONAME);
  CHECK(uv_getaddrinfo(loop, &req, NULL, "no-address", "80", &hints) == UV_EAI_NONAME);
  CHECK(req.addrinfo == NULL);
  hints.ai_family = 12345;
  CHECK(uv_getaddrinfo(loop, &req, NULL, "127.0.0.1", "80", &hints) == UV_EAI_FAMILY);
  hints = numeric(AF_INET);
  hints.ai_socktype = 12345;
  CHECK(uv_getaddrinfo(loop, &req, NULL, "127.0.0.1", "80", &hints) == UV_EAI_SOCKTYPE);
  hints = numeric(AF_INET);
  hints.ai_flags = 1 << 30;
  CHECK(uv_getaddrinfo(loop, &req, NULL, "127.0.0.1", "80", &hints) == UV_EAI_BADFLAGS);
}

static int refused(const char* host) {
  uv_getaddrinfo_t req;
  struct addrinfo hints = numeric(AF_UNSPEC);
  int later = uv_getaddrinfo(loop, &req, on_addresses, host, NULL, &hints);
  CHECK(later == uv_getaddrinfo(loop, &req, NULL, host, NULL, &hints));
  return later;
}

static void names_are_never_cut(void) {
  static char name[100001];
  uv_getaddrinfo_t req;
  struct addrinfo hints = numeric(AF_UNSPEC);
  size_t i;
  /* A name that would be an address if it were cut to 255 bytes, or to any number of bytes of 2^n. */
  memset(name, '0', sizeof(name) - 1);
  CHECK(refused(name) == UV_EINVAL);
  name[256] = '\0';
  CHECK(refused(name) == UV_EINVAL);
  name[255] = '\0';
  CHECK(uv_getaddrinfo(loop, &req, NULL, name, NULL, &hints) == 0);
  uv_freeaddrinfo(req.addrinfo);
  for (i = 0; i < 600; i += 2) memcpy(name + i, "\303\274", 2);
  name[600] = '\0';
  CHECK(refused(name) == UV_EINVAL);
}

static void odd_names_are_refused(void) {
  uv_getaddrinfo_t req;
  CHECK(refused("") == UV_EINVAL);
  CHECK(refused("\302\255") == UV_EINVAL);
  CHECK(refused("\377") == UV_EINVAL);
  CHECK(refused("a.\303") == UV_EINVAL);
  CHECK(refused("\355\240\200") == UV_EINVAL);
  CHECK(uv_getaddrinfo(loop, &req, on_addresses, NULL, NULL, NULL) == UV_EINVAL);
  CHECK(uv_getaddrinfo(loop, &req, NULL, NULL, NULL, NULL) == UV_EINVAL);
  CHECK(uv_getaddrinfo(NULL, &req, on_addresses, "127.0.0.1", NULL, NULL) == UV_EINVAL);
  CHECK(uv_getaddrinfo(loop, NULL, on_addresses, "127.0.0.1", NULL, NULL) == UV_EINVAL);
  CHECK(!uv_loop_alive(loop));
}

/* Letters that only look wide are the plain ones: an address in them is an address. */
static void names_are_mapped(void) {
  uv_getaddrinfo_t req;
  struct addrinfo hints = numeric(AF_INET);
  CHECK(uv_getaddrinfo(loop, &req, NULL, "\357\274\221\357\274\222\357\274\227.0\343\200\2020.1", "1", &hints) == 0);
  check_loopback(req.addrinfo, 1);
  uv_freeaddrinfo(req.addrinfo);
}

static void on_names(uv_getnameinfo_t* req, int status, const char* host, const char* service) {
  CHECK(req->loop == loop && req->type == UV_GETNAMEINFO);
  CHECK(uv_cancel((uv_req_t*) req) == UV_EBUSY);
  calls++;
  last_status = status;
  if (status == 0) {
    CHECK(host == req->host && service == req->service);
    CHECK(strcmp(host, "127.0.0.1") == 0 && strcmp(service, "8080") == 0);
  } else {
    CHECK(host == NULL && service == NULL);
  }
  memset(req, 0xdb, sizeof(*req));
  free(req);
}

static struct sockaddr_in loopback(void) {
  struct sockaddr_in address;
  CHECK(uv_ip4_addr("127.0.0.1", 8080, &address) == 0);
  return address;
}

static uv_getnameinfo_t* look_up_names(int flags) {
  uv_getnameinfo_t* req = dirty(sizeof(*req));
  struct sockaddr_in address = loopback();
  CHECK(uv_getnameinfo(loop, req, on_names, (struct sockaddr*) &address, flags) == 0);
  memset(&address, 0xff, sizeof(address));
  return req;
}

static void names_come(void) {
  calls = 0;
  look_up_names(NI_NUMERICHOST | NI_NUMERICSERV);
  CHECK(calls == 0);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 1 && last_status == 0);
  look_up_names(1 << 30);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 2 && last_status == UV_EAI_BADFLAGS);
}

static void names_are_there_at_once(void) {
  uv_getnameinfo_t req;
  struct sockaddr_in6 address;
  struct sockaddr_in v4 = loopback();
  struct sockaddr other = {.sa_family = AF_UNIX};
  CHECK(uv_ip6_addr("::1", 53, &address) == 0);
  memset(&req, 0xff, sizeof(req));
  CHECK(uv_getnameinfo(NULL, &req, NULL, (struct sockaddr*) &address, NI_NUMERICHOST | NI_NUMERICSERV) == 0);
  CHECK(strcmp(req.host, "::1") == 0 && strcmp(req.service, "53") == 0);
  CHECK(uv_getnameinfo(loop, &req, NULL, (struct sockaddr*) &v4, NI_NUMERICHOST | NI_NUMERICSERV) == 0);
  CHECK(strcmp(req.host, "127.0.0.1") == 0 && strcmp(req.service, "8080") == 0);
  CHECK(uv_getnameinfo(loop, &req, on_names, &other, 0) == UV_EINVAL);
  CHECK(uv_getnameinfo(loop, &req, on_names, NULL, 0) == UV_EINVAL);
  CHECK(uv_getnameinfo(loop, NULL, on_names, (struct sockaddr*) &v4, 0) == UV_EINVAL);
  CHECK(uv_getnameinfo(NULL, &req, on_names, (struct sockaddr*) &v4, 0) == UV_EINVAL);
  CHECK(!uv_loop_alive(loop));
}

static void block(uv_work_t* req) {
  (void) req;
  uv_sem_post(&begun);
  uv_sem_wait(&go_on);
}

static void look_ups_are_taken_back(void) {
  uv_work_t work;
  uv_req_t *addresses, *names;
  calls = 0;
  CHECK(uv_queue_work(loop, &work, block, NULL) == 0);
  uv_sem_wait(&begun);
  addresses = (uv_req_t*) look_up("localhost", NULL, NULL);
  names = (uv_req_t*) look_up_names(0);
  CHECK(uv_cancel(addresses) == 0 && uv_cancel(addresses) == 0);
  CHECK(uv_run(loop, UV_RUN_NOWAIT) != 0);
  CHECK(calls == 1 && last_status == UV_EAI_CANCELED);
  last_status = 0;
  CHECK(uv_cancel(names) == 0 && uv_cancel(names) == 0);
  CHECK(uv_run(loop, UV_RUN_NOWAIT) != 0);
  CHECK(calls == 2 && last_status == UV_EAI_CANCELED);
  uv_sem_post(&go_on);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 2);
}

int main(void) {
  CHECK(setenv("UV_THREADPOOL_SIZE", "1", 1) == 0);
  CHECK(uv_sem_init(&begun, 0) == 0 && uv_sem_init(&go_on, 0) == 0);
  loop = uv_default_loop();
  addresses_come();
  addresses_are_there_at_once();
  what_cannot_be_is_told();
  names_are_never_cut();
  odd_names_are_refused();
  names_are_mapped();
  names_come();
  names_are_there_at_once();
  look_ups_are_taken_back();
  CHECK(uv_loop_close(loop) == 0);
  uv_library_shutdown();
  puts("ok");
  return 0;
}
