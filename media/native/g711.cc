#include "g711.h"

namespace parley {
namespace {

int highest_bit(unsigned value) { return 31 - __builtin_clz(value); }

/** G.711 table 2: magnitude + 33, segment by its highest bit, four bits below that, everything inverted. */
uint8_t compress_mu_law(int sample14) {
  const int magnitude = (sample14 < 0 ? ~sample14 : sample14) + 33;
  const unsigned biased = static_cast<unsigned>(magnitude < 0x1fff ? magnitude : 0x1fff);
  const int segment = highest_bit(biased) - 5;
  const int step = (biased >> (segment + 1)) & 0x0f;
  return static_cast<uint8_t>(~((sample14 < 0 ? 0x80 : 0) | (segment << 4) | step));
}

int16_t expand_mu_law(int code) {
  const int bits = ~code & 0xff;
  const int magnitude = ((((bits & 0x0f) << 1) + 33) << ((bits >> 4) & 7)) - 33;
  return static_cast<int16_t>((bits & 0x80 ? -magnitude : magnitude) * 4);
}

/** G.711 table 1: two equal lowest segments, then doubling ones; even bits inverted, positive has the top bit. */
uint8_t compress_a_law(int sample12) {
  const int magnitude = sample12 < 0 ? ~sample12 : sample12;
  const int segment = magnitude < 32 ? magnitude >> 4 : highest_bit(static_cast<unsigned>(magnitude)) - 3;
  const int step = (segment == 0 ? magnitude : magnitude >> (segment - 1)) & 0x0f;
  return static_cast<uint8_t>(((sample12 < 0 ? 0 : 0x80) | (segment << 4) | step) ^ 0x55);
}

int16_t expand_a_law(int code) {
  const int bits = code ^ 0x55;
  const int segment = (bits >> 4) & 7;
  const int step = ((bits & 0x0f) << 1) + 1;
  const int magnitude = segment == 0 ? step : (step + 32) << (segment - 1);
  return static_cast<int16_t>((bits & 0x80 ? magnitude : -magnitude) * 8);
}

}  // namespace

G711::G711() {
  for (int i = 0; i < 1 << 14; i++) mu_law[i] = compress_mu_law(i < 1 << 13 ? i : i - (1 << 14));
  for (int i = 0; i < 1 << 12; i++) a_law[i] = compress_a_law(i < 1 << 11 ? i : i - (1 << 12));
  for (int code = 0; code < 256; code++) {
    sample[kNoLaw][code] = 0;
    sample[kMuLaw][code] = expand_mu_law(code);
    sample[kALaw][code] = expand_a_law(code);
    for (int law = 0; law < kLaws; law++) recorded[law][code] = mu_law[(sample[law][code] >> 2) & 0x3fff];
  }
}

const G711 kG711;

void encode(Law law, const int16_t* samples, size_t count, uint8_t* to) {
  if (law == kMuLaw) {
    for (size_t i = 0; i < count; i++) to[i] = mu_law_of(samples[i]);
  } else {
    for (size_t i = 0; i < count; i++) to[i] = kG711.a_law[(samples[i] >> 4) & 0xfff];
  }
}

}  // namespace parley
