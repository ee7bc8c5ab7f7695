#include "rings.h"

#include <cstring>

namespace parley {
namespace {

enum SessionWord {
  kOutWritten,
  kOutTaken,
  kHeardWritten,
  kHeardRead,
  kHeardOrigin,
  kHeardOverrun,
  kEdgesWritten,
  kEdgesRead,
  kOutBase,
  kHeardBase,
  kEdgesAt
};
constexpr uint32_t kEdges = 16;
constexpr uint32_t kWordsPerEdge = 3;
constexpr size_t kSessionHeaderBytes = (kEdgesAt + kEdges * kWordsPerEdge) * 4;

enum RecordingWord { kCapacity, kLeftPublished, kRightPublished, kRead, kEnd, kOverrun, kSampleRate, kLeftDoubled, kRightDoubled };
constexpr size_t kRecordingHeaderBytes = 16 * 4;
constexpr int32_t kNoEnd = -1;
constexpr uint8_t kSilence = 0xff;
constexpr int64_t kLeastCapacity = 1024;

int32_t load(const int32_t* word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
void store(int32_t* word, int64_t value) { __atomic_store_n(word, static_cast<int32_t>(value), __ATOMIC_SEQ_CST); }
uint32_t position_of(const int32_t* word) { return static_cast<uint32_t>(load(word)); }

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

struct Silence {
  uint8_t bytes[256];

  constexpr Silence() : bytes() {
    for (uint8_t& byte : bytes) byte = kSilence;
  }
};

/** Copies into or out of a ring whose size is a power of two, in two parts where it wraps. */
void copy_in(int16_t* ring, uint32_t size, uint32_t position, const int16_t* from, uint32_t count) {
  const uint32_t start = position & (size - 1);
  const uint32_t first = count < size - start ? count : size - start;
  memcpy(ring + start, from, first * sizeof *ring);
  memcpy(ring, from + first, (count - first) * sizeof *ring);
}

void copy_out(const int16_t* ring, uint32_t size, uint32_t position, int16_t* into, uint32_t count) {
  const uint32_t start = position & (size - 1);
  const uint32_t first = count < size - start ? count : size - start;
  memcpy(into, ring + start, first * sizeof *ring);
  memcpy(into + first, ring, (count - first) * sizeof *ring);
}

void write_channel(const RecordingRing& ring, const RecordingChannel& channel, int64_t position, const uint8_t* bytes,
                   int64_t count) {
  if (count <= 0 || load(ring.header + kEnd) != kNoEnd) return;
  // The writer thread may have passed this position, because it takes a lagging channel for silent.
  const int64_t read = load(ring.header + kRead);
  const int64_t from = most(load(channel.published), read);
  const int64_t end = position + count;
  if (end <= from) return;
  const int64_t room = read + 2 * channel.half;
  if (end > room) {
    const int64_t lost = end - most(most(position, from), room);
    __atomic_fetch_add(ring.header + kOverrun, static_cast<int32_t>(lost), __ATOMIC_SEQ_CST);
  }
  const int64_t until = least(end, room);
  channel.make_room(read, until);
  const int64_t silent_until = least(position, room);
  for (int64_t at = from; at < silent_until;) {
    const int64_t part = least(silent_until - at, channel.run_from(at));
    memset(channel.at(at), kSilence, static_cast<size_t>(part));
    at += part;
  }
  for (int64_t at = most(position, from); at < until;) {
    const int64_t part = least(until - at, channel.run_from(at));
    memcpy(channel.at(at), bytes + (at - position), static_cast<size_t>(part));
    at += part;
  }
  store(channel.published, most(from, until));
}

}  // namespace

bool SessionRings::attach(void* memory, size_t bytes) {
  if (bytes <= kSessionHeaderBytes || bytes > UINT32_MAX) return false;
  // The heard ring is twice as long as that of playout.
  const size_t played = (bytes - kSessionHeaderBytes) / (3 * sizeof(int16_t));
  if (played == 0 || (played & (played - 1)) != 0 || kSessionHeaderBytes + played * 3 * sizeof(int16_t) != bytes) return false;
  header = static_cast<int32_t*>(memory);
  out = reinterpret_cast<int16_t*>(static_cast<uint8_t*>(memory) + kSessionHeaderBytes);
  heard = out + played;
  out_samples = static_cast<uint32_t>(played);
  heard_samples = 2 * out_samples;
  return true;
}

uint32_t SessionRings::outbound_taken() const { return position_of(header + kOutTaken); }

uint32_t SessionRings::take_outbound(int16_t* into, uint32_t count) const {
  int32_t taken = load(header + kOutTaken);
  for (;;) {
    const int64_t there = static_cast<int64_t>(position_of(header + kOutWritten)) - static_cast<uint32_t>(taken);
    // More than the ring holds is no position that the owner of the call has written.
    if (there <= 0 || there > out_samples) return 0;
    const uint32_t n = there < count ? static_cast<uint32_t>(there) : count;
    copy_out(out, out_samples, static_cast<uint32_t>(taken) - position_of(header + kOutBase), into, n);
    const int32_t next = static_cast<int32_t>(static_cast<uint32_t>(taken) + n);
    // The owner of the call drops audio by the same exchange; then the new position is read again.
    if (__atomic_compare_exchange_n(header + kOutTaken, &taken, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return n;
  }
}

void SessionRings::write_heard(const int16_t* audio, uint32_t count) const {
  const uint32_t written = position_of(header + kHeardWritten);
  // Where the reader has all, the audio begins at the start of the memory again: see SessionRings of session-rings.ts.
  if (position_of(header + kHeardRead) == written) store(header + kHeardBase, static_cast<int32_t>(written));
  copy_in(heard, heard_samples, written - position_of(header + kHeardBase), audio, count);
  store(header + kHeardWritten, static_cast<int32_t>(written + count));
}

void SessionRings::write_voice_edge(bool is_start, int32_t position, uint32_t count) const {
  const uint32_t written = position_of(header + kEdgesWritten);
  int32_t* edge = header + kEdgesAt + (written % kEdges) * kWordsPerEdge;
  store(edge, static_cast<int32_t>(position_of(header + kHeardWritten) + count));
  store(edge + 1, is_start ? 1 : 0);
  store(edge + 2, position);
  store(header + kEdgesWritten, static_cast<int32_t>(written + 1));
}

const int16_t* SessionRings::next_outbound() const {
  return out + ((position_of(header + kOutTaken) - position_of(header + kOutBase)) & (out_samples - 1));
}

const int16_t* SessionRings::next_heard() const {
  const uint32_t written = position_of(header + kHeardWritten);
  if (position_of(header + kHeardRead) == written) return heard;
  return heard + ((written - position_of(header + kHeardBase)) & (heard_samples - 1));
}

void RecordingChannel::make_room(int64_t read, int64_t until) const {
  if (until - read > half && load(doubled) == 0) store(doubled, read + half);
}

uint8_t* RecordingChannel::at(int64_t position) const {
  const int64_t from = load(doubled);
  return (from == 0 || ((position - from) & half) != 0 ? first : second) + (position & (half - 1));
}

int64_t RecordingChannel::run_from(int64_t position) const {
  return half - most(position & (half - 1), (position - load(doubled)) & (half - 1));
}

bool RecordingRing::attach(void* memory, size_t bytes) {
  if (bytes <= kRecordingHeaderBytes) return false;
  int32_t* words = static_cast<int32_t*>(memory);
  const int64_t size = load(words + kCapacity);
  if (size < kLeastCapacity || (size & (size - 1)) != 0 || kRecordingHeaderBytes + 2 * static_cast<size_t>(size) != bytes) {
    return false;
  }
  header = words;
  const int64_t half = size / 2;
  uint8_t* audio = static_cast<uint8_t*>(memory) + kRecordingHeaderBytes;
  left = {words + kLeftPublished, words + kLeftDoubled, audio, audio + size, half};
  right = {words + kRightPublished, words + kRightDoubled, audio + half, audio + size + half, half};
  return true;
}

const uint8_t* RecordingRing::next_left() const { return left.at(load(left.published)); }

const uint8_t* RecordingRing::next_right() const { return right.at(load(right.published)); }

size_t RecordingRing::copy(size_t frames, uint8_t* into, bool swap,
                           void (*pair)(const uint8_t*, const uint8_t*, size_t, uint8_t*)) const {
  static constexpr Silence kNothing;
  const int64_t from = load(header + kRead);
  if (from < 0) return 0;
  const int64_t until = from + static_cast<int64_t>(frames);
  const int64_t lefts = load(left.published);
  const int64_t rights = load(right.published);
  for (int64_t at = from; at < until;) {
    int64_t part = until - at;
    // A block has both channels' audio throughout, or of one nothing.
    if (at < lefts) part = least(part, least(lefts - at, left.run_from(at)));
    if (at < rights) part = least(part, least(rights - at, right.run_from(at)));
    if (at >= lefts || at >= rights) part = least(part, sizeof kNothing.bytes);
    const uint8_t* l = at < lefts ? left.at(at) : kNothing.bytes;
    const uint8_t* r = at < rights ? right.at(at) : kNothing.bytes;
    pair(swap ? r : l, swap ? l : r, static_cast<size_t>(part), into + 2 * (at - from));
    at += part;
  }
  return frames;
}

void RecordingRing::write_left(int64_t position, const uint8_t* bytes, int64_t count) const {
  write_channel(*this, left, position, bytes, count);
}

void RecordingRing::write_right(int64_t position, const uint8_t* bytes, int64_t count) const {
  write_channel(*this, right, position, bytes, count);
}

}  // namespace parley
