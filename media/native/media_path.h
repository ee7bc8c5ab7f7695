// The calls of one media thread and what each wake does with them (media_path.cc, turns.cc).
#ifndef PARLEY_MEDIA_MEDIA_PATH_H
#define PARLEY_MEDIA_MEDIA_PATH_H

#include "addon.h"
#include "batch.h"
#include "stream.h"

namespace parley {

/** Calls ahead whose memory is loaded: in three steps, because each reads what the one before loads. */
constexpr uint32_t kFurthestAhead = 8;
constexpr uint32_t kFarAhead = 4;
constexpr uint32_t kAhead = 2;
/** SEND_SLOTS of send-slots.ts. */
constexpr int64_t kSendSlots = 8;

enum Held { kPage, kRings, kRecording, kOpens, kSeals, kHeld };

struct Entry {
  Call call;
  int32_t id = 0;
  /** Where RTP and RTCP arrive. */
  int32_t sockets[2] = {};
  /** The poll in which a packet of the call was left: later ones of that poll are left as well. */
  uint64_t left_in = 0;
  /** Its place in the grid of turns (SendSlot), in wakes; a period of 0: none. */
  int64_t period_wakes = 0;
  int64_t next_wake = 0;
  napi_ref held[kHeld] = {};
};

/** A call whose slot is at a wake. */
struct Swept {
  int32_t id;
  int32_t missed;
  double slot_ms;
};

/** What is left of a wake, for which a turn comes back. */
enum Phase { kAsleep, kSending, kReceiving, kAdvancing };

struct MediaPath {
  static constexpr int64_t kHeldBytes = 65536;
  napi_env env = nullptr;
  Entry** entries = nullptr;
  int32_t capacity = 0;
  /** By the lowest bits of a socket: the id of the call plus one. */
  int32_t* by_socket = nullptr;
  uint64_t polls = 0;
  double coefficients[kDtmfTones] = {};
  /** Ids of the calls by their slots; each has room for all calls. */
  int32_t* slots[kSendSlots] = {};
  int32_t slot_counts[kSendSlots] = {};
  /** With room for all calls. */
  Swept* swept = nullptr;
  int32_t swept_count = 0;
  /** Of `swept`, what the phase has done. */
  int32_t cursor = 0;
  Phase phase = kAsleep;
  int64_t last_swept = 0;
  /** Whether a socket had more packets at the last wake than a call sends in it. */
  bool is_flooded = false;

  ~MediaPath();
  Entry* find(int32_t id) const { return id >= 0 && id < capacity ? entries[id] : nullptr; }
  Entry* of_socket(int32_t socket) const;
  /** The same without a look at the call, which may be another's or null. */
  const Entry* likely_of_socket(int32_t socket) const;
  /** An id that no call has, or -1 when memory is short. */
  int32_t vacant();
  void hold(Entry* entry, Held which, napi_value value) const;
  void remove(int32_t id);
  /** Gives the call its place in the grid; a period of 0 takes it away. */
  void place(int32_t id, int64_t slot, int64_t period_wakes, int64_t next_wake);
  /** A received packet of the call, for it or for its core; false: it is left. */
  bool receive_one(Entry* entry, int32_t socket, const Arrival& arrival, Events* events) const;
};

void prefetch_entry(const Entry* entry);
void prefetch_call(const Entry* entry);
void prefetch_sender(const Entry* entry);
void prefetch_sent(const Entry* entry);
void prefetch_received(const Entry* entry);

/** Reads events behind the word that counts them. */
bool events_of(napi_env env, napi_value value, Events* events);
void finish(Events* events);

constexpr napi_type_tag kMediaPathTag = {0x51c2d8e37af04b19ULL, 0xb6f3902e84d7415cULL};

/** place(id, slot, periodWakes, nextWake), run(...): see turns.cc. */
napi_value place_call(napi_env env, napi_callback_info info);
napi_value run_turns(napi_env env, napi_callback_info info);

}  // namespace parley

#endif
