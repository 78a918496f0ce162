/* Addresses and their texts; names of interfaces. */
#include "check.h"

#include <net/if.h>
#include <sys/un.h>

static int is_filled(const void* memory, int byte, size_t size) {
  const unsigned char* bytes = memory;
  while (size-- > 0)
    if (bytes[size] != byte) return 0;
  return 1;
}

/* The text leads to these bytes, or nowhere if they are NULL. */
static void check_parse(int family, const char* text, const void* expected) {
  unsigned char bytes[17];
  size_t size = family == AF_INET ? 4 : 16;
  memset(bytes, 0xaa, sizeof(bytes));
  if (expected == NULL) {
    CHECK(uv_inet_pton(family, text, bytes) == UV_EINVAL);
    CHECK(is_filled(bytes, 0xaa, sizeof(bytes)));
  } else {
    CHECK(uv_inet_pton(family, text, bytes + 1) == 0); /* aligned or not */
    CHECK(memcmp(bytes + 1, expected, size) == 0);
    CHECK(bytes[0] == 0xaa && is_filled(bytes + 1 + size, 0xaa, 16 - size));
  }
}

static void texts_that_are_addresses_are_read(void) {
  static const unsigned char one[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  static const unsigned char full[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1, 2, 3, 4};
  static const unsigned char ends[] = {0xab, 0xcd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xef, 0x01};
  check_parse(AF_INET, "0.0.0.0", "\0\0\0\0");
  check_parse(AF_INET, "255.1.20.3", "\xff\1\x14\3");
  check_parse(AF_INET6, "::1", one);
  check_parse(AF_INET6, "0:0:0:0:0:0:0:1", one);
  check_parse(AF_INET6, "0000::0001", one);
  check_parse(AF_INET6, "::0.0.0.1", one);
  check_parse(AF_INET6, "1:2:3:4:5:6:102:304", full);
  check_parse(AF_INET6, "1:2:3:4:5:6:1.2.3.4", full);
  check_parse(AF_INET6, "aBcD::Ef01", ends);
  /* The interface is passed over, whatever it is. */
  check_parse(AF_INET6, "::1%", one);
  check_parse(AF_INET6, "::1%no such%interface", one);
}

static void other_texts_are_refused(void) {
  static const char* const ipv4[] = {"", ".", "1", "1.2.3", "1.2.3.", "1.2.3.4.", ".1.2.3.4", "1..2.3", "1.2.3.4.5",
    "256.0.0.0", "1.2.3.1000", "01.2.3.4", "1.2.3.00", "0x1.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4%lo", "1.2.3.-4",
    "1.2.3.+4", "::1", "\xff.2.3.4"};
  static const char* const ipv6[] = {"", ":", ":::", "1", "1.2.3.4", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7:8:9", "1:2:3:4::5:6:7:8", "::1:2:3:4:5:6:7:8", "1::2::3",
    "1:::2", "::12345", "::00001", "::g", "::1 ", "::1.2.3", "::1.2.3.4.5", "::1.2.3.4:5", "1.2.3.4::", "::01.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4", "[::1]", "::-1", "%", "%lo", "::1:%lo",
    "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb"};
  char bytes[16];
  size_t i;
  for (i = 0; i < sizeof(ipv4) / sizeof(ipv4[0]); i++) check_parse(AF_INET, ipv4[i], NULL);
  for (i = 0; i < sizeof(ipv6) / sizeof(ipv6[0]); i++) check_parse(AF_INET6, ipv6[i], NULL);
  CHECK(uv_inet_pton(AF_INET, NULL, bytes) == UV_EINVAL);
  CHECK(uv_inet_pton(AF_INET6, "::1", NULL) == UV_EINVAL);
  CHECK(uv_inet_pton(AF_UNIX, "::1", bytes) == UV_EAFNOSUPPORT);
  CHECK(uv_inet_pton(AF_UNIX, NULL, bytes) == UV_EINVAL); /* comes first */
}

static void an_ipv4_address_is_made_whole(void) {
  struct sockaddr_in address;
  memset(&address, 0xff, sizeof(address));
  CHECK(uv_ip4_addr("10.20.30.40", 8080, &address) == 0);
  CHECK(address.sin_family == AF_INET && address.sin_port == htons(8080));
  CHECK(address.sin_addr.s_addr == htonl(0x0a141e28));
  CHECK(is_filled(address.sin_zero, 0, sizeof(address.sin_zero)));
  /* Without an address, too; and of the port 16 bits count. */
  memset(&address, 0xff, sizeof(address));
  CHECK(uv_ip4_addr("10.20.30", 0x1ffff, &address) == UV_EINVAL);
  CHECK(address.sin_family == AF_INET && address.sin_port == 0xffff && address.sin_addr.s_addr == 0);
  CHECK(uv_ip4_addr("10.20.30.40", -1, &address) == 0 && address.sin_port == 0xffff);
  CHECK(uv_ip4_addr(NULL, 7, &address) == UV_EINVAL && address.sin_port == htons(7));
}

static void an_ipv6_address_is_made_whole(void) {
  struct sockaddr_in6 address;
  unsigned loopback = if_nametoindex("lo"); /* 0 where there is no network */
  memset(&address, 0xff, sizeof(address));
  CHECK(uv_ip6_addr("fe80::1%lo", 443, &address) == 0);
  CHECK(address.sin6_family == AF_INET6 && address.sin6_port == htons(443) && address.sin6_flowinfo == 0);
  CHECK(address.sin6_scope_id == loopback);
  CHECK(address.sin6_addr.s6_addr[0] == 0xfe && address.sin6_addr.s6_addr[15] == 1);
  /* Interfaces go by their names only, and what is none does not matter. */
  CHECK(uv_ip6_addr("fe80::1%1", 443, &address) == 0 && address.sin6_scope_id == if_nametoindex("1"));
  CHECK(uv_ip6_addr("fe80::1%", 443, &address) == 0 && address.sin6_scope_id == 0);
  CHECK(uv_ip6_addr("fe80::1%no-interface-has-such-a-name", 443, &address) == 0 && address.sin6_scope_id == 0);
  memset(&address, 0xff, sizeof(address));
  CHECK(uv_ip6_addr("fe80:1%lo", 443, &address) == UV_EINVAL);
  CHECK(address.sin6_family == AF_INET6 && address.sin6_port == htons(443) && address.sin6_scope_id == loopback);
  CHECK(is_filled(&address.sin6_addr, 0, sizeof(address.sin6_addr)));
  CHECK(uv_ip6_addr(NULL, 443, &address) == UV_EINVAL);
}

/* The bytes have this text, which needs exactly as much room as it has characters, and one more. */
static void check_text(int family, const char* bytes, const char* expected) {
  char text[64];
  size_t length = strlen(expected);
  memset(text, 0x55, sizeof(text));
  CHECK(uv_inet_ntop(family, bytes, text, 0) == UV_ENOSPC);
  CHECK(uv_inet_ntop(family, bytes, text, length) == UV_ENOSPC);
  CHECK(is_filled(text, 0x55, sizeof(text)));
  CHECK(uv_inet_ntop(family, bytes, text, length + 1) == 0);
  CHECK(strcmp(text, expected) == 0);
  CHECK(is_filled(text + length + 1, 0x55, sizeof(text) - length - 1));
  CHECK(uv_inet_ntop(family, bytes, text, SIZE_MAX) == 0);
}

static void addresses_have_texts(void) {
  char text[64];
  check_text(AF_INET, "\0\0\0\0", "0.0.0.0");
  check_text(AF_INET, "\xff\xff\xff\xff", "255.255.255.255");
  check_text(AF_INET6, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "::");
  check_text(AF_INET6, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", "::1");
  check_text(AF_INET6, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2", "::102");
  check_text(AF_INET6, "\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3\4", "::1.2.3.4");
  check_text(AF_INET6, "\0\0\0\0\0\0\0\0\0\0\xff\xff\1\2\3\4", "::ffff:1.2.3.4");
  check_text(AF_INET6, "\0\0\0\0\0\0\0\0\xff\xff\0\0\1\2\3\4", "::ffff:0:102:304");
  check_text(AF_INET6, "\0\1\0\0\0\0\0\2\0\0\0\0\0\0\0\3", "1:0:0:2::3"); /* the longest run */
  check_text(AF_INET6, "\0\1\0\0\0\0\0\2\0\3\0\0\0\0\0\4", "1::2:3:0:0:4"); /* or the first */
  check_text(AF_INET6, "\0\1\0\0\0\2\0\3\0\4\0\5\0\6\0\7", "1:0:2:3:4:5:6:7"); /* of two at least */
  check_text(AF_INET6, "\0\1\0\2\0\3\0\4\0\5\0\6\0\0\0\0", "1:2:3:4:5:6::");
  check_text(AF_INET6, "\xab\xcd\xab\xcd\xab\xcd\xab\xcd\xab\xcd\xab\xcd\xab\xcd\xab\xcd",
             "abcd:abcd:abcd:abcd:abcd:abcd:abcd:abcd");
  CHECK(uv_inet_ntop(AF_UNIX, "\0\0\0\0", text, sizeof(text)) == UV_EAFNOSUPPORT);
  CHECK(uv_inet_ntop(AF_INET, NULL, text, sizeof(text)) == UV_EINVAL);
}

static void a_name_is_of_the_address_alone(void) {
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
  struct sockaddr_un other;
  char name[64];
  CHECK(uv_ip4_addr("127.0.0.1", 80, &ipv4) == 0);
  CHECK(uv_ip6_addr("fe80::1%lo", 80, &ipv6) == 0);
  CHECK(uv_ip4_name(&ipv4, name, 10) == 0 && strcmp(name, "127.0.0.1") == 0);
  CHECK(uv_ip4_name(&ipv4, name, 9) == UV_ENOSPC);
  CHECK(uv_ip6_name(&ipv6, name, 8) == 0 && strcmp(name, "fe80::1") == 0);
  CHECK(uv_ip6_name(&ipv6, name, 7) == UV_ENOSPC);
  CHECK(uv_ip_name((struct sockaddr*) &ipv4, name, 10) == 0 && strcmp(name, "127.0.0.1") == 0);
  CHECK(uv_ip_name((struct sockaddr*) &ipv6, name, 8) == 0 && strcmp(name, "fe80::1") == 0);
  CHECK(uv_ip_name((struct sockaddr*) &ipv6, name, 7) == UV_ENOSPC);
  memset(&other, 0, sizeof(other));
  other.sun_family = AF_UNIX;
  CHECK(uv_ip_name((struct sockaddr*) &other, name, sizeof(name)) == UV_EAFNOSUPPORT);
  /* These do not look at the family. */
  ipv4.sin_family = AF_UNIX;
  ipv6.sin6_family = AF_UNIX;
  CHECK(uv_ip4_name(&ipv4, name, 10) == 0 && uv_ip6_name(&ipv6, name, 8) == 0);
}

static void interfaces_have_names(void) {
  char name[64];
  size_t size;
  unsigned loopback = if_nametoindex("lo");
  int (*functions[])(unsigned, char*, size_t*) = {uv_if_indextoname, uv_if_indextoiid};
  size_t i;
  for (i = 0; i < 2; i++) {
    size = sizeof(name);
    CHECK(functions[i](0, name, &size) == UV_ENXIO);
    CHECK(functions[i](UINT32_MAX, name, &size) == UV_ENXIO);
    CHECK(size == sizeof(name));
    CHECK(functions[i](1, NULL, &size) == UV_EINVAL);
    CHECK(functions[i](1, name, NULL) == UV_EINVAL);
    size = 0;
    CHECK(functions[i](1, name, &size) == UV_EINVAL);
    if (loopback == 0) continue;
    size = 2;
    memset(name, 0x55, sizeof(name));
    CHECK(functions[i](loopback, name, &size) == UV_ENOBUFS && size == 3);
    CHECK(is_filled(name, 0x55, sizeof(name)));
    CHECK(functions[i](loopback, name, &size) == 0 && size == 2);
    CHECK(strcmp(name, "lo") == 0 && is_filled(name + 3, 0x55, sizeof(name) - 3));
  }
}

int main(void) {
  texts_that_are_addresses_are_read();
  other_texts_are_refused();
  an_ipv4_address_is_made_whole();
  an_ipv6_address_is_made_whole();
  addresses_have_texts();
  a_name_is_of_the_address_alone();
  interfaces_have_names();
  puts("ok");
  return 0;
}
