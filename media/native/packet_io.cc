// UDP for one media thread, over Node-API: sockets in an epoll set, kernel timestamps, sleeps to the microsecond.
// Everything that JavaScript hands over is checked here, on every call: no pointer into its memory outlives a call.
#include "packet_io.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cmath>
#include <cstring>
#include <new>

namespace parley {
namespace {

/** A socket is 16 bits of slot and 15 bits that change when the slot is used anew. */
constexpr size_t kMostSockets = 65536;
constexpr uint32_t kGenerations = 0x7fff;
/** Two clocks read within this time are read at once. */
constexpr int64_t kClosePairNs = 10000;
/** A packet read now cannot have arrived much before all sockets were last found empty: bounds a step of the wall clock. */
constexpr int64_t kArrivalSlackNs = kNsPerMs;
/** The longest sleep in one call: a thread that is being ended is not kept longer. */
constexpr int64_t kLongestSleepNs = 100 * kNsPerMs;
constexpr napi_type_tag kTypeTag = {0x7b1f5f0e64c84a6bULL, 0x9d0c6a0d1f2c4e97ULL};

int64_t nanoseconds(const timespec& time) { return time.tv_sec * INT64_C(1000000000) + time.tv_nsec; }

int64_t clock_now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return nanoseconds(time);
}

/**
 * Room for 1.5 s of G.711: the kernel counts up to 1280 bytes for a packet and doubles what is asked for. The readers of heard audio
 * lose what is older, and a thread that was late would take all the longer to be in time again.
 */
constexpr int kReceiveBytes = 48 * 1024;

/** Expedited forwarding (RFC 3246), the class of telephony audio (RFC 4594 section 4.1), above the two bits of ECN. */
constexpr int kTypeOfService = 46 << 2;

int configure(int fd, uint32_t ipv4, uint16_t port, uint16_t* bound) {
  const int on = 1;
  // A system that refuses the class sends without it.
  setsockopt(fd, IPPROTO_IP, IP_TOS, &kTypeOfService, sizeof kTypeOfService);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kReceiveBytes, sizeof kReceiveBytes);
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
  PacketIo* io = receiver<PacketIo>(env, info, kTypeTag, arguments);
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
  // Edge-triggered: a socket that was emptied is not looked at again before the next packet.
  event.events = EPOLLIN | EPOLLET;
  event.data.u32 = id;
  if (epoll_ctl(io->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
    const int refused = errno;
    ::close(fd);
    return number(env, -refused);
  }
  if (fresh) {
    io->sockets.emplace_back();
    io->pending.reserve(io->sockets.capacity());
    io->found.reserve(io->sockets.capacity());
  } else {
    io->vacant.pop_back();
  }
  Socket& socket = io->sockets[slot];
  socket.fd = fd;
  socket.port = bound;
  socket.generation = generation;
  socket.overflow = 0;
  socket.is_pending = false;
  return number(env, static_cast<int32_t>(id));
}

/** port(socket): what it is bound to; 0 when there is no such socket. */
napi_value port_of(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  PacketIo* io = receiver<PacketIo>(env, info, kTypeTag, arguments);
  if (io == nullptr) return nullptr;
  uint32_t id = 0;
  if (!whole(env, arguments[0], INT32_MAX, &id)) return fail(env, "a socket is a whole number");
  const Socket* socket = io->find(static_cast<int32_t>(id));
  return number(env, socket == nullptr ? 0 : socket->port);
}

napi_value close_socket(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  PacketIo* io = receiver<PacketIo>(env, info, kTypeTag, arguments);
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
  PacketIo* io = receiver<PacketIo>(env, info, kTypeTag, arguments);
  if (io == nullptr) return nullptr;
  double deadline = 0;
  if (napi_get_value_double(env, arguments[0], &deadline) != napi_ok) return fail(env, "a deadline is a number of ms");
  io->sleep_until(deadline);
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

}  // namespace

PacketIo::~PacketIo() {
  for (const Socket& socket : sockets) {
    if (socket.fd >= 0) ::close(socket.fd);
  }
  if (epoll >= 0) ::close(epoll);
}

double PacketIo::now() const { return static_cast<double>(clock_now(CLOCK_MONOTONIC) - origin) / kNsPerMs; }

void PacketIo::sleep_until(double deadline) const {
  const int64_t now = clock_now(CLOCK_MONOTONIC);
  const double left = deadline * kNsPerMs - static_cast<double>(now - origin);
  // Also NaN.
  if (!(left > 0)) return;
  const int64_t until = now + (left < kLongestSleepNs ? static_cast<int64_t>(left) : kLongestSleepNs);
  timespec time;
  time.tv_sec = until / INT64_C(1000000000);
  time.tv_nsec = until % INT64_C(1000000000);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

void PacketIo::send(int32_t id, uint32_t ipv4, uint16_t port, const uint8_t* bytes, size_t length) {
  const Socket* socket = find(id);
  if (socket == nullptr || length > kSlotBytes || port == 0) {
    counters[kSendDropped]++;
    return;
  }
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(ipv4);
  to.sin_port = htons(port);
  ssize_t sent;
  do {
    sent = sendto(socket->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&to), sizeof to);
  } while (sent < 0 && errno == EINTR);
  counters[sent == static_cast<ssize_t>(length) ? kSent : kSendDropped]++;
}

unsigned PacketIo::take(int32_t id, const Batch& batch, size_t at, unsigned room, bool* emptied) {
  *emptied = true;
  Socket* socket = find(id);
  if (socket == nullptr) return 0;
  prepare(this, batch, at, room);
  int got;
  do {
    got = recvmmsg(socket->fd, messages, room, MSG_DONTWAIT, nullptr);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return 0;
  const int64_t read_at = clock_now(CLOCK_MONOTONIC);
  *emptied = static_cast<unsigned>(got) < room;
  unsigned kept = 0;
  for (int i = 0; i < got; i++) {
    msghdr& header = messages[i].msg_hdr;
    const int64_t wall = read_control(this, socket, &header);
    counters[kReceived]++;
    if ((header.msg_flags & MSG_TRUNC) != 0) {
      counters[kReceiveDropped]++;
      continue;
    }
    const size_t slot = at + kept++;
    const unsigned length = messages[i].msg_len;
    // One that was dropped left a hole.
    if (slot != at + i) memmove(batch.bytes + slot * kSlotBytes, parts[i].iov_base, length);
    int64_t arrived = wall == 0 ? read_at : wall - wall_ahead;
    if (arrived > read_at) arrived = read_at;
    if (arrived < drained_at - kArrivalSlackNs) arrived = drained_at;
    batch.length[slot] = static_cast<uint16_t>(length);
    batch.socket[slot] = id;
    batch.ipv4[slot] = ntohl(sources[i].sin_addr.s_addr);
    batch.port[slot] = ntohs(sources[i].sin_port);
    batch.arrived_at[slot] = static_cast<double>(arrived - origin) / kNsPerMs;
  }
  return kept;
}

bool PacketIo::find_ready(int64_t* looked_at) {
  // Before the sockets are looked at: what they are found without had not arrived by then.
  *looked_at = clock_now(CLOCK_MONOTONIC);
  found.clear();
  found.swap(pending);
  const int ready = epoll_wait(epoll, events, kReadyAtOnce, 0);
  for (int i = 0; i < ready; i++) {
    const int32_t id = static_cast<int32_t>(events[i].data.u32);
    const Socket* socket = find(id);
    if (socket != nullptr && !socket->is_pending) found.push_back(id);
  }
  if (!found.empty()) compare_clocks(this);
  return ready < kReadyAtOnce;
}

void PacketIo::note_taken(int32_t id, bool emptied) {
  Socket* socket = find(id);
  if (socket == nullptr) return;
  socket->is_pending = !emptied;
  if (!emptied) pending.push_back(id);
}

PacketIo* packet_io_of(napi_env env, napi_value value) {
  bool ours = false;
  void* instance = nullptr;
  return napi_check_object_type_tag(env, value, &kTypeTag, &ours) == napi_ok && ours &&
                 napi_unwrap(env, value, &instance) == napi_ok
             ? static_cast<PacketIo*>(instance)
             : nullptr;
}

namespace {

/** Takes packets of the sockets found into slots from `filled` on; those that may hold more are pending. Returns how many slots are filled. */
size_t take_found(PacketIo* io, const Batch& batch, size_t filled) {
  const size_t count = io->found.size();
  for (size_t i = 0; i < count; i++) {
    // Every socket has its share of the room: a flood at some does not keep the others waiting.
    const size_t left = batch.capacity - filled;
    const size_t fair = left / (count - i);
    const size_t share = fair == 0 && left > 0 ? 1 : fair;
    const unsigned room = share < kBurst ? static_cast<unsigned>(share) : kBurst;
    bool emptied = false;
    if (room > 0) filled += io->take(io->found[i], batch, filled, room, &emptied);
    io->note_taken(io->found[i], emptied);
  }
  return filled;
}

/** poll(bytes, length, socket, ipv4, port, arrivedAt): how many packets were taken. */
napi_value poll_packets(napi_env env, napi_callback_info info) {
  napi_value arguments[6];
  PacketIo* io = receiver<PacketIo>(env, info, kTypeTag, arguments);
  if (io == nullptr) return nullptr;
  Batch batch;
  if (!batch_of(env, arguments, true, &batch)) return fail(env, "poll takes the arrays of a PacketBatch");
  size_t filled = 0;
  while (filled < batch.capacity) {
    int64_t looked_at = 0;
    const bool is_all = io->find_ready(&looked_at);
    if (!io->found.empty()) filled = take_found(io, batch, filled);
    if (!is_all || !io->pending.empty()) continue;
    io->note_drained(looked_at);
    break;
  }
  return number(env, static_cast<int32_t>(filled));
}

/** send(bytes, length, socket, ipv4, port, count). Each packet has a socket of its own, so there is nothing to group. */
napi_value send_packets(napi_env env, napi_callback_info info) {
  napi_value arguments[6];
  PacketIo* io = receiver<PacketIo>(env, info, kTypeTag, arguments);
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
  for (size_t i = 0; i < count; i++) {
    io->send(batch.socket[i], batch.ipv4[i], batch.port[i], batch.bytes + i * kSlotBytes, batch.length[i]);
  }
  return nullptr;
}

/** counters(into): received, sent, receive dropped, send dropped. */
napi_value read_counters(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  PacketIo* io = receiver<PacketIo>(env, info, kTypeTag, arguments);
  if (io == nullptr) return nullptr;
  void* data = nullptr;
  size_t length = 0;
  if (!array_of(env, arguments[0], napi_float64_array, &data, &length) || length < kCounters) {
    return fail(env, "counters takes a Float64Array of 4");
  }
  for (size_t i = 0; i < kCounters; i++) static_cast<double*>(data)[i] = static_cast<double>(io->counters[i]);
  return nullptr;
}

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
  if (!wrap(env, self, kTypeTag, io)) return nullptr;
  // Otherwise the kernel adds up to 50 us to each sleep of this thread.
  prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
  return self;
}

/**
 * realtime(on): puts the calling thread before all that is not real-time, also before other sessions and control groups, which
 * a nice value is not, or back among the others; 0, or the system's error number. Threads that it starts are not real-time.
 */
napi_value set_realtime(napi_env env, napi_callback_info info) {
  napi_value argument;
  size_t count = 1;
  bool on = false;
  if (napi_get_cb_info(env, info, &count, &argument, nullptr, nullptr) != napi_ok || count < 1 ||
      napi_get_value_bool(env, argument, &on) != napi_ok) {
    return fail(env, "realtime takes a boolean");
  }
  const int policy = on ? SCHED_RR : SCHED_OTHER;
  sched_param parameter = {};
  parameter.sched_priority = sched_get_priority_min(policy);
  const int result = sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &parameter);
  return number(env, result == 0 ? 0 : errno);
}

}  // namespace

bool add_packet_io(napi_env env, napi_value exports) {
  const napi_property_descriptor methods[] = {
      method("open", open_socket), method("port", port_of),      method("close", close_socket),
      method("wait", wait_until),  method("poll", poll_packets), method("send", send_packets),
      method("counters", read_counters),
  };
  return add_class(env, exports, "PacketIo", construct, methods) && add_function(env, exports, "realtime", set_realtime);
}

}  // namespace parley
