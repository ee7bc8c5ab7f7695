// From packets to one continuous stream on the sample clock: ReceiveStream (receive-stream.ts), SourceClock and ClockSkew, for a
// call whose re-order buffer is empty.
#ifndef PARLEY_MEDIA_STREAM_H
#define PARLEY_MEDIA_STREAM_H

#include "media_call.h"

namespace parley {

/** The packet that is next in sequence. */
struct AudioPacket {
  int16_t samples[kMostSamples];
  size_t count;
  uint32_t timestamp;
  double arrived_at;
  /** What the recording holds of the samples. */
  const uint8_t* recorded;
};

/** What the stream does at one moment, computed before anything changes. */
struct StreamPlan {
  ClockWords clock;
  SkewWords skew;
  enum { kNoPacket, kPlaced, kTooLate, kTooEarly } packet;
  /** Of a packet that is placed. */
  double place;
  /** Lateness up to which a packet counts from now on, ms. */
  double hold;
  /** Position up to which the stream is filled, also where packets are missing. */
  double overdue;
};

/**
 * Plans what is heard at `now_ms`, with `packet` if it is not null; false: it is for TypeScript (more than 600 ms are missing, or
 * the page holds what TypeScript does not write, or `events` has no room for what may be found).
 */
bool plan_stream(const CallPage& page, double now_ms, const AudioPacket* packet, const Events& events, StreamPlan* plan);

/** Where audio goes that is heard. */
struct Listeners {
  const Call& call;
  int32_t id;
  const double (&coefficients)[kDtmfTones];
  Events* events;

  /** `recorded`: what the recording holds of the samples; null: to be encoded. */
  void hear(const int16_t* audio, size_t count, double position, const uint8_t* recorded) const;
};

/** Does what was planned. */
void pull_stream(const Listeners& listeners, double now_ms, AudioPacket* packet, const StreamPlan& plan);

}  // namespace parley

#endif
