// The state of one call that TypeScript and the native media path both read and change: numbers in the order of the `*Words` of
// media/src, each in the file of its class, then arrays. media/src/session/call-page.ts lays out the same memory.
#ifndef PARLEY_MEDIA_CALL_PAGE_H
#define PARLEY_MEDIA_CALL_PAGE_H

#include <cstddef>
#include <cstdint>

#define PARLEY_INBOUND(W) W(ready) W(advances) W(openedAtMs) W(ssrc) W(hearingUntilMs) W(heardStarted) W(detectsVoice) W(clockRate)
#define PARLEY_OUTBOUND(W)                                                                                                  \
  W(ready) W(law) W(ssrc) W(timestampBase) W(payloadType) W(frameSamples) W(sequence) W(end) W(resuming) W(playing)        \
  W(sinceProgress)
#define PARLEY_INTERVALS(W) W(nextAtMs)
#define PARLEY_REPORTS(W) W(nextAtMs)
#define PARLEY_LATCH(W) W(ipv4) W(port) W(secure) W(latched) W(ssrc) W(lastMs) W(nextPackets)
#define PARLEY_RECEPTION(W)                                                                                                \
  W(jitterTicks) W(jitterSum) W(jitterCount) W(jitterMaxTicks) W(pauses) W(expectedPrior) W(receivedPrior) W(lastSequence) \
  W(lastTimestamp) W(lastArrivalMs) W(gapExpected)
#define PARLEY_SEQUENCE(W) W(received) W(highest) W(cycles) W(base) W(bad) W(probation)
#define PARLEY_COUNTERS(W)                                                                                                 \
  W(packetsSent) W(octetsSent) W(packetsReceived) W(unauthenticated) W(replayed) W(foreign) W(malformed) W(missedSlots)    \
  W(clearRtcp)
#define PARLEY_WATCHDOG(W) W(expecting) W(limitMs) W(sinceMs) W(silent)
#define PARLEY_STREAM(W)                                                                                                   \
  W(position) W(silent) W(held) W(gapUntil) W(gapSilent) W(packetAt) W(packetLeft) W(packetBegun) W(lastPullMs)            \
  W(stallOver) W(law) W(stalledSince) W(tooLate) W(early) W(concealedSamples) W(holdMs)
#define PARLEY_CLOCK(W) W(anchored) W(clockRate) W(timestamp) W(position) W(lateSince) W(anchors) W(skewCorrection)
#define PARLEY_SKEW(W) W(due) W(windowEnds) W(least)
#define PARLEY_CONCEALMENT(W) \
  W(active) W(gap) W(pitch) W(periods) W(phase) W(oldPeriods) W(oldPhase) W(crossfade) W(step) W(oldest)
#define PARLEY_REORDER(W) W(next) W(waiting) W(restarted)
#define PARLEY_VOICE(W)                                                                                                    \
  W(isSpeaking) W(hangoverFrames) W(filled) W(framePosition) W(floor) W(smooth) W(steadyLevel) W(steadyFrames) W(loud)     \
  W(voiced) W(loudRun) W(quietFrames) W(voicelessFrames) W(lastSpeechEnd)
#define PARLEY_CUES(W) W(level) W(lastIn) W(lastOut) W(oldest)
#define PARLEY_BAND(W) W(taps)

namespace parley {

#define PARLEY_WORD(name) double name;
#define PARLEY_STRUCT(Name, LIST) \
  struct Name {                   \
    LIST(PARLEY_WORD)             \
  };
PARLEY_STRUCT(InboundWords, PARLEY_INBOUND)
PARLEY_STRUCT(OutboundWords, PARLEY_OUTBOUND)
PARLEY_STRUCT(IntervalWords, PARLEY_INTERVALS)
PARLEY_STRUCT(ReportWords, PARLEY_REPORTS)
PARLEY_STRUCT(LatchWords, PARLEY_LATCH)
PARLEY_STRUCT(ReceptionWords, PARLEY_RECEPTION)
PARLEY_STRUCT(SequenceWords, PARLEY_SEQUENCE)
PARLEY_STRUCT(CounterWords, PARLEY_COUNTERS)
PARLEY_STRUCT(WatchdogWords, PARLEY_WATCHDOG)
PARLEY_STRUCT(StreamWords, PARLEY_STREAM)
PARLEY_STRUCT(ClockWords, PARLEY_CLOCK)
PARLEY_STRUCT(SkewWords, PARLEY_SKEW)
PARLEY_STRUCT(ConcealmentWords, PARLEY_CONCEALMENT)
PARLEY_STRUCT(ReorderWords, PARLEY_REORDER)
PARLEY_STRUCT(VoiceWords, PARLEY_VOICE)
PARLEY_STRUCT(CueWords, PARLEY_CUES)
PARLEY_STRUCT(BandWords, PARLEY_BAND)
#undef PARLEY_STRUCT
#undef PARLEY_WORD

constexpr size_t kReplayWords = 8;
constexpr size_t kReorderSlots = 32;
constexpr size_t kHistorySamples = 390;
constexpr size_t kVoiceFrame = 80;
constexpr size_t kDecimatedWindow = 100;
constexpr size_t kMostTaps = 128;
constexpr size_t kPayloadTypes = 128;

/** A replay window: the highest index, then its ring of bits, 32 to a number. */
struct WindowWords {
  double highest;
  double bits[kReplayWords];
};

struct VoiceMemory {
  VoiceWords state;
  CueWords cues;
  /** The first samples of a frame whose others have not come yet. */
  float frame[kVoiceFrame];
  /** The last frame behind the high-pass. */
  float last[kVoiceFrame];
  /** Frames at 2 kHz, each at the place of the one that it replaced. */
  float decimated[kDecimatedWindow];
};

/** The low-pass before voice activity; its last samples are its newest ones. */
struct BandMemory {
  BandWords state;
  double taps[kMostTaps];
  int16_t history[kMostTaps];
};

struct CallPage {
  InboundWords inbound;
  OutboundWords outbound;
  IntervalWords intervals;
  ReportWords reports;
  LatchWords latch;
  ReceptionWords reception;
  SequenceWords received;
  CounterWords counters;
  WatchdogWords watchdog;
  StreamWords stream;
  ClockWords clock;
  SkewWords skew;
  ConcealmentWords concealment;
  ReorderWords reorder;
  SequenceWords reordered;
  double seen[kReorderSlots];
  WindowWords opened;
  WindowWords sealed;
  VoiceMemory voice;
  BandMemory band;
  /** 1 mu-law, 2 A-law, by payload type; 0: not for the native path. */
  uint8_t laws[kPayloadTypes];
  /** The history as it was when a gap began. */
  alignas(8) float source[kHistorySamples];
  /** The last samples that were heard, a ring. */
  alignas(8) int16_t history[kHistorySamples];
};

}  // namespace parley

#endif
