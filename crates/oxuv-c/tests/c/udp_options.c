/* Options of UDP handles, and groups, all on the loopback. */
#define _DEFAULT_SOURCE
#include "udp.h"

#include <netinet/in.h>

static const char group[] = "239.9.8.7";

static int option(const uv_udp_t* udp, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  CHECK(getsockopt(udp->io_watcher.fd, level, name, &value, &size) == 0);
  return value;
}

static void without_a_socket(void) {
  uv_udp_t* udp = new_udp(AF_UNSPEC);
  CHECK(uv_udp_set_broadcast(udp, 1) == UV_EBADF);
  CHECK(uv_udp_set_ttl(udp, 1) == UV_EBADF);
  CHECK(uv_udp_set_multicast_ttl(udp, 1) == UV_EBADF);
  CHECK(uv_udp_set_multicast_loop(udp, 1) == UV_EBADF);
  CHECK(uv_udp_set_multicast_interface(udp, NULL) == UV_EBADF);
  /* Groups need one, and get it. */
  CHECK(uv_udp_set_membership(udp, group, "127.0.0.1", UV_JOIN_GROUP) == 0);
  CHECK(udp->io_watcher.fd >= 0 && udp_port(udp) != 0);
  CHECK(option(udp, SOL_SOCKET, SO_REUSEADDR) == 1);
  close_udp(udp);
  CHECK(uv_udp_set_broadcast(udp, 1) == UV_EBADF);
  run_dry();
}

static void numbers_reach_the_socket(void) {
  struct sockaddr_in address;
  uv_udp_t* udp = new_bound(AF_UNSPEC, &address);
  CHECK(uv_udp_set_broadcast(udp, 7) == 0 && option(udp, SOL_SOCKET, SO_BROADCAST) == 1);
  CHECK(uv_udp_set_broadcast(udp, 0) == 0 && option(udp, SOL_SOCKET, SO_BROADCAST) == 0);
  CHECK(uv_udp_set_ttl(udp, 255) == 0 && option(udp, IPPROTO_IP, IP_TTL) == 255);
  CHECK(uv_udp_set_ttl(udp, 0) == UV_EINVAL && uv_udp_set_ttl(udp, 256) == UV_EINVAL);
  CHECK(uv_udp_set_ttl(udp, -1) == UV_EINVAL);
  CHECK(uv_udp_set_multicast_ttl(udp, 0) == 0 && option(udp, IPPROTO_IP, IP_MULTICAST_TTL) == 0);
  CHECK(uv_udp_set_multicast_ttl(udp, 9) == 0 && option(udp, IPPROTO_IP, IP_MULTICAST_TTL) == 9);
  CHECK(uv_udp_set_multicast_ttl(udp, -1) == UV_EINVAL && uv_udp_set_multicast_ttl(udp, 256) == UV_EINVAL);
  CHECK(uv_udp_set_multicast_loop(udp, 0) == 0 && option(udp, IPPROTO_IP, IP_MULTICAST_LOOP) == 0);
  CHECK(uv_udp_set_multicast_loop(udp, -1) == UV_EINVAL && uv_udp_set_multicast_loop(udp, 256) == UV_EINVAL);
  CHECK(uv_udp_set_multicast_interface(udp, "127.0.0.1") == 0);
  CHECK(uv_udp_set_multicast_interface(udp, NULL) == 0);
  CHECK(uv_udp_set_multicast_interface(udp, "lo") == UV_EINVAL);
  close_udp(udp);
  run_dry();
}

static void sockets_of_ipv6(void) {
  struct sockaddr_in6 address;
  uv_udp_t* udp = new_udp(AF_UNSPEC);
  CHECK(uv_ip6_addr("::1", 0, &address) == 0);
  if (uv_udp_bind(udp, (struct sockaddr*) &address, UV_UDP_IPV6ONLY) == 0) {
    CHECK(option(udp, IPPROTO_IPV6, IPV6_V6ONLY) == 1);
    CHECK(uv_udp_set_ttl(udp, 5) == 0 && option(udp, IPPROTO_IPV6, IPV6_UNICAST_HOPS) == 5);
    CHECK(uv_udp_set_multicast_ttl(udp, 6) == 0 && option(udp, IPPROTO_IPV6, IPV6_MULTICAST_HOPS) == 6);
    CHECK(uv_udp_set_multicast_loop(udp, 0) == 0 && option(udp, IPPROTO_IPV6, IPV6_MULTICAST_LOOP) == 0);
    CHECK(uv_udp_set_multicast_interface(udp, "::%lo") == 0);
    CHECK(uv_udp_set_membership(udp, "ff01::1:9", "::%lo", UV_JOIN_GROUP) == 0);
    CHECK(uv_udp_set_membership(udp, "ff01::1:9", "::%lo", UV_LEAVE_GROUP) == 0);
    CHECK(uv_udp_set_membership(udp, "ff01::1:9", "127.0.0.1", UV_JOIN_GROUP) == UV_EINVAL);
    CHECK(uv_udp_set_source_membership(udp, "ff01::1:9", "::%lo", "::1", UV_JOIN_GROUP) == 0);
    CHECK(uv_udp_set_source_membership(udp, "ff01::1:9", "::%lo", "::1", UV_LEAVE_GROUP) == 0);
    CHECK(uv_udp_set_source_membership(udp, "ff01::1:9", "::%lo", "1.2.3.4", UV_JOIN_GROUP) == UV_EINVAL);
  }
  close_udp(udp);
  run_dry();
}

