// The low-pass before voice activity: LowPassFilter (low-pass-filter.ts), bit for bit.
#ifndef PARLEY_MEDIA_BAND_FILTER_H
#define PARLEY_MEDIA_BAND_FILTER_H

#include <cstdint>

#include "call_page.h"

namespace parley {

/** Number of the filter's taps; 0: the page has no filter, or is damaged. */
int band_taps(const BandMemory& band);

/** Filters `count` samples, at most 480, with the filter of the page. */
void filter_band(BandMemory* band, const int16_t* audio, int count, int16_t* into);

}  // namespace parley

#endif
