// UDP for one media thread, over Node-API: sockets in an epoll set, kernel timestamps, sleeps to the microsecond.
// Everything that JavaScript hands over is checked here, on every call: no pointer into its memory outlives a call.
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <node_api.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace {

/** PACKET_SLOT_BYTES of packet-io.ts. */
constexpr size_t kSlotBytes = 1536;
/** Packets taken from one socket before the next one has its turn. */
constexpr unsigned kBurst = 16;
constexpr int kEvents = 256;
/** A socket is 16 bits of slot and 15 bits that change when the slot is used anew. */
constexpr size_t kMostSockets = 65536;
/** Sources that `thinDatagrams` takes. */
constexpr size_t kMostThinned = 64;
/** Descriptors among which a socket is searched. */
constexpr int kMostDescriptors = 65536;
constexpr uint32_t kGenerations = 0x7fff;
constexpr int64_t kNsPerMs = 1000000;
/** Two clocks read within this time are read at once. */
constexpr int64_t kClosePairNs = 10000;
/** A packet read now cannot have arrived much before all sockets were last found empty: bounds a step of the wall clock. */
constexpr int64_t kArrivalSlackNs = kNsPerMs;
/** The longest sleep in one call: a thread that is being ended is not kept longer. */
constexpr int64_t kLongestSleepNs = 100 * kNsPerMs;
constexpr napi_type_tag kTypeTag = {0x7b1f5f0e64c84a6bULL, 0x9d0c6a0d1f2c4e97ULL};

enum Counter { kReceived, kSent, kReceiveDropped, kSendDropped, kCounters };

struct Socket {
  int fd = -1;
  uint16_t port = 0;
  uint32_t generation = 0;
  /** Packets that the kernel had dropped on this socket when it last said so. */
  uint32_t overflow = 0;
};

struct PacketIo {
  int epoll = -1;
  /** CLOCK_MONOTONIC when the thread's performance.now() was 0. */
  int64_t origin = 0;
  int64_t drained_at = 0;
  /** Wall clock less CLOCK_MONOTONIC; 0 before the first comparison. */
  int64_t wall_ahead = 0;
  uint64_t counters[kCounters] = {};
  std::vector<Socket> sockets;
  std::vector<uint16_t> vacant;
  epoll_event events[kEvents];
  mmsghdr messages[kBurst];
  iovec parts[kBurst];
  sockaddr_in sources[kBurst];
  alignas(cmsghdr) uint8_t control[kBurst][CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(uint32_t))];

  ~PacketIo() {
    for (const Socket& socket : sockets) {
      if (socket.fd >= 0) ::close(socket.fd);
    }
    if (epoll >= 0) ::close(epoll);
  }

  Socket* find(int32_t id) {
    if (id < 0) return nullptr;
    const size_t slot = static_cast<uint32_t>(id) & 0xffff;
    if (slot >= sockets.size()) return nullptr;
    Socket& socket = sockets[slot];
    return socket.fd >= 0 && socket.generation == static_cast<uint32_t>(id) >> 16 ? &socket : nullptr;
  }
};

/** Where JavaScript's arrays are during one call, and how many packets all of them have room for. */
struct Batch {
  uint8_t* bytes;
  uint16_t* length;
  int32_t* socket;
  uint32_t* ipv4;
  uint16_t* port;
  double* arrived_at;
  size_t capacity;
};

int64_t nanoseconds(const timespec& time) { return time.tv_sec * INT64_C(1000000000) + time.tv_nsec; }

int64_t clock_now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return nanoseconds(time);
}

napi_value fail(napi_env env, const char* message) {
  napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", message);
  return nullptr;
}

napi_value number(napi_env env, int32_t value) {
  napi_value result = nullptr;
  napi_create_int32(env, value, &result);
  return result;
}

/** Whether `value` is a whole number from 0 to `most`; `napi_get_value_uint32` would take any, also NaN, for one. */
bool whole(napi_env env, napi_value value, uint32_t most, uint32_t* result) {
  double given = 0;
  if (napi_get_value_double(env, value, &given) != napi_ok || !(given >= 0 && given <= most)) return false;
  *result = static_cast<uint32_t>(given);
  return *result == given;
}

