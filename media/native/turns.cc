// A media thread's wakes without JavaScript: sleep to the next wake, send for the calls whose slot it is, take what has arrived,
// deliver what is due. It goes back to JavaScript (native-turns.ts) for what is not regular, and when a turn of the event loop is due.
// The order of a wake is that of MediaThreadLoop; the slots are those of SendSlots (send-slots.ts).
#include <cmath>
#include <cstring>

#include "media_path.h"
#include "packet_io.h"

namespace parley {
namespace {

constexpr double kWakeMs = 2.5;
/** Of LatenessHistogram. */
constexpr double kBucketMs = 0.02;
constexpr size_t kBuckets = 5000;
constexpr int32_t kMostMissed = 100;
/** Packets that are taken of a socket which had one packet or none before: one more shows that it is empty. */
constexpr unsigned kFewPackets = 2;
/** Sockets that are read between two looks at the clock. */
constexpr size_t kSocketsPerLook = 32;
/** Wakes are counted since the thread's start. */
constexpr double kMostWakes = 9007199254740992.0;

/** Numbers that both sides keep, in the order of native-turns.ts. */
enum State { kGridStart, kLastWake, kTurnAt, kWakes, kWaited, kCount, kStates };
/** Why a run ended, in the order of native-turns.ts. */
enum Result { kTurn, kLeftToSend, kLeftReceived, kLeftToAdvance };

struct Histogram {
  uint32_t* buckets;
  /** Their number and the largest. */
  double* totals;

  void add(double late_ms) const {
    double bucket = std::floor(late_ms / kBucketMs);
    if (!(bucket > 0)) bucket = 0;
    if (bucket > kBuckets - 1) bucket = kBuckets - 1;
    buckets[static_cast<size_t>(bucket)]++;
    totals[0]++;
    if (late_ms > totals[1]) totals[1] = late_ms;
  }
};

/** JavaScript's arrays during one run. */
struct Turns {
  MediaPath* path;
  PacketIo* io;
  double* state;
  const int32_t* command;
  Batch left;
  int32_t* ids;
  double* slot_ms;
  int32_t* missed;
  int8_t* outcome;
  /** How many calls these arrays hold. */
  size_t room;
  Events* events;
  Histogram lateness;
  Histogram recent;

  /** When the next wake is. One without a slot is left out, one at a time; not in a flood, of which more wakes take more packets. */
  double until() const {
    const double next = state[kLastWake] + 1;
    const bool is_empty = !path->is_flooded && next >= 0 && next < kMostWakes &&
                          path->slot_counts[static_cast<int64_t>(next) % kSendSlots] == 0;
    return state[kGridStart] + (is_empty ? next + 1 : next) * kWakeMs;
  }

  Result leave(Result result, size_t count) const {
    state[kCount] = static_cast<double>(count);
    return result;
  }

