#include "concealment.h"

#include <cmath>
#include <cstring>

#include "media_call.h"

namespace parley {
namespace {

constexpr int kHistory = static_cast<int>(kHistorySamples);
constexpr int kOverlap = 30;
constexpr int kOverlapGrowth = 32;
constexpr int kMaxOverlap = 80;
constexpr int kStep = 80;
constexpr int kMaxPeriods = 3;
constexpr int kMutedAfter = 480;
constexpr double kFadePerSample = 0.2 / kStep;

constexpr int kMinLag = 40;
constexpr int kMaxLag = 120;
constexpr int kMatched = 80;

int whole_int(double value) { return static_cast<int>(whole_of(value)); }

/** How well the last 20 ms, every `stride`th sample of them, match those `lag` earlier. Sums of 16-bit products are exact. */
double match(const int16_t* history, int lag, int stride) {
  int64_t product = 0;
  int64_t energy = 1;
  for (int i = kHistory - 2 * kMatched; i < kHistory; i += stride) {
    const int64_t earlier = history[i - lag];
    product += history[i] * earlier;
    energy += earlier * earlier;
  }
  return static_cast<double>(product) / std::sqrt(static_cast<double>(energy));
}

int find_pitch(const int16_t* history) {
  int coarse = kMinLag;
  double best_match = match(history, kMinLag, 2);
  for (int lag = kMinLag + 1; lag <= kMaxLag; lag++) {
    const double found = match(history, lag, 2);
    if (found > best_match) {
      best_match = found;
      coarse = lag;
    }
  }
  int best = coarse;
  best_match = -INFINITY;
  for (int lag = coarse > kMinLag ? coarse - 1 : kMinLag; lag <= kMaxLag && lag <= coarse + 1; lag++) {
    const double found = match(history, lag, 1);
    if (found > best_match) {
      best_match = found;
      best = lag;
    }
  }
  return best;
}

}  // namespace

const int16_t* oldest_heard(const CallPage& page) {
  const double oldest = page.concealment.oldest;
  return page.history + (oldest >= 0 && oldest < kHistory ? static_cast<size_t>(oldest) : 0);
}

void Concealment::remember(const int16_t* samples, size_t count) {
  const size_t retained = count < kHistorySamples ? count : kHistorySamples;
  const int16_t* from = samples + count - retained;
  const size_t at = static_cast<size_t>(oldest_heard(*page_) - page_->history);
  const size_t first = retained < kHistorySamples - at ? retained : kHistorySamples - at;
  memcpy(page_->history + at, from, first * sizeof *from);
  memcpy(page_->history, from + first, (retained - first) * sizeof *from);
  page_->concealment.oldest = static_cast<double>((at + retained) % kHistorySamples);
}

bool Concealment::is_valid() const {
  const ConcealmentWords& s = page_->concealment;
  const auto is_within = [](double value, int least, int most) {
    return value >= least && value <= most && std::floor(value) == value;
  };
  if (!is_within(s.oldest, 0, kHistory - 1)) return false;
  if (s.active == 0) return true;
  if (!is_within(s.pitch, kMinLag, kMaxLag) || !is_within(s.periods, 1, kMaxPeriods)) return false;
  if (!is_within(s.oldPeriods, 1, kMaxPeriods) || !is_within(s.crossfade, 0, kOverlap) || !is_within(s.gap, 0, kMutedAfter)) {
    return false;
  }
  return is_within(s.phase, 0, static_cast<int>(s.periods * s.pitch) - 1) &&
         (s.crossfade == 0 || is_within(s.oldPhase, 0, static_cast<int>(s.oldPeriods * s.pitch) - 1));
}

void Concealment::good(int16_t* samples, size_t count) {
  ConcealmentWords& s = page_->concealment;
  if (s.active != 0) {
    int overlap = kOverlap + kOverlapGrowth * (whole_int(s.gap) / kStep);
    if (overlap > kMaxOverlap) overlap = kMaxOverlap;
    if (static_cast<size_t>(overlap) > count) overlap = static_cast<int>(count);
    for (int i = 0; i < overlap; i++) {
      const double weight = (i + 1.0) / (overlap + 1.0);
      samples[i] = static_cast<int16_t>(rounded(weight * samples[i] + (1 - weight) * next_sample()));
    }
    s.active = 0;
  }
  remember(samples, count);
}

size_t Concealment::conceal(int16_t* to, size_t count) {
  ConcealmentWords& s = page_->concealment;
  if (s.active == 0) begin();
  const size_t before_mute = static_cast<size_t>(kMutedAfter - whole_int(s.gap));
  for (size_t i = 0; i < count; i++) to[i] = static_cast<int16_t>(next_sample());
  remember(to, count);
  return count < before_mute ? count : before_mute;
}

void Concealment::silence(int16_t* to, size_t count) {
  const int16_t* oldest = oldest_heard(*page_);
  const double last = oldest == page_->history ? page_->history[kHistory - 1] : oldest[-1];
  const size_t decay = count < kOverlap ? count : kOverlap;
  for (size_t i = 0; i < decay; i++) {
    to[i] = static_cast<int16_t>(last * (1 - (static_cast<double>(i) + 1) / static_cast<double>(decay)));
  }
  memset(to + decay, 0, (count - decay) * sizeof *to);
  page_->concealment.active = 0;
  remember(to, count);
}

void Concealment::join() {
  if (page_->concealment.active == 0) begin();
}

void Concealment::begin() {
  ConcealmentWords& s = page_->concealment;
  int16_t history[kHistory];
  const int16_t* oldest = oldest_heard(*page_);
  const size_t first = static_cast<size_t>(page_->history + kHistory - oldest);
  memcpy(history, oldest, first * sizeof *oldest);
  memcpy(history + first, page_->history, (kHistory - first) * sizeof *oldest);
  for (int i = 0; i < kHistory; i++) page_->source[i] = history[i];
  const int pitch = find_pitch(history);
  s.pitch = pitch;
  s.active = 1;
  s.gap = 0;
  s.periods = 1;
  s.phase = 0;
  s.crossfade = 0;
  s.step = static_cast<double>(history[kHistory - 1]) - history[kHistory - 1 - pitch];
}

int Concealment::next_sample() {
  ConcealmentWords& s = page_->concealment;
  const int gap = whole_int(s.gap);
  if (gap >= kMutedAfter) return 0;
  if (gap > 0 && gap % kStep == 0 && s.periods < kMaxPeriods) {
    s.oldPeriods = s.periods;
    s.oldPhase = s.phase;
    s.crossfade = kOverlap;
    s.periods++;
  }
  const int periods = whole_int(s.periods);
  const int pitch = whole_int(s.pitch);
  const int phase = whole_int(s.phase);
  double value = repeated(periods, phase);
  if (s.crossfade > 0) {
    const int old_periods = whole_int(s.oldPeriods);
    const int old_phase = whole_int(s.oldPhase);
    const double weight = s.crossfade / (kOverlap + 1);
    value = (1 - weight) * value + weight * repeated(old_periods, old_phase);
    s.crossfade--;
    s.oldPhase = (old_phase + 1) % (old_periods * pitch);
  }
  if (gap < kOverlap) value += s.step * (1 - static_cast<double>(gap) / kOverlap);
  const double gain = gap < kStep ? 1 : 1 - kFadePerSample * (gap - kStep);
  s.gap = gap + 1;
  s.phase = (phase + 1) % (periods * pitch);
  const double sample = rounded(value * gain);
  if (!(sample > INT16_MIN)) return INT16_MIN;
  return sample < INT16_MAX ? static_cast<int>(sample) : INT16_MAX;
}

/** Sample `phase` of the last `periods` pitch periods, whose last quarter period flows into their beginning. */
double Concealment::repeated(int periods, int phase) const {
  const int pitch = whole_int(page_->concealment.pitch);
  const int length = periods * pitch;
  const double value = page_->source[kHistory - length + phase];
  const int quarter = pitch >> 2;
  const int into = phase - (length - quarter);
  if (into < 0) return value;
  const double weight = (into + 1.0) / (quarter + 1.0);
  return (1 - weight) * value + weight * page_->source[kHistory - 2 * length + phase];
}

}  // namespace parley