/** The instance that a method was called on and its arguments; null when there is none, an exception being thrown. */
template <size_t N>
PacketIo* receiver(napi_env env, napi_callback_info info, napi_value (&arguments)[N]) {
  size_t count = N;
  napi_value self = nullptr;
  bool ours = false;
  void* io = nullptr;
  if (napi_get_cb_info(env, info, &count, arguments, &self, nullptr) != napi_ok || count < N ||
      napi_check_object_type_tag(env, self, &kTypeTag, &ours) != napi_ok || !ours ||
      napi_unwrap(env, self, &io) != napi_ok) {
    fail(env, "not a PacketIo, or too few arguments");
    return nullptr;
  }
  return static_cast<PacketIo*>(io);
}

/** Detached arrays have length 0, so that they hold no packet. */
bool array_of(napi_env env, napi_value value, napi_typedarray_type wanted, void** data, size_t* length) {
  bool is_array = false;
  napi_typedarray_type type;
  return napi_is_typedarray(env, value, &is_array) == napi_ok && is_array &&
         napi_get_typedarray_info(env, value, &type, length, data, nullptr, nullptr) == napi_ok && type == wanted;
}

bool batch_of(napi_env env, const napi_value* values, bool with_arrivals, Batch* batch) {
  void* data[6] = {};
  size_t length[6] = {};
  static constexpr napi_typedarray_type kTypes[6] = {napi_uint8_array,  napi_uint16_array, napi_int32_array,
                                                     napi_uint32_array, napi_uint16_array, napi_float64_array};
  const size_t arrays = with_arrivals ? 6 : 5;
  for (size_t i = 0; i < arrays; i++) {
    if (!array_of(env, values[i], kTypes[i], &data[i], &length[i])) return false;
  }
  batch->bytes = static_cast<uint8_t*>(data[0]);
  batch->length = static_cast<uint16_t*>(data[1]);
  batch->socket = static_cast<int32_t*>(data[2]);
  batch->ipv4 = static_cast<uint32_t*>(data[3]);
  batch->port = static_cast<uint16_t*>(data[4]);
  batch->arrived_at = static_cast<double*>(data[5]);
  batch->capacity = length[0] / kSlotBytes;
  for (size_t i = 1; i < arrays; i++) {
    if (length[i] < batch->capacity) batch->capacity = length[i];
  }
  return true;
}

/** Expedited forwarding (RFC 3246), the class of telephony audio (RFC 4594 section 4.1), above the two bits of ECN. */
constexpr int kTypeOfService = 46 << 2;

int configure(int fd, uint32_t ipv4, uint16_t port, uint16_t* bound) {
  const int on = 1;
  // A system that refuses the class sends without it.
  setsockopt(fd, IPPROTO_IP, IP_TOS, &kTypeOfService, sizeof kTypeOfService);
  if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0) return errno;
  if (setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on) != 0) return errno;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(ipv4);
  address.sin_port = htons(port);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return errno;
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return errno;
  *bound = ntohs(address.sin_port);
  return 0;
}

