// Where speech starts and ends: VoiceActivity (voice-activity.ts) and VoiceCues (voice-cues.ts), bit for bit.
#ifndef PARLEY_MEDIA_VOICE_H
#define PARLEY_MEDIA_VOICE_H

#include <cstdint>

#include "call_page.h"

namespace parley {

constexpr int kDtmfTones = 8;

/** Edges that one push can find: the audio of 60 ms has six frames. */
constexpr int kMostEdges = 8;

struct VoiceEdges {
  int count = 0;
  bool is_start[kMostEdges];
  double position[kMostEdges];
};

/** Where the next frame at 2 kHz is written. */
const float* next_decimated(const VoiceMemory& voice);
/** 10 log10(power) of a normal number above 0 (decibels.ts). */
double decibels(double power);

/** Analyses `count` samples, at most 480, the first at `position`. `coefficients`: Goertzel's of the DTMF tones, rows first. */
void push_voice(VoiceMemory* voice, const double (&coefficients)[kDtmfTones], double position, const int16_t* audio, int count,
                VoiceEdges* edges);

}  // namespace parley

#endif
