// ITU-T G.711, as media/src/codec/g711.ts computes it.
#ifndef PARLEY_MEDIA_G711_H
#define PARLEY_MEDIA_G711_H

#include <cstddef>
#include <cstdint>

namespace parley {

enum Law { kNoLaw, kMuLaw, kALaw, kLaws };

struct G711 {
  /** By law and code. */
  int16_t sample[kLaws][256];
  /** The mu-law of what a code sounds like: a recording's byte for a received one. */
  uint8_t recorded[kLaws][256];
  /** Index: the sample's upper 14 bits, as unsigned. */
  uint8_t mu_law[1 << 14];
  /** Index: the sample's upper 12 bits, as unsigned. */
  uint8_t a_law[1 << 12];
  G711();
};

/** The tables, which are filled when the addon is loaded. */
extern const G711 kG711;

void encode(Law law, const int16_t* samples, size_t count, uint8_t* to);
inline uint8_t mu_law_of(int16_t sample) { return kG711.mu_law[(sample >> 2) & 0x3fff]; }

}  // namespace parley

#endif
