// What the UDP sockets of SIP, which Node opened, ask of the kernel: thinning floods and the class of what they send.
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

#include "addon.h"

namespace parley {
namespace {

/** Sources that `thinDatagrams` takes. */
constexpr size_t kMostThinned = 64;
/** Descriptors among which a socket is searched. */
constexpr int kMostDescriptors = 65536;

sock_filter step(uint16_t code, uint32_t k, uint8_t if_true = 0, uint8_t if_false = 0) { return {code, if_true, if_false, k}; }

/** Keeps one datagram in `one_in` of each of these IPv4 sources, and all of the others; a program of classic BPF. */
std::vector<sock_filter> thinning_program(const uint32_t* sources, size_t count, uint32_t one_in) {
  const uint8_t n = static_cast<uint8_t>(count);
  const uint32_t network = static_cast<uint32_t>(SKF_NET_OFF);
  const uint32_t random = static_cast<uint32_t>(SKF_AD_OFF + SKF_AD_RANDOM);
  std::vector<sock_filter> program = {
      step(BPF_LD | BPF_B | BPF_ABS, network),
      step(BPF_ALU | BPF_AND | BPF_K, 0xf0),
      // Not IPv4: kept.
      step(BPF_JMP | BPF_JEQ | BPF_K, 0x40, 0, static_cast<uint8_t>(n + 1)),
      // The source address of the IP header.
      step(BPF_LD | BPF_W | BPF_ABS, network + 12),
  };
  for (uint8_t i = 0; i < n; i++) {
    program.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, sources[i], static_cast<uint8_t>(n - i), 0));
  }
  program.push_back(step(BPF_RET | BPF_K, UINT32_MAX));
  program.push_back(step(BPF_LD | BPF_W | BPF_ABS, random));
  program.push_back(step(BPF_ALU | BPF_AND | BPF_K, one_in - 1));
  program.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1));
  program.push_back(step(BPF_RET | BPF_K, UINT32_MAX));
  program.push_back(step(BPF_RET | BPF_K, 0));
  return program;
}

/** The descriptor of this process's UDP socket that is bound to the port, and to the address if that is IPv4; -1: none. */
int bound_datagrams(uint32_t ipv4, bool is_ipv6, uint16_t port) {
  for (int fd = 0; fd < kMostDescriptors; fd++) {
    sockaddr_storage address = {};
    socklen_t size = sizeof address;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    int type = 0;
    size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_DGRAM) continue;
    if (is_ipv6 && address.ss_family == AF_INET6) {
      if (ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port) == port) return fd;
    } else if (!is_ipv6 && address.ss_family == AF_INET) {
      const sockaddr_in* found = reinterpret_cast<sockaddr_in*>(&address);
      if (ntohs(found->sin_port) == port && ntohl(found->sin_addr.s_addr) == ipv4) return fd;
    }
  }
  return -1;
}

/**
 * thinDatagrams(ipv4, port, sources, oneIn): of these IPv4 sources the kernel delivers one datagram in `oneIn`, a power of two, to the
 * UDP socket of this process that is bound to `ipv4` (null: to an IPv6 address) and `port`, and drops the rest; no source: it
 * delivers all. 0, or the system's error number.
 */
napi_value thin_datagrams(napi_env env, napi_callback_info info) {
  size_t given = 4;
  napi_value arguments[4];
  napi_valuetype address_type = napi_undefined;
  uint32_t ipv4 = 0;
  uint32_t port = 0;
  uint32_t one_in = 0;
  void* data = nullptr;
  size_t count = 0;
  if (napi_get_cb_info(env, info, &given, arguments, nullptr, nullptr) != napi_ok || given < 4 ||
      napi_typeof(env, arguments[0], &address_type) != napi_ok ||
      (address_type != napi_null && !whole(env, arguments[0], UINT32_MAX, &ipv4)) ||
      !whole(env, arguments[1], UINT16_MAX, &port) ||
      !array_of(env, arguments[2], napi_uint32_array, &data, &count) || count > kMostThinned ||
      !whole(env, arguments[3], 1 << 16, &one_in) || one_in == 0 || (one_in & (one_in - 1)) != 0) {
    return fail(env, "thinDatagrams takes an address, a port, a Uint32Array of up to 64 addresses and a power of two");
  }
  const int fd = bound_datagrams(ipv4, address_type == napi_null, static_cast<uint16_t>(port));
  if (fd < 0) return number(env, EBADF);
  if (count == 0) {
    const int unused = 0;
    const int detached = setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
    return number(env, detached == 0 || errno == ENOENT ? 0 : errno);
  }
  std::vector<sock_filter> program = thinning_program(static_cast<const uint32_t*>(data), count, one_in);
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return number(env, setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0 ? 0 : errno);
}

/**
 * markDatagrams(ipv4, port, typeOfService): the traffic class of what the UDP socket of this process sends that is bound to `ipv4` (null: to an
 * IPv6 address) and `port`. 0, or the system's error number.
 */
napi_value mark_datagrams(napi_env env, napi_callback_info info) {
  size_t given = 3;
  napi_value arguments[3];
  napi_valuetype address_type = napi_undefined;
  uint32_t ipv4 = 0;
  uint32_t port = 0;
  uint32_t type_of_service = 0;
  if (napi_get_cb_info(env, info, &given, arguments, nullptr, nullptr) != napi_ok || given < 3 ||
      napi_typeof(env, arguments[0], &address_type) != napi_ok ||
      (address_type != napi_null && !whole(env, arguments[0], UINT32_MAX, &ipv4)) ||
      !whole(env, arguments[1], UINT16_MAX, &port) || !whole(env, arguments[2], UINT8_MAX, &type_of_service)) {
    return fail(env, "markDatagrams takes an address, a port and a traffic class");
  }
  const bool is_ipv6 = address_type == napi_null;
  const int fd = bound_datagrams(ipv4, is_ipv6, static_cast<uint16_t>(port));
  if (fd < 0) return number(env, EBADF);
  const int value = static_cast<int>(type_of_service);
  if (is_ipv6 && setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof value) != 0) return number(env, errno);
  // A socket of IPv6 sends IPv4 too.
  return number(env, setsockopt(fd, IPPROTO_IP, IP_TOS, &value, sizeof value) == 0 ? 0 : errno);
}

}  // namespace

bool add_datagrams(napi_env env, napi_value exports) {
  return add_function(env, exports, "thinDatagrams", thin_datagrams) &&
         add_function(env, exports, "markDatagrams", mark_datagrams);
}

}  // namespace parley