  void note(size_t at, const Swept& swept, bool is_left) const {
    ids[at] = swept.id;
    slot_ms[at] = swept.slot_ms;
    missed[at] = swept.missed;
    outcome[at] = is_left ? kLeft : kComposed;
  }
};

void sweep(MediaPath* path, int64_t wake, double grid_start) {
  path->swept_count = 0;
  path->cursor = 0;
  int64_t first = path->last_swept + 1;
  if (first < wake - kSendSlots + 1) first = wake - kSendSlots + 1;
  if (first < 0) first = 0;
  path->last_swept = wake;
  for (int64_t at = first; at <= wake; at++) {
    const size_t slot = static_cast<size_t>(at % kSendSlots);
    for (int32_t i = 0; i < path->slot_counts[slot]; i++) {
      Entry* entry = path->entries[path->slots[slot][i]];
      if (entry->next_wake > wake) continue;
      const int64_t missed = (wake - entry->next_wake) / entry->period_wakes;
      const int64_t slot_wake = entry->next_wake + missed * entry->period_wakes;
      entry->next_wake = slot_wake + entry->period_wakes;
      path->swept[path->swept_count++] = {entry->id, static_cast<int32_t>(missed < kMostMissed ? missed : kMostMissed),
                                          grid_start + static_cast<double>(slot_wake) * kWakeMs};
    }
  }
}

/** A slot that was missed counts as a packet that is late by as much for those who decide about new calls. */
void note_lateness(const Turns& turns, const Swept& swept, int64_t period_wakes, double now) {
  const double late = now - swept.slot_ms;
  turns.lateness.add(late);
  turns.recent.add(late);
  const double ptime = static_cast<double>(period_wakes) * kWakeMs;
  for (int32_t k = swept.missed; k > 0; k--) turns.recent.add(late + k * ptime);
}

const Entry* swept_ahead(const MediaPath& path, uint32_t ahead) {
  const int64_t at = static_cast<int64_t>(path.cursor) + ahead;
  return at < path.swept_count ? path.find(path.swept[at].id) : nullptr;
}

/** Sends for the calls whose slot it is; what is left to their cores comes after it. Returns how many calls are. */
size_t send_swept(const Turns& turns) {
  MediaPath& path = *turns.path;
  size_t left = 0;
  for (; path.cursor < path.swept_count && left < turns.room; path.cursor++) {
    prefetch_entry(swept_ahead(path, kFurthestAhead));
    prefetch_sender(swept_ahead(path, kFarAhead));
    prefetch_sent(swept_ahead(path, kAhead));
    const Swept& swept = path.swept[path.cursor];
    const Entry* entry = path.find(swept.id);
    if (entry == nullptr) continue;
    uint8_t packet[kSlotBytes];
    uint16_t length = 0;
    const Outcome outcome = compose_regular(entry->call, swept.id, swept.slot_ms, packet, &length, turns.events);
    const double now = turns.io->now();
    if (outcome == kComposed) {
      const LatchWords& latch = entry->call.page->latch;
      note_lateness(turns, swept, entry->period_wakes, now);
      turns.io->send(entry->sockets[0], lowest32(latch.ipv4), static_cast<uint16_t>(lowest32(latch.port)), packet, length);
    }
    const bool is_due = !(now < entry->call.page->reports.nextAtMs);
    if (outcome != kLeft && !is_due) continue;
    turns.note(left++, swept, outcome == kLeft);
  }
  return left;
}

/** One packet, of slot 0 of `taken`, which is left to its core. */
void leave_packet(const Batch& taken, size_t from, const Batch& left, size_t to) {
  const size_t length = taken.length[from] < kSlotBytes ? taken.length[from] : kSlotBytes;
  memcpy(left.bytes + to * kSlotBytes, taken.bytes + from * kSlotBytes, length);
  left.length[to] = static_cast<uint16_t>(length);
  left.socket[to] = taken.socket[from];
  left.ipv4[to] = taken.ipv4[from];
  left.port[to] = taken.port[from];
  left.arrived_at[to] = taken.arrived_at[from];
}

/** Where packets are taken before it is known whether they are left. */
struct Taken {
  uint8_t bytes[kBurst * kSlotBytes];
  uint16_t length[kBurst];
  int32_t socket[kBurst];
  uint32_t ipv4[kBurst];
  uint16_t port[kBurst];
  double arrived_at[kBurst];