/** open(ipv4, port): a socket, or the system's error number below 0. */
napi_value open_socket(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  PacketIo* io = receiver(env, info, arguments);
  if (io == nullptr) return nullptr;
  uint32_t ipv4 = 0;
  uint32_t port = 0;
  if (!whole(env, arguments[0], UINT32_MAX, &ipv4) || !whole(env, arguments[1], UINT16_MAX, &port)) {
    return fail(env, "open takes an IPv4 address and a port as numbers");
  }
  if (io->vacant.empty() && io->sockets.size() == kMostSockets) return number(env, -EMFILE);
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return number(env, -errno);
  uint16_t bound = 0;
  const int error = configure(fd, ipv4, static_cast<uint16_t>(port), &bound);
  if (error != 0) {
    ::close(fd);
    return number(env, -error);
  }
  const bool fresh = io->vacant.empty();
  const uint16_t slot = fresh ? static_cast<uint16_t>(io->sockets.size()) : io->vacant.back();
  const uint32_t generation = fresh ? 0 : (io->sockets[slot].generation + 1) & kGenerations;
  const uint32_t id = generation << 16 | slot;
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u32 = id;
  if (epoll_ctl(io->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
    const int refused = errno;
    ::close(fd);
    return number(env, -refused);
  }
  if (fresh) {
    io->sockets.emplace_back();
  } else {
    io->vacant.pop_back();
  }
  Socket& socket = io->sockets[slot];
  socket.fd = fd;
  socket.port = bound;
  socket.generation = generation;
  socket.overflow = 0;
  return number(env, static_cast<int32_t>(id));
}

/** port(socket): what it is bound to; 0 when there is no such socket. */
napi_value port_of(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  PacketIo* io = receiver(env, info, arguments);
  if (io == nullptr) return nullptr;
  uint32_t id = 0;
  if (!whole(env, arguments[0], INT32_MAX, &id)) return fail(env, "a socket is a whole number");
  const Socket* socket = io->find(static_cast<int32_t>(id));
  return number(env, socket == nullptr ? 0 : socket->port);
}

napi_value close_socket(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  PacketIo* io = receiver(env, info, arguments);
  if (io == nullptr) return nullptr;
  uint32_t id = 0;
  if (!whole(env, arguments[0], INT32_MAX, &id)) return fail(env, "a socket is a whole number");
  Socket* socket = io->find(static_cast<int32_t>(id));
  if (socket == nullptr) return nullptr;
  // Closing takes it out of the epoll set: nobody else holds a copy of the descriptor.
  ::close(socket->fd);
  socket->fd = -1;
  io->vacant.push_back(static_cast<uint16_t>(id & 0xffff));
  return nullptr;
}

/** wait(deadline): sleeps until then, for 100 ms at most. Packets do not end it: they are taken at the deadline. */
napi_value wait_until(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  PacketIo* io = receiver(env, info, arguments);
  if (io == nullptr) return nullptr;
  double deadline = 0;
  if (napi_get_value_double(env, arguments[0], &deadline) != napi_ok) return fail(env, "a deadline is a number of ms");
  const int64_t now = clock_now(CLOCK_MONOTONIC);
  const double left = deadline * kNsPerMs - static_cast<double>(now - io->origin);
  // Also NaN.
  if (!(left > 0)) return nullptr;
  const int64_t until = now + (left < kLongestSleepNs ? static_cast<int64_t>(left) : kLongestSleepNs);
  timespec time;
  time.tv_sec = until / INT64_C(1000000000);
  time.tv_nsec = until % INT64_C(1000000000);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
  return nullptr;
}

void prepare(PacketIo* io, const Batch& batch, size_t at, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    io->parts[i].iov_base = batch.bytes + (at + i) * kSlotBytes;
    io->parts[i].iov_len = kSlotBytes;
    msghdr& header = io->messages[i].msg_hdr;
    header.msg_name = &io->sources[i];
    header.msg_namelen = sizeof io->sources[i];
    header.msg_iov = &io->parts[i];
    header.msg_iovlen = 1;
    header.msg_control = io->control[i];
    header.msg_controllen = sizeof io->control[i];
    header.msg_flags = 0;
  }
}

/** The packet's arrival on the wall clock, 0 when the kernel did not say; what the socket dropped before is counted. */
int64_t read_control(PacketIo* io, Socket* socket, msghdr* header) {
  int64_t arrived = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(header); part != nullptr; part = CMSG_NXTHDR(header, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_TIMESTAMPNS) {
      timespec time;
      memcpy(&time, CMSG_DATA(part), sizeof time);
      arrived = nanoseconds(time);
    } else if (part->cmsg_type == SO_RXQ_OVFL) {
      uint32_t overflow;
      memcpy(&overflow, CMSG_DATA(part), sizeof overflow);
      io->counters[kReceiveDropped] += overflow - socket->overflow;
      socket->overflow = overflow;
    }
  }
  return arrived;
}

/**
 * Reads how far the wall clock is ahead of CLOCK_MONOTONIC: it is slewed and stepped. A reading that was held up between
 * the clocks would be wrong by that long: then the one before stands.
 */
void compare_clocks(PacketIo* io) {
  for (int attempt = 0; attempt < 4; attempt++) {
    const int64_t before = clock_now(CLOCK_MONOTONIC);
    const int64_t wall = clock_now(CLOCK_REALTIME);
    const int64_t after = clock_now(CLOCK_MONOTONIC);
    if (after - before > kClosePairNs && io->wall_ahead != 0) continue;
    io->wall_ahead = wall - before - (after - before) / 2;
    return;
  }
}

