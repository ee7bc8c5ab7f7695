// The rings that a call's threads share: SessionRings (session-rings.ts) and RecordingRing (recording-ring.ts), as the media
// thread uses them. Words of their headers are read and written as JavaScript's Atomics do.
#ifndef PARLEY_MEDIA_RINGS_H
#define PARLEY_MEDIA_RINGS_H

#include <cstddef>
#include <cstdint>

namespace parley {

/** Playout and heard audio. */
struct SessionRings {
  int32_t* header = nullptr;
  int16_t* out = nullptr;
  int16_t* heard = nullptr;
  uint32_t out_samples = 0;
  uint32_t heard_samples = 0;

  /** False: memory of this length holds no rings. */
  bool attach(void* memory, size_t bytes);
  /** Moves up to `count` samples to `into`; returns how many there were. */
  uint32_t take_outbound(int16_t* into, uint32_t count) const;
  uint32_t outbound_taken() const;
  void write_heard(const int16_t* audio, uint32_t count) const;
  /** Where the next samples are taken and written. */
  const int16_t* next_outbound() const;
  const int16_t* next_heard() const;
  /** An edge that was found in the `count` samples which are written next. */
  void write_voice_edge(bool is_start, int32_t position, uint32_t count) const;
};

/** A channel of a recording: RecordingChannel of recording-channel.ts. */
struct RecordingChannel {
  int32_t* published = nullptr;
  /** Position from which on the second half is used; 0: not yet. */
  int32_t* doubled = nullptr;
  uint8_t* first = nullptr;
  uint8_t* second = nullptr;
  int64_t half = 0;

  void make_room(int64_t read, int64_t until) const;
  uint8_t* at(int64_t position) const;
  /** Samples from `position` on that follow each other in memory. */
  int64_t run_from(int64_t position) const;
};

/** The two mu-law channels of a recording. */
struct RecordingRing {
  int32_t* header = nullptr;
  RecordingChannel left;
  RecordingChannel right;

  bool attach(void* memory, size_t bytes);
  /** Writes `count` mu-law bytes at `position`. Missing audio before it becomes silence; audio already written stays. */
  void write_left(int64_t position, const uint8_t* bytes, int64_t count) const;
  void write_right(int64_t position, const uint8_t* bytes, int64_t count) const;
  /** Where the next bytes are written. */
  const uint8_t* next_left() const;
  const uint8_t* next_right() const;
  /** Of each channel `frames` bytes from the read position on, silence where it has none, in blocks to `pair`; returns how many. */
  size_t copy(size_t frames, uint8_t* into, bool swap, void (*pair)(const uint8_t*, const uint8_t*, size_t, uint8_t*)) const;
};

}  // namespace parley

#endif
