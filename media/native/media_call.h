// A call's regular packets: audio of the source that is heard, in sequence, and audio that is sent. What is not regular is
// left, with nothing changed, to MediaSessionCore (media-session-core.ts), which works on the same page.
#ifndef PARLEY_MEDIA_CALL_H
#define PARLEY_MEDIA_CALL_H

#include <cstddef>
#include <cstdint>

#include "call_page.h"
#include "rings.h"
#include "srtp.h"
#include "voice.h"

namespace parley {

constexpr double kSamplesPerMs = 8;
/** Received packets of the native path have at most 60 ms. */
constexpr size_t kMostSamples = 480;
constexpr size_t kRtpHeaderBytes = 12;

struct Call {
  CallPage* page = nullptr;
  SessionRings rings;
  RecordingRing recording;
  bool is_recorded = false;
  /** null: plain RTP. */
  RtpTransform* opens = nullptr;
  RtpTransform* seals = nullptr;
};

enum EventType { kVoiceStart = 1, kVoiceEnd = 2, kProgress = 3, kPlayedOut = 4 };
constexpr size_t kWordsPerEvent = 4;

/** What the owner of calls is told: (id, type, two values) each. */
struct Events {
  double* words;
  size_t capacity;
  size_t count;
  /** Events other than that playout goes on, which may wait for others. */
  size_t urgent;

  bool has_room(size_t further) const { return count + further <= capacity; }
  void add(int32_t id, EventType type, double first, double second);
};

struct Arrival {
  double at_ms;
  uint8_t* packet;
  size_t length;
  uint32_t ipv4;
  uint16_t port;
};

enum Outcome { kLeft = -1, kNothingDue = 0, kComposed = 1 };

struct Listeners;

/** Processes a received packet; false: it is left, and nothing has changed. */
bool receive_regular(const Listeners& listeners, const Arrival& arrival);
/** Writes the packet of the slot to `to`, of kMostPacketBytes. */
Outcome compose_regular(const Call& call, int32_t id, double slot_ms, uint8_t* to, uint16_t* length, Events* events);
/** Delivers the audio that is due where nothing arrives; false: it is left. */
bool advance_regular(const Listeners& listeners, double now_ms);

/** The 48-bit packet index that a sequence number most likely belongs to; `highest` is 0 or more (rollover.ts). */
double guess_index(double highest, uint32_t sequence);
/** Whether `index` was not accepted yet and is not older than the window (replay-window.ts). */
bool accepts(const WindowWords& window, double index);
/** Marks `index` as accepted. */
void commit(WindowWords* window, double index);

/** A whole number of JavaScript; 0 for one beyond 2^53, which no page holds. */
inline int64_t whole_of(double value) {
  return value > -9007199254740992.0 && value < 9007199254740992.0 ? static_cast<int64_t>(value) : 0;
}
/** Its lowest 32 bits. */
inline uint32_t lowest32(double value) { return static_cast<uint32_t>(whole_of(value)); }

/** JavaScript's Math.round. */
double rounded(double value);
inline double ms_to_samples(double ms) { return rounded(ms * kSamplesPerMs); }
inline double samples_to_ms(double samples) { return samples / kSamplesPerMs; }

}  // namespace parley

#endif