  Batch batch() { return {bytes, length, socket, ipv4, port, arrived_at, kBurst}; }
};

/** Takes packets of one socket and processes them; those that are left come to `turns.left` from `filled` on. */
size_t receive_socket(const Turns& turns, Taken* memory, int32_t socket, unsigned room, size_t filled, size_t* taken) {
  const Batch batch = memory->batch();
  bool emptied = false;
  Entry* entry = turns.path->of_socket(socket);
  const unsigned count = turns.io->take(socket, batch, 0, room, &emptied);
  if (!emptied && room == kBurst) turns.path->is_flooded = true;
  turns.io->note_taken(socket, emptied);
  *taken += count;
  for (unsigned i = 0; i < count; i++) {
    const Arrival arrival = {batch.arrived_at[i], batch.bytes + i * kSlotBytes, batch.length[i], batch.ipv4[i], batch.port[i]};
    if (!turns.path->receive_one(entry, socket, arrival, turns.events)) leave_packet(batch, i, turns.left, filled++);
  }
  return filled;
}

/**
 * Receives until all sockets are empty or the next slot is due; a thread that is late takes twice what its calls usually receive in the time.
 * Returns how many packets are left, which have to be given to the cores before more is received.
 */
size_t receive_packets(const Turns& turns, Taken* memory, bool* is_more) {
  PacketIo& io = *turns.io;
  const size_t usual = 2 * static_cast<size_t>(turns.path->swept_count);
  size_t filled = 0;
  size_t taken = 0;
  turns.path->polls++;
  turns.path->is_flooded = false;
  *is_more = true;
  for (;;) {
    int64_t looked_at = 0;
    const size_t repeated = io.pending.size();
    const bool is_all = io.find_ready(&looked_at);
    const size_t count = io.found.size();
    bool is_stopped = false;
    for (size_t i = 0; i < count; i++) {
      if (is_stopped) {
        io.note_taken(io.found[i], false);
        continue;
      }
      if (count - i > kFurthestAhead) prefetch_entry(turns.path->likely_of_socket(io.found[i + kFurthestAhead]));
      if (count - i > kFarAhead) prefetch_call(turns.path->of_socket(io.found[i + kFarAhead]));
      if (count - i > kAhead) prefetch_received(turns.path->of_socket(io.found[i + kAhead]));
      filled = receive_socket(turns, memory, io.found[i], i < repeated ? kBurst : kFewPackets, filled, &taken);
      is_stopped = filled + kBurst > turns.left.capacity;
      if (!is_stopped && i % kSocketsPerLook == kSocketsPerLook - 1) is_stopped = taken >= usual && io.now() > turns.until();
    }
    if (filled + kBurst > turns.left.capacity) return filled;
    *is_more = false;
    if (is_stopped) return filled;
    if (is_all && io.pending.empty()) {
      io.note_drained(looked_at);
      return filled;
    }
    if (taken >= usual && io.now() > turns.until()) return filled;
  }
}

/** Delivers what is due of the swept calls; returns how many are left. */
size_t advance_swept(const Turns& turns, double now) {
  MediaPath& path = *turns.path;
  size_t left = 0;
  for (; path.cursor < path.swept_count && left < turns.room; path.cursor++) {
    prefetch_entry(swept_ahead(path, kFurthestAhead));
    prefetch_call(swept_ahead(path, kFarAhead));
    const Swept& swept = path.swept[path.cursor];
    const Entry* entry = path.find(swept.id);
    if (entry == nullptr || advance_regular({entry->call, entry->id, path.coefficients, turns.events}, now)) continue;
    turns.note(left++, swept, true);
  }
  return left;
}

/** Sleeps to the next wake and finds the calls whose slot it is; false: JavaScript is wanted before. */
bool wake_up(const Turns& turns) {
  double* state = turns.state;
  const double asleep_from = turns.io->now();
  if (asleep_from >= state[kTurnAt]) return false;
  turns.io->sleep_until(turns.until());
  const double now = turns.io->now();
  state[kWaited] += now - asleep_from;
  if (__atomic_load_n(turns.command, __ATOMIC_SEQ_CST) != 0) return false;
  const double wake = std::floor((now - state[kGridStart]) / kWakeMs);
  turns.path->swept_count = 0;
  turns.path->cursor = 0;
  if (!(wake > state[kLastWake] && wake < kMostWakes)) return true;
  state[kLastWake] = wake;
  state[kWakes]++;
  sweep(turns.path, static_cast<int64_t>(wake), state[kGridStart]);
  return true;
}

Result run(const Turns& turns, Taken* memory) {
  MediaPath& path = *turns.path;
  for (;;) {
    if (path.phase == kAsleep) {
      if (turns.events->urgent > 0 || turns.events->count > turns.events->capacity / 2 || !wake_up(turns)) {
        return turns.leave(kTurn, 0);
      }
      path.phase = kSending;
    }
    if (path.phase == kSending) {
      const size_t left = send_swept(turns);
      if (path.cursor == path.swept_count) path.phase = kReceiving;
      if (left > 0) return turns.leave(kLeftToSend, left);
    }
    if (path.phase == kReceiving) {
      bool is_more = false;
      const size_t left = receive_packets(turns, memory, &is_more);
      if (!is_more) path.phase = kAdvancing;
      path.cursor = 0;
      if (left > 0) return turns.leave(kLeftReceived, left);
    }
    const size_t left = advance_swept(turns, turns.io->now());
    if (path.cursor == path.swept_count) path.phase = kAsleep;
    if (left > 0) return turns.leave(kLeftToAdvance, left);
  }
}

bool histogram_of(napi_env env, napi_value buckets, napi_value totals, Histogram* histogram) {
  void* data[2] = {};
  size_t length[2] = {};
  if (!array_of(env, buckets, napi_uint32_array, &data[0], &length[0]) || length[0] < kBuckets) return false;
  if (!array_of(env, totals, napi_float64_array, &data[1], &length[1]) || length[1] < 2) return false;
  *histogram = {static_cast<uint32_t*>(data[0]), static_cast<double*>(data[1])};
  return true;
}

}  // namespace

void MediaPath::place(int32_t id, int64_t slot, int64_t period_wakes, int64_t next_wake) {
  Entry* entry = find(id);
  if (entry == nullptr) return;
  if (entry->period_wakes > 0) {
    for (size_t at = 0; at < kSendSlots; at++) {
      int32_t kept = 0;
      for (int32_t i = 0; i < slot_counts[at]; i++) {
        if (slots[at][i] != id) slots[at][kept++] = slots[at][i];
      }
      slot_counts[at] = kept;
    }
  }
  entry->period_wakes = period_wakes;
  entry->next_wake = next_wake;
  if (period_wakes == 0) return;
  const auto put = [this, id](int64_t at) { slots[at % kSendSlots][slot_counts[at % kSendSlots]++] = id; };
  put(slot);
  // A period of an odd number of 10 ms alternates between its slot and the one 10 ms away.
  if (period_wakes % kSendSlots != 0) put(slot + kSendSlots / 2);
}

/** place(id, slot, periodWakes, nextWake): the call's slots, each `periodWakes` from the last; 0: it has none. */
napi_value place_call(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  MediaPath* path = receiver<MediaPath>(env, info, kMediaPathTag, arguments);
  if (path == nullptr) return nullptr;
  uint32_t id = 0;
  uint32_t slot = 0;
  uint32_t period = 0;
  double next = 0;
  if (!whole(env, arguments[0], INT32_MAX, &id) || !whole(env, arguments[1], kSendSlots - 1, &slot) ||
      !whole(env, arguments[2], UINT16_MAX, &period) || napi_get_value_double(env, arguments[3], &next) != napi_ok ||
      !(next >= 0 && next < kMostWakes)) {
    return fail(env, "place takes a call, a slot, a period and a wake");
  }
  path->place(static_cast<int32_t>(id), slot, period, static_cast<int64_t>(next));
  return nullptr;
}

/**
 * run(io, state, words, bytes, length, socket, ipv4, port, arrivedAt, ids, slotMs, missed, outcome, events, buckets, totals, recentBuckets, recentTotals):
 * wakes until JavaScript is wanted; why, with the number of what is left in `state`.
 */
napi_value run_turns(napi_env env, napi_callback_info info) {
  napi_value arguments[18];
  MediaPath* path = receiver<MediaPath>(env, info, kMediaPathTag, arguments);
  if (path == nullptr) return nullptr;
  void* data[6] = {};
  size_t length[6] = {};
  Turns turns = {};
  Events events = {};
  turns.path = path;
  turns.io = packet_io_of(env, arguments[0]);
  const bool ok = turns.io != nullptr && array_of(env, arguments[1], napi_float64_array, &data[0], &length[0]) && length[0] >= kStates &&
                  array_of(env, arguments[2], napi_int32_array, &data[1], &length[1]) && length[1] >= 1 &&
                  batch_of(env, arguments + 3, true, &turns.left) && turns.left.capacity >= kBurst &&
                  array_of(env, arguments[9], napi_int32_array, &data[2], &length[2]) &&
                  array_of(env, arguments[10], napi_float64_array, &data[3], &length[3]) &&
                  array_of(env, arguments[11], napi_int32_array, &data[4], &length[4]) &&
                  array_of(env, arguments[12], napi_int8_array, &data[5], &length[5]) && events_of(env, arguments[13], &events) &&
                  histogram_of(env, arguments[14], arguments[15], &turns.lateness) &&
                  histogram_of(env, arguments[16], arguments[17], &turns.recent);
  if (!ok) return fail(env, "run takes packet I/O, its state, words, a PacketBatch, arrays of calls, events and two histograms");
  turns.state = static_cast<double*>(data[0]);
  turns.command = static_cast<int32_t*>(data[1]);
  turns.ids = static_cast<int32_t*>(data[2]);
  turns.slot_ms = static_cast<double*>(data[3]);
  turns.missed = static_cast<int32_t*>(data[4]);
  turns.outcome = static_cast<int8_t*>(data[5]);
  turns.room = length[2];
  for (int i = 3; i < 6; i++) turns.room = length[i] < turns.room ? length[i] : turns.room;
  turns.events = &events;
  if (turns.room == 0) return fail(env, "run takes arrays with room for a call");
  Taken memory;
  const Result result = run(turns, &memory);
  finish(&events);
  return number(env, result);
}

}  // namespace parley
