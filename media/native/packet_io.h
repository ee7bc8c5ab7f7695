// UDP of one media thread for C++: what PacketIo (packet_io.cc) offers to MediaPath's turns (turns.cc).
#ifndef PARLEY_MEDIA_PACKET_IO_H
#define PARLEY_MEDIA_PACKET_IO_H

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "batch.h"

namespace parley {

/** Packets taken from one socket before the next one has its turn. */
constexpr unsigned kBurst = 16;
constexpr int kReadyAtOnce = 256;
constexpr int64_t kNsPerMs = 1000000;

enum Counter { kReceived, kSent, kReceiveDropped, kSendDropped, kCounters };

struct Socket {
  int fd = -1;
  uint16_t port = 0;
  uint32_t generation = 0;
  /** Packets that the kernel had dropped on this socket when it last said so. */
  uint32_t overflow = 0;
  /** It may hold packets: the last time it had more than there was room for. */
  bool is_pending = false;
};

struct PacketIo {
  static constexpr int64_t kHeldBytes = 65536;
  int epoll = -1;
  /** CLOCK_MONOTONIC when the thread's performance.now() was 0. */
  int64_t origin = 0;
  int64_t drained_at = 0;
  /** Wall clock less CLOCK_MONOTONIC; 0 before the first comparison. */
  int64_t wall_ahead = 0;
  uint64_t counters[kCounters] = {};
  std::vector<Socket> sockets;
  std::vector<uint16_t> vacant;
  /** Sockets that may hold packets, oldest first, beside those that epoll reports. */
  std::vector<int32_t> pending;
  std::vector<int32_t> found;
  epoll_event events[kReadyAtOnce];
  mmsghdr messages[kBurst];
  iovec parts[kBurst];
  sockaddr_in sources[kBurst];
  alignas(cmsghdr) uint8_t control[kBurst][CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(uint32_t))];

  ~PacketIo();

  Socket* find(int32_t id) {
    if (id < 0) return nullptr;
    const size_t slot = static_cast<uint32_t>(id) & 0xffff;
    if (slot >= sockets.size()) return nullptr;
    Socket& socket = sockets[slot];
    return socket.fd >= 0 && socket.generation == static_cast<uint32_t>(id) >> 16 ? &socket : nullptr;
  }

  /** The thread's performance.now(). */
  double now() const;
  /** Sleeps until `deadline` of `now()`, for 100 ms at most. */
  void sleep_until(double deadline) const;
  /** Sends one packet or counts it as dropped. */
  void send(int32_t socket, uint32_t ipv4, uint16_t port, const uint8_t* bytes, size_t length);
  /**
   * Collects the sockets that may hold packets in `found`; false: there may be more of them. `*looked_at`: when, for `note_drained`.
   */
  bool find_ready(int64_t* looked_at);
  /** Takes up to `room` packets of one socket into slots from `at`; returns how many, `*emptied` whether that was all. */
  unsigned take(int32_t id, const Batch& batch, size_t at, unsigned room, bool* emptied);
  /** Remembers a socket that may hold more. */
  void note_taken(int32_t id, bool emptied);
  /** All sockets were empty after `looked_at`. */
  void note_drained(int64_t looked_at) { drained_at = looked_at; }
};

/** The instance in a value of JavaScript; null: it holds none. */
PacketIo* packet_io_of(napi_env env, napi_value value);

}  // namespace parley

#endif
