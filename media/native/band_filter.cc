#include "band_filter.h"

#include <cstring>

#include "media_call.h"

namespace parley {
namespace {

constexpr int kMostCount = 480;
/** Outputs whose sums are made together, two in each register. */
constexpr int kTogether = 4;

typedef double Pair __attribute__((vector_size(2 * sizeof(double))));

Pair pair_at(const double* from) {
  Pair pair;
  memcpy(&pair, from, sizeof pair);
  return pair;
}

int16_t sample_of(double sum) {
  const double whole = rounded(sum);
  return static_cast<int16_t>(whole > 32767 ? 32767 : whole >= -32768 ? whole : -32768);
}

}  // namespace

int band_taps(const BandMemory& band) {
  const double taps = band.state.taps;
  return taps >= 1 && taps <= kMostTaps ? static_cast<int>(taps) : 0;
}

void filter_band(BandMemory* band, const int16_t* audio, int count, int16_t* into) {
  const int size = band_taps(*band);
  const int half = size >> 1;
  double line[kMostTaps - 1 + kMostCount + kTogether] = {};
  bool is_zero = true;
  for (int i = 0; i < size - 1; i++) {
    line[i] = band->history[i];
    if (band->history[i] != 0) is_zero = false;
  }
  for (int i = 0; i < count; i++) {
    line[size - 1 + i] = audio[i];
    if (audio[i] != 0) is_zero = false;
  }
  if (is_zero) {
    memset(into, 0, count * sizeof(int16_t));
    return;
  }
  const double* taps = band->taps;
  for (int from = 0; from < count; from += kTogether) {
    Pair first = taps[half] * pair_at(line + from + half);
    Pair second = taps[half] * pair_at(line + from + half + 2);
    const double* left = line + from;
    const double* right = line + from + size - 1;
    for (int k = 0; k < half; k++, left++, right--) {
      first += taps[k] * (pair_at(left) + pair_at(right));
      second += taps[k] * (pair_at(left + 2) + pair_at(right + 2));
    }
    const double sums[kTogether] = {first[0], first[1], second[0], second[1]};
    for (int i = 0; i < kTogether && from + i < count; i++) into[from + i] = sample_of(sums[i]);
  }
  for (int i = 0; i < size - 1; i++) band->history[i] = static_cast<int16_t>(line[count + i]);
}

}  // namespace parley
