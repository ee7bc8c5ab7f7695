// MediaPath: regular packets of all calls of one media thread, in one call each for what is sent, what arrived and what is due
// (media-path.ts). A call's memory is held by a reference from `add` to `remove`; it is shared memory, which cannot be
// detached.
#include <cstdlib>
#include <cstring>
#include <new>

#include "concealment.h"
#include "media_path.h"

namespace parley {
namespace {

constexpr size_t kSocketSlots = 65536;
constexpr int32_t kMostCalls = 65536;
constexpr int32_t kFirstCalls = 64;
constexpr int32_t kNone = -1;
constexpr size_t kCacheLine = 64;
/** Of a packet of 20 ms. */
constexpr size_t kUsualSamples = 160;
constexpr size_t kUsualDecimated = 40;
/** Of a transform with AES-128, which has 11 round keys. */
constexpr size_t kUsualKeyBytes = offsetof(RtpTransform, hardware) + offsetof(HardwareKeys, round_keys) + 11 * kAesBlockBytes;

/** Memory of `count` of what was in `memory`; false: it stays as it is. */
template <typename T>
bool grow(T** memory, int32_t count) {
  T* grown = static_cast<T*>(realloc(*memory, static_cast<size_t>(count) * sizeof(T)));
  if (grown == nullptr) return false;
  *memory = grown;
  return true;
}

void prefetch(const void* memory, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(static_cast<const uint8_t*>(memory) + at, 1);
}

}  // namespace

MediaPath::~MediaPath() {
  for (int32_t id = 0; id < capacity; id++) remove(id);
  free(entries);
  free(by_socket);
  free(swept);
  for (int32_t* slot : slots) free(slot);
}

Entry* MediaPath::of_socket(int32_t socket) const {
  Entry* entry = find(by_socket[static_cast<uint32_t>(socket) & (kSocketSlots - 1)] - 1);
  return entry != nullptr && (entry->sockets[0] == socket || entry->sockets[1] == socket) ? entry : nullptr;
}

const Entry* MediaPath::likely_of_socket(int32_t socket) const {
  return find(by_socket[static_cast<uint32_t>(socket) & (kSocketSlots - 1)] - 1);
}

int32_t MediaPath::vacant() {
  for (int32_t id = 0; id < capacity; id++) {
    if (entries[id] == nullptr) return id;
  }
  const int32_t wanted = capacity == 0 ? kFirstCalls : capacity * 2;
  if (wanted > kMostCalls || !grow(&swept, wanted) || !grow(&entries, wanted)) return kNone;
  for (int32_t*& slot : slots) {
    if (!grow(&slot, wanted)) return kNone;
  }
  memset(entries + capacity, 0, static_cast<size_t>(wanted - capacity) * sizeof *entries);
  const int32_t id = capacity;
  capacity = wanted;
  return id;
}

void MediaPath::hold(Entry* entry, Held which, napi_value value) const {
  if (entry->held[which] != nullptr) napi_delete_reference(env, entry->held[which]);
  entry->held[which] = nullptr;
  if (value != nullptr) napi_create_reference(env, value, 1, &entry->held[which]);
}

void MediaPath::remove(int32_t id) {
  Entry* entry = find(id);
  if (entry == nullptr) return;
  place(id, 0, 0, 0);
  for (const int32_t socket : entry->sockets) {
    int32_t& slot = by_socket[static_cast<uint32_t>(socket) & (kSocketSlots - 1)];
    if (slot == id + 1) slot = 0;
  }
  for (int which = 0; which < kHeld; which++) hold(entry, static_cast<Held>(which), nullptr);
  entries[id] = nullptr;
  delete entry;
}

bool MediaPath::receive_one(Entry* entry, int32_t socket, const Arrival& arrival, Events* events) const {
  const bool done = entry != nullptr && entry->left_in != polls && socket == entry->sockets[0] &&
                    receive_regular({entry->call, entry->id, coefficients, events}, arrival);
  if (!done && entry != nullptr) entry->left_in = polls;
  return done;
}

/** Begins to load what leads to the rest; the memory of many calls is larger than the processor's caches. */
void prefetch_entry(const Entry* entry) {
  if (entry != nullptr) prefetch(entry, sizeof *entry);
}

/** The same for what a packet of the call will need. */
void prefetch_call(const Entry* entry) {
  if (entry == nullptr) return;
  const Call& call = entry->call;
  prefetch(call.page, offsetof(CallPage, seen));
  prefetch(&call.page->opened, sizeof(WindowWords));
  prefetch(call.rings.header, kCacheLine);
  if (call.is_recorded) prefetch(call.recording.header, kCacheLine);
}

/** The part of it that a packet which is sent needs. */
void prefetch_sender(const Entry* entry) {
  if (entry == nullptr) return;
  const Call& call = entry->call;
  prefetch(call.page, offsetof(CallPage, reception));
  prefetch(&call.page->counters, sizeof(CounterWords));
  prefetch(&call.page->sealed, sizeof(WindowWords));
  prefetch(call.rings.header, kCacheLine);
  if (call.is_recorded) prefetch(call.recording.header, kCacheLine);
}

/** The same for what is found through the memory that `prefetch_call` has loaded. */
void prefetch_sent(const Entry* entry) {
  if (entry == nullptr) return;
  const Call& call = entry->call;
  prefetch(call.seals, call.seals == nullptr ? 0 : kUsualKeyBytes);
  prefetch(call.rings.next_outbound(), kUsualSamples * sizeof(int16_t));
  if (call.is_recorded) prefetch(call.recording.next_right(), kUsualSamples);
}

void prefetch_received(const Entry* entry) {
  if (entry == nullptr) return;
  const Call& call = entry->call;
  prefetch(call.opens, call.opens == nullptr ? 0 : kUsualKeyBytes);
  const VoiceMemory& voice = call.page->voice;
  prefetch(&voice.state, offsetof(VoiceMemory, frame));
  prefetch(voice.last, sizeof voice.last);
  prefetch(next_decimated(voice), kUsualDecimated * sizeof(float));
  prefetch(oldest_heard(*call.page), kUsualSamples * sizeof(int16_t));
  prefetch(call.rings.next_heard(), kUsualSamples * sizeof(int16_t));
  if (call.is_recorded) prefetch(call.recording.next_left(), kUsualSamples);
}

namespace {

bool is_null(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  return napi_typeof(env, value, &type) == napi_ok && type == napi_null;
}

/** A Uint8Array over shared memory, at a multiple of 8 bytes. */
bool shared_bytes(napi_env env, napi_value value, void** data, size_t* length) {
  bool is_array = false;
  bool is_detachable = true;
  napi_typedarray_type type;
  napi_value buffer = nullptr;
  return napi_is_typedarray(env, value, &is_array) == napi_ok && is_array &&
         napi_get_typedarray_info(env, value, &type, length, data, &buffer, nullptr) == napi_ok && type == napi_uint8_array &&
         napi_is_arraybuffer(env, buffer, &is_detachable) == napi_ok && !is_detachable &&
         reinterpret_cast<uintptr_t>(*data) % 8 == 0;
}

Entry* entry_of(napi_env env, MediaPath* path, napi_value value) {
  uint32_t id = 0;
  return whole(env, value, INT32_MAX, &id) ? path->find(static_cast<int32_t>(id)) : nullptr;
}

napi_value boolean(napi_env env, bool value) {
  napi_value result = nullptr;
  napi_get_boolean(env, value, &result);
  return result;
}

/** add(socket, rtcpSocket, page, rings, recording): the id of a call; `recording` may be null. */
napi_value add_call(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  MediaPath* path = receiver<MediaPath>(env, info, kMediaPathTag, arguments);
  if (path == nullptr) return nullptr;
  uint32_t sockets[2] = {};
  void* page = nullptr;
  void* memory = nullptr;
  size_t bytes = 0;
  Call call;
  bool ok = whole(env, arguments[0], INT32_MAX, &sockets[0]) && whole(env, arguments[1], INT32_MAX, &sockets[1]) &&
            shared_bytes(env, arguments[2], &page, &bytes) && bytes == sizeof(CallPage);
  ok = ok && shared_bytes(env, arguments[3], &memory, &bytes) && call.rings.attach(memory, bytes);
  call.is_recorded = ok && !is_null(env, arguments[4]);
  if (call.is_recorded) ok = shared_bytes(env, arguments[4], &memory, &bytes) && call.recording.attach(memory, bytes);
  if (!ok) return fail(env, "a call is two sockets, a page, rings, and a recording or null, in shared memory");
  const int32_t id = path->vacant();
  Entry* entry = id == kNone ? nullptr : new (std::nothrow) Entry();
  if (entry == nullptr) return fail(env, "out of memory");
  call.page = static_cast<CallPage*>(page);
  entry->call = call;
  entry->id = id;
  for (int i = 0; i < 2; i++) entry->sockets[i] = static_cast<int32_t>(sockets[i]);
  for (int which = kPage; which <= (call.is_recorded ? kRecording : kRings); which++) {
    path->hold(entry, static_cast<Held>(which), arguments[2 + which]);
    if (entry->held[which] != nullptr) continue;
    for (int held = kPage; held < which; held++) path->hold(entry, static_cast<Held>(held), nullptr);
    delete entry;
    return fail(env, "the memory of the call cannot be held");
  }
  path->entries[id] = entry;
  for (const uint32_t socket : sockets) path->by_socket[socket & (kSocketSlots - 1)] = id + 1;
  return number(env, id);
}

/** remove(id) */
napi_value remove_call(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  MediaPath* path = receiver<MediaPath>(env, info, kMediaPathTag, arguments);
  if (path == nullptr) return nullptr;
  uint32_t id = 0;
  if (whole(env, arguments[0], INT32_MAX, &id)) path->remove(static_cast<int32_t>(id));
  return nullptr;
}

napi_value set_transform(napi_env env, napi_callback_info info, Held which) {
  napi_value arguments[2];
  MediaPath* path = receiver<MediaPath>(env, info, kMediaPathTag, arguments);
  if (path == nullptr) return nullptr;
  Entry* entry = entry_of(env, path, arguments[0]);
  const bool is_clear = is_null(env, arguments[1]);
  RtpTransform* transform = entry == nullptr || is_clear ? nullptr : transform_of(env, arguments[1]);
  if (entry == nullptr || (transform == nullptr && !is_clear)) return boolean(env, false);
  path->hold(entry, which, is_clear ? nullptr : arguments[1]);
  if (!is_clear && entry->held[which] == nullptr) transform = nullptr;
  (which == kOpens ? entry->call.opens : entry->call.seals) = transform;
  return boolean(env, is_clear || transform != nullptr);
}

/** openWith(id, transform): SRTP of received packets, null: none; whether the transform is one of this addon. */
napi_value open_with(napi_env env, napi_callback_info info) { return set_transform(env, info, kOpens); }

/** sealWith(id, transform): SRTP of sent packets. */
napi_value seal_with(napi_env env, napi_callback_info info) { return set_transform(env, info, kSeals); }

}  // namespace

bool events_of(napi_env env, napi_value value, Events* events) {
  void* data = nullptr;
  size_t length = 0;
  if (!array_of(env, value, napi_float64_array, &data, &length) || length < 1) return false;
  *events = {static_cast<double*>(data) + 1, (length - 1) / kWordsPerEvent, 0, 0};
  return true;
}

void finish(Events* events) { events->words[-1] = static_cast<double>(events->count); }

namespace {

/** compose(ids, from, until, slotMs, now, outcome, due, bytes, length, socket, ipv4, port, filled, events): how many slots are filled. */
napi_value compose(napi_env env, napi_callback_info info) {
  napi_value arguments[14];
  MediaPath* path = receiver<MediaPath>(env, info, kMediaPathTag, arguments);
  if (path == nullptr) return nullptr;
  Batch batch;
  Events events;
  void* ids = nullptr;
  void* slots = nullptr;
  void* outcomes = nullptr;
  void* due = nullptr;
  size_t length[4] = {};
  double now = 0;
  uint32_t from = 0;
  uint32_t until = 0;
  uint32_t filled = 0;
  const bool ok = array_of(env, arguments[0], napi_int32_array, &ids, &length[0]) &&
                  whole(env, arguments[1], UINT32_MAX, &from) && whole(env, arguments[2], UINT32_MAX, &until) &&
                  array_of(env, arguments[3], napi_float64_array, &slots, &length[1]) &&
                  napi_get_value_double(env, arguments[4], &now) == napi_ok &&
                  array_of(env, arguments[5], napi_int8_array, &outcomes, &length[2]) &&
                  array_of(env, arguments[6], napi_uint8_array, &due, &length[3]) && from <= until && until <= length[0] &&
                  until <= length[1] && until <= length[2] && until <= length[3] &&
                  batch_of(env, arguments + 7, false, &batch) && whole(env, arguments[12], UINT16_MAX, &filled) &&
                  filled <= batch.capacity && batch.capacity - filled >= until - from && events_of(env, arguments[13], &events);
  if (!ok) return fail(env, "compose takes calls, a PacketBatch with room for them, and events");
  for (uint32_t i = from; i < until; i++) {
    const int32_t* later = static_cast<int32_t*>(ids) + i;
    if (until - i > kFurthestAhead) prefetch_entry(path->find(later[kFurthestAhead]));
    if (until - i > kFarAhead) prefetch_sender(path->find(later[kFarAhead]));
    if (until - i > kAhead) prefetch_sent(path->find(later[kAhead]));
    const int32_t id = *later;
    const Entry* entry = path->find(id);
    Outcome outcome = kLeft;
    if (entry != nullptr) {
      uint8_t* to = batch.bytes + filled * kSlotBytes;
      outcome = compose_regular(entry->call, id, static_cast<double*>(slots)[i], to, &batch.length[filled], &events);
    }
    static_cast<int8_t*>(outcomes)[i] = static_cast<int8_t>(outcome);
    static_cast<uint8_t*>(due)[i] = entry == nullptr || !(now < entry->call.page->reports.nextAtMs) ? 1 : 0;
    if (outcome != kComposed) continue;
    const LatchWords& latch = entry->call.page->latch;
    batch.socket[filled] = entry->sockets[0];
    batch.ipv4[filled] = lowest32(latch.ipv4);
    batch.port[filled] = static_cast<uint16_t>(lowest32(latch.port));
    filled++;
  }
  finish(&events);
  return number(env, static_cast<int32_t>(filled));
}

/** receive(bytes, length, socket, ipv4, port, arrivedAt, count, left, events): how many packets are left. */
napi_value receive(napi_env env, napi_callback_info info) {
  napi_value arguments[9];
  MediaPath* path = receiver<MediaPath>(env, info, kMediaPathTag, arguments);
  if (path == nullptr) return nullptr;
  Batch batch;
  Events events;
  uint32_t count = 0;
  void* left = nullptr;
  size_t length = 0;
  const bool ok = batch_of(env, arguments, true, &batch) && whole(env, arguments[6], UINT32_MAX, &count) &&
                  count <= batch.capacity && array_of(env, arguments[7], napi_uint8_array, &left, &length) && length >= count &&
                  events_of(env, arguments[8], &events);
  if (!ok) return fail(env, "receive takes a PacketBatch, a count, a Uint8Array and events");
  path->polls++;
  int32_t remaining = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (count - i > kFurthestAhead) prefetch_entry(path->likely_of_socket(batch.socket[i + kFurthestAhead]));
    if (count - i > kFarAhead) prefetch_call(path->of_socket(batch.socket[i + kFarAhead]));
    if (count - i > kAhead) prefetch_received(path->of_socket(batch.socket[i + kAhead]));
    Entry* entry = path->of_socket(batch.socket[i]);
    const Arrival arrival = {batch.arrived_at[i], batch.bytes + i * kSlotBytes, batch.length[i], batch.ipv4[i], batch.port[i]};
    const bool done = path->receive_one(entry, batch.socket[i], arrival, &events);
    static_cast<uint8_t*>(left)[i] = done ? 0 : 1;
    if (!done) remaining++;
  }
  finish(&events);
  return number(env, remaining);
}

/** advance(ids, count, now, left, events): how many calls are left. */
napi_value advance(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  MediaPath* path = receiver<MediaPath>(env, info, kMediaPathTag, arguments);
  if (path == nullptr) return nullptr;
  Events events;
  double now = 0;
  void* ids = nullptr;
  void* left = nullptr;
  size_t length[2] = {};
  uint32_t count = 0;
  if (!array_of(env, arguments[0], napi_int32_array, &ids, &length[0]) || !whole(env, arguments[1], UINT32_MAX, &count) ||
      napi_get_value_double(env, arguments[2], &now) != napi_ok ||
      !array_of(env, arguments[3], napi_uint8_array, &left, &length[1]) || count > length[0] || count > length[1] ||
      !events_of(env, arguments[4], &events)) {
    return fail(env, "advance takes calls, a time in ms, a Uint8Array and events");
  }
  int32_t remaining = 0;
  for (uint32_t i = 0; i < count; i++) {
    const int32_t* later = static_cast<int32_t*>(ids) + i;
    if (count - i > kFarAhead) prefetch_call(path->find(later[kFarAhead]));
    const Entry* entry = path->find(*later);
    const bool done = entry != nullptr && advance_regular({entry->call, entry->id, path->coefficients, &events}, now);
    static_cast<uint8_t*>(left)[i] = done ? 0 : 1;
    if (!done) remaining++;
  }
  finish(&events);
  return number(env, remaining);
}

/** new MediaPath(coefficients): Goertzel's of the DTMF tones, rows first. */
napi_value construct(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument = nullptr;
  napi_value self = nullptr;
  napi_value target = nullptr;
  void* data = nullptr;
  size_t length = 0;
  if (napi_get_cb_info(env, info, &count, &argument, &self, nullptr) != napi_ok ||
      napi_get_new_target(env, info, &target) != napi_ok || target == nullptr || count < 1 ||
      !array_of(env, argument, napi_float64_array, &data, &length) || length != kDtmfTones) {
    return fail(env, "new MediaPath takes a Float64Array of 8 coefficients");
  }
  MediaPath* path = new (std::nothrow) MediaPath();
  if (path == nullptr) return fail(env, "out of memory");
  path->env = env;
  path->by_socket = static_cast<int32_t*>(calloc(kSocketSlots, sizeof *path->by_socket));
  if (path->by_socket == nullptr) {
    delete path;
    return fail(env, "out of memory");
  }
  memcpy(path->coefficients, data, sizeof path->coefficients);
  return wrap(env, self, kMediaPathTag, path) ? self : nullptr;
}

#define PARLEY_NAME(name) #name ","
/** Names of the page's words, section by section, each ended by a comma, for the test that compares them with TypeScript's. */
constexpr char kPageWords[] =
    PARLEY_INBOUND(PARLEY_NAME) PARLEY_OUTBOUND(PARLEY_NAME) PARLEY_INTERVALS(PARLEY_NAME) PARLEY_REPORTS(PARLEY_NAME) PARLEY_LATCH(PARLEY_NAME)
    PARLEY_RECEPTION(PARLEY_NAME) PARLEY_SEQUENCE(PARLEY_NAME) PARLEY_COUNTERS(PARLEY_NAME) PARLEY_WATCHDOG(PARLEY_NAME)
    PARLEY_STREAM(PARLEY_NAME) PARLEY_CLOCK(PARLEY_NAME) PARLEY_SKEW(PARLEY_NAME) PARLEY_CONCEALMENT(PARLEY_NAME)
    PARLEY_REORDER(PARLEY_NAME) PARLEY_SEQUENCE(PARLEY_NAME) PARLEY_VOICE(PARLEY_NAME) PARLEY_CUES(PARLEY_NAME) PARLEY_BAND(PARLEY_NAME);
#undef PARLEY_NAME

/** pageWords(): names of the numbers of a page, in order. */
napi_value page_words(napi_env env, napi_callback_info) {
  napi_value result = nullptr;
  napi_create_string_utf8(env, kPageWords, NAPI_AUTO_LENGTH, &result);
  return result;
}

/** decibels(power), for the test that compares it with TypeScript's. */
napi_value decibels_of(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument = nullptr;
  napi_value result = nullptr;
  double power = 0;
  if (napi_get_cb_info(env, info, &count, &argument, nullptr, nullptr) != napi_ok || count < 1 ||
      napi_get_value_double(env, argument, &power) != napi_ok) {
    return fail(env, "decibels takes a number");
  }
  napi_create_double(env, decibels(power), &result);
  return result;
}

}  // namespace

bool add_media_path(napi_env env, napi_value exports) {
  const napi_property_descriptor methods[] = {
      method("add", add_call),          method("remove", remove_call), method("openWith", open_with),
      method("sealWith", seal_with),    method("compose", compose),    method("receive", receive),
      method("advance", advance),       method("place", place_call),  method("run", run_turns),
  };
  return add_class(env, exports, "MediaPath", construct, methods) && add_function(env, exports, "pageWords", page_words) &&
         add_function(env, exports, "decibels", decibels_of);
}

}  // namespace parley