/** Takes up to `room` packets of one socket into slots from `at`; returns how many, `*emptied` whether that was all. */
unsigned take(PacketIo* io, int32_t id, const Batch& batch, size_t at, unsigned room, bool* emptied) {
  *emptied = true;
  Socket* socket = io->find(id);
  if (socket == nullptr) return 0;
  prepare(io, batch, at, room);
  int got;
  do {
    got = recvmmsg(socket->fd, io->messages, room, MSG_DONTWAIT, nullptr);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return 0;
  const int64_t read_at = clock_now(CLOCK_MONOTONIC);
  *emptied = static_cast<unsigned>(got) < room;
  unsigned kept = 0;
  for (int i = 0; i < got; i++) {
    msghdr& header = io->messages[i].msg_hdr;
    const int64_t wall = read_control(io, socket, &header);
    io->counters[kReceived]++;
    if ((header.msg_flags & MSG_TRUNC) != 0) {
      io->counters[kReceiveDropped]++;
      continue;
    }
    const size_t slot = at + kept++;
    const unsigned length = io->messages[i].msg_len;
    // One that was dropped left a hole.
    if (slot != at + i) memmove(batch.bytes + slot * kSlotBytes, io->parts[i].iov_base, length);
    int64_t arrived = wall == 0 ? read_at : wall - io->wall_ahead;
    if (arrived > read_at) arrived = read_at;
    if (arrived < io->drained_at - kArrivalSlackNs) arrived = io->drained_at;
    batch.length[slot] = static_cast<uint16_t>(length);
    batch.socket[slot] = id;
    batch.ipv4[slot] = ntohl(io->sources[i].sin_addr.s_addr);
    batch.port[slot] = ntohs(io->sources[i].sin_port);
    batch.arrived_at[slot] = static_cast<double>(arrived - io->origin) / kNsPerMs;
  }
  return kept;
}

/** poll(bytes, length, socket, ipv4, port, arrivedAt): how many packets were taken. */
napi_value poll_packets(napi_env env, napi_callback_info info) {
  napi_value arguments[6];
  PacketIo* io = receiver(env, info, arguments);
  if (io == nullptr) return nullptr;
  Batch batch;
  if (!batch_of(env, arguments, true, &batch)) return fail(env, "poll takes the arrays of a PacketBatch");
  size_t filled = 0;
  bool more = true;
  while (more && filled < batch.capacity) {
    // Before the sockets are looked at: what they are found without had not arrived by then.
    const int64_t now = clock_now(CLOCK_MONOTONIC);
    size_t left = batch.capacity - filled;
    const int wanted = left < kEvents ? static_cast<int>(left) : kEvents;
    const int ready = epoll_wait(io->epoll, io->events, wanted, 0);
    if (ready <= 0) {
      if (ready == 0) io->drained_at = now;
      break;
    }
    compare_clocks(io);
    more = ready == wanted;
    for (int i = 0; i < ready; i++) {
      // Every socket named has its share of the room: a flood at some does not keep the others waiting.
      const size_t share = left / static_cast<size_t>(ready - i);
      const unsigned room = share < kBurst ? static_cast<unsigned>(share) : kBurst;
      bool emptied;
      const unsigned taken = take(io, static_cast<int32_t>(io->events[i].data.u32), batch, filled, room, &emptied);
      filled += taken;
      left -= taken;
      more = more || !emptied;
    }
    if (!more) io->drained_at = now;
  }
  return number(env, static_cast<int32_t>(filled));
}

bool send_one(PacketIo* io, const Batch& batch, size_t i) {
  // Each value is read once: the memory may be shared with other threads.
  const size_t length = batch.length[i];
  const uint16_t port = batch.port[i];
  const Socket* socket = io->find(batch.socket[i]);
  if (socket == nullptr || length > kSlotBytes || port == 0) return false;
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(batch.ipv4[i]);
  to.sin_port = htons(port);
  ssize_t sent;
  do {
    sent = sendto(socket->fd, batch.bytes + i * kSlotBytes, length, MSG_DONTWAIT | MSG_NOSIGNAL,
                  reinterpret_cast<sockaddr*>(&to), sizeof to);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(length);
}

/** send(bytes, length, socket, ipv4, port, count). Each packet has a socket of its own, so there is nothing to group. */
napi_value send_packets(napi_env env, napi_callback_info info) {
  napi_value arguments[6];
  PacketIo* io = receiver(env, info, arguments);
  if (io == nullptr) return nullptr;
  Batch batch;
  uint32_t count = 0;
  if (!batch_of(env, arguments, false, &batch) || !whole(env, arguments[5], UINT32_MAX, &count)) {
    return fail(env, "send takes the arrays of a PacketBatch and a count");
  }
  if (count > batch.capacity) {
    napi_throw_range_error(env, "ERR_OUT_OF_RANGE", "more packets than the batch has room for");
    return nullptr;
  }
  for (size_t i = 0; i < count; i++) io->counters[send_one(io, batch, i) ? kSent : kSendDropped]++;
  return nullptr;
}

/** counters(into): received, sent, receive dropped, send dropped. */
napi_value read_counters(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  PacketIo* io = receiver(env, info, arguments);
  if (io == nullptr) return nullptr;
  void* data = nullptr;
  size_t length = 0;
  if (!array_of(env, arguments[0], napi_float64_array, &data, &length) || length < kCounters) {
    return fail(env, "counters takes a Float64Array of 4");
  }
  for (size_t i = 0; i < kCounters; i++) static_cast<double*>(data)[i] = static_cast<double>(io->counters[i]);
  return nullptr;
}

/** Also called for what is left when the thread's environment ends: no descriptor outlives its thread. */
void finalize(napi_env, void* io, void*) { delete static_cast<PacketIo*>(io); }

/** new PacketIo(now): `now` is performance.now() of the thread, read just before. */
napi_value construct(napi_env env, napi_callback_info info) {
  const int64_t monotonic = clock_now(CLOCK_MONOTONIC);
  size_t count = 1;
  napi_value argument = nullptr;
  napi_value self = nullptr;
  napi_value target = nullptr;
  double now = 0;
  if (napi_get_cb_info(env, info, &count, &argument, &self, nullptr) != napi_ok ||
      napi_get_new_target(env, info, &target) != napi_ok || target == nullptr || count < 1 ||
      napi_get_value_double(env, argument, &now) != napi_ok || !std::isfinite(now) || std::fabs(now) > 1e12) {
    return fail(env, "new PacketIo takes the thread's time in ms");
  }
  PacketIo* io = new (std::nothrow) PacketIo();
  if (io == nullptr) return fail(env, "out of memory");
  io->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (io->epoll < 0) {
    const int error = errno;
    delete io;
    napi_throw_error(env, "ERR_SYSTEM_ERROR", strerror(error));
    return nullptr;
  }
  io->origin = monotonic - static_cast<int64_t>(now * kNsPerMs);
  io->drained_at = monotonic;
  if (napi_wrap(env, self, io, finalize, nullptr, nullptr) != napi_ok) {
    delete io;
    return fail(env, "cannot be wrapped");
  }
  napi_type_tag_object(env, self, &kTypeTag);
  // Otherwise the kernel adds up to 50 us to each sleep of this thread.
  prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
  return self;
}

/**
 * realtime(): puts the calling thread before all that is not real-time, also before other sessions and control groups, which
 * a nice value is not; 0, or the system's error number. Threads that it starts are not.
 */
napi_value make_realtime(napi_env env, napi_callback_info) {
  sched_param parameter = {};
  parameter.sched_priority = sched_get_priority_min(SCHED_RR);
  const int result = sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &parameter);
  return number(env, result == 0 ? 0 : errno);
}

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

NAPI_MODULE_INIT() {
  const napi_property_descriptor methods[] = {
      {"open", nullptr, open_socket, nullptr, nullptr, nullptr, napi_default_method, nullptr},
      {"port", nullptr, port_of, nullptr, nullptr, nullptr, napi_default_method, nullptr},
      {"close", nullptr, close_socket, nullptr, nullptr, nullptr, napi_default_method, nullptr},
      {"wait", nullptr, wait_until, nullptr, nullptr, nullptr, napi_default_method, nullptr},
      {"poll", nullptr, poll_packets, nullptr, nullptr, nullptr, napi_default_method, nullptr},
      {"send", nullptr, send_packets, nullptr, nullptr, nullptr, napi_default_method, nullptr},
      {"counters", nullptr, read_counters, nullptr, nullptr, nullptr, napi_default_method, nullptr},
  };
  napi_value constructor = nullptr;
  napi_value realtime = nullptr;
  napi_value thin = nullptr;
  napi_value mark = nullptr;
  if (napi_define_class(env, "PacketIo", NAPI_AUTO_LENGTH, construct, nullptr, sizeof methods / sizeof *methods, methods,
                        &constructor) != napi_ok ||
      napi_set_named_property(env, exports, "PacketIo", constructor) != napi_ok ||
      napi_create_function(env, "realtime", NAPI_AUTO_LENGTH, make_realtime, nullptr, &realtime) != napi_ok ||
      napi_set_named_property(env, exports, "realtime", realtime) != napi_ok ||
      napi_create_function(env, "thinDatagrams", NAPI_AUTO_LENGTH, thin_datagrams, nullptr, &thin) != napi_ok ||
      napi_set_named_property(env, exports, "thinDatagrams", thin) != napi_ok ||
      napi_create_function(env, "markDatagrams", NAPI_AUTO_LENGTH, mark_datagrams, nullptr, &mark) != napi_ok ||
      napi_set_named_property(env, exports, "markDatagrams", mark) != napi_ok) {
    return nullptr;
  }
  return exports;
}
