/* Interfaces, beside the C library's list. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>

static int running(const struct ifaddrs* entry) {
  return entry->ifa_addr != NULL && (entry->ifa_flags & IFF_UP) && (entry->ifa_flags & IFF_RUNNING);
}

static void check_physical(const struct ifaddrs* list, const uv_interface_address_t* address) {
  char expected[6] = {0};
  for (; list != NULL; list = list->ifa_next)
    if (running(list) && list->ifa_addr->sa_family == AF_PACKET && strcmp(list->ifa_name, address->name) == 0)
      memcpy(expected, ((struct sockaddr_ll*) list->ifa_addr)->sll_addr, 6);
  CHECK(memcmp(address->phys_addr, expected, 6) == 0);
}

static void check_address(const struct ifaddrs* entry, const uv_interface_address_t* address) {
  CHECK(strcmp(address->name, entry->ifa_name) == 0);
  CHECK(!address->is_internal == !(entry->ifa_flags & IFF_LOOPBACK));
  CHECK(address->address.address4.sin_family == entry->ifa_addr->sa_family);
  if (entry->ifa_addr->sa_family == AF_INET) {
    CHECK(memcmp(&address->address, entry->ifa_addr, sizeof(struct sockaddr_in)) == 0);
    CHECK(memcmp(&address->netmask, entry->ifa_netmask, sizeof(struct sockaddr_in)) == 0);
  } else {
    CHECK(memcmp(&address->address, entry->ifa_addr, sizeof(struct sockaddr_in6)) == 0);
    CHECK(memcmp(&address->netmask, entry->ifa_netmask, sizeof(struct sockaddr_in6)) == 0);
  }
}

int main(void) {
  uv_interface_address_t* addresses = (uv_interface_address_t*) &addresses;
  struct ifaddrs *list, *entry;
  int count = -1, nth = 0;
  CHECK(uv_interface_addresses(NULL, &count) == UV_EINVAL);
  CHECK(uv_interface_addresses(&addresses, NULL) == UV_EINVAL);
  CHECK(uv_interface_addresses(&addresses, &count) == 0);
  CHECK(count >= 0 && (addresses == NULL) == (count == 0));
  CHECK(getifaddrs(&list) == 0);
  for (entry = list; entry != NULL; entry = entry->ifa_next) {
    if (!running(entry)) continue;
    if (entry->ifa_addr->sa_family != AF_INET && entry->ifa_addr->sa_family != AF_INET6) continue;
    CHECK(nth < count);
    check_address(entry, &addresses[nth]);
    check_physical(list, &addresses[nth]);
    nth++;
  }
  CHECK(nth == count);
  freeifaddrs(list);
  uv_free_interface_addresses(addresses, count);
  uv_free_interface_addresses(NULL, 0);
  puts("ok");
  return 0;
}