static void opened_sockets_are_shared_if_that_is_asked_for(void) {
  const unsigned flags[] = {0, UV_UDP_REUSEADDR};
  int i;
  for (i = 0; i < 2; i++) {
    uv_udp_t* udp = new_udp(AF_UNSPEC);
    CHECK(uv_udp_open_ex(udp, socket(AF_INET, SOCK_DGRAM, 0), flags[i]) == 0);
    CHECK(option(udp, SOL_SOCKET, SO_REUSEADDR) == i);
    close_udp(udp);
  }
  run_dry();
}

static void misuse_of_groups(void) {
  struct sockaddr_in address;
  uv_udp_t* udp = new_bound(AF_UNSPEC, &address);
  CHECK(uv_udp_set_membership(udp, NULL, NULL, UV_JOIN_GROUP) == UV_EINVAL);
  CHECK(uv_udp_set_membership(udp, "group", NULL, UV_JOIN_GROUP) == UV_EINVAL);
  CHECK(uv_udp_set_membership(udp, group, "lo", UV_JOIN_GROUP) == UV_EINVAL);
  CHECK(uv_udp_set_membership(udp, group, "127.0.0.1", 2) == UV_EINVAL);
  CHECK(uv_udp_set_membership(udp, "127.0.0.1", "127.0.0.1", UV_JOIN_GROUP) == UV_EINVAL);
  CHECK(uv_udp_set_membership(udp, group, "192.0.2.1", UV_JOIN_GROUP) == UV_ENODEV);
  CHECK(uv_udp_set_membership(udp, group, "127.0.0.1", UV_LEAVE_GROUP) == UV_EADDRNOTAVAIL);
  CHECK(uv_udp_set_membership(udp, group, "127.0.0.1", UV_JOIN_GROUP) == 0);
  CHECK(uv_udp_set_membership(udp, group, "127.0.0.1", UV_JOIN_GROUP) == UV_EADDRINUSE);
  CHECK(uv_udp_set_membership(udp, group, "127.0.0.1", UV_LEAVE_GROUP) == 0);
  CHECK(uv_udp_set_source_membership(udp, group, "127.0.0.1", "source", UV_JOIN_GROUP) == UV_EINVAL);
  CHECK(uv_udp_set_source_membership(udp, group, "127.0.0.1", "::1", UV_JOIN_GROUP) == UV_EINVAL);
  close_udp(udp);
  run_dry();
}

static int heard;

static void on_received(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  (void) udp, (void) flags;
  if (from != NULL) {
    CHECK(size == 5 && memcmp(buf->base, "heard", 5) == 0);
    heard++;
  }
  free(buf->base);
}

static void members_hear(void) {
  struct sockaddr_in any, to;
  uv_udp_t* member = new_udp(AF_UNSPEC);
  uv_udp_t* sender = new_bound(AF_UNSPEC, &to);
  uv_buf_t buf = uv_buf_init("heard", 5), other = uv_buf_init("not", 3);
  CHECK(uv_ip4_addr("0.0.0.0", 0, &any) == 0);
  CHECK(uv_udp_bind(member, (struct sockaddr*) &any, UV_UDP_REUSEADDR) == 0);
  CHECK(uv_udp_set_source_membership(member, group, "127.0.0.1", "127.0.0.1", UV_JOIN_GROUP) == 0);
  CHECK(uv_udp_set_source_membership(member, "239.9.8.8", "127.0.0.1", "127.1.1.1", UV_JOIN_GROUP) == 0);
  CHECK(uv_udp_recv_start(member, alloc_64k, on_received) == 0);
  CHECK(uv_udp_set_multicast_interface(sender, "127.0.0.1") == 0);
  CHECK(uv_ip4_addr("239.9.8.8", udp_port(member), &to) == 0);
  CHECK(uv_udp_try_send(sender, &other, 1, (struct sockaddr*) &to) == 3);
  CHECK(uv_ip4_addr(group, udp_port(member), &to) == 0);
  CHECK(uv_udp_try_send(sender, &buf, 1, (struct sockaddr*) &to) == 5);
  UNTIL(heard == 1);
  close_udp(member);
  close_udp(sender);
  run_dry();
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  without_a_socket();
  numbers_reach_the_socket();
  sockets_of_ipv6();
  opened_sockets_are_shared_if_that_is_asked_for();
  misuse_of_groups();
  members_hear();
  CHECK(uv_loop_close(&loop) == 0);
  printf("ok\n");
  return 0;
}
