#include "voice.h"

#include <cmath>
#include <cstring>

namespace parley {
namespace {

constexpr int kFrame = static_cast<int>(kVoiceFrame);
constexpr int kWindow = 2 * kFrame;
constexpr int kDecimated = static_cast<int>(kDecimatedWindow);
constexpr int kDecimation = 4;
constexpr int kDecimatedFrame = kFrame / kDecimation;
constexpr int kDecimatedFrames = kDecimated / kDecimatedFrame;
constexpr int kMatch = 60;
constexpr int kMinLag = 5;
constexpr int kMaxLag = 33;
constexpr int kPairs = 4;
constexpr int kLagsAtOnce = 2 * kPairs;
constexpr double kVoicedCorrelation = 0.6;
constexpr double kHighPass = 0.9;
constexpr double kHighPass2 = kHighPass * kHighPass;
constexpr double kHighPass4 = kHighPass2 * kHighPass2;
constexpr double kSmallestOut = 1e-15;
/** Of samples of 16 bits. */
constexpr float kPerUnit = 1.0f / 32768;
constexpr double kSilenceDb = -100;
constexpr double kSilenceEnergy = 1e-10;
constexpr double kDtmfShare = 0.8;
constexpr double kDtmfEach = 0.1;

constexpr double kLowestFloor = -65;
constexpr double kHighestFloor = -20;
constexpr double kLowestOnset = -50;
constexpr double kLowestSpeech = -52;
constexpr double kOnsetAboveFloor = 7;
constexpr double kSpeechAboveFloor = 5;
constexpr double kFloorFall = 0.3;
constexpr double kFloorRise = 0.05;
constexpr double kFloorJump = 0.2;
constexpr uint32_t kOnsetWindow = 0x3f;
constexpr int kOnsetLoud = 4;
constexpr int kOnsetVoiced = 3;
constexpr int kMaxRunUp = 30;
constexpr int kMaxPause = 2;
constexpr double kNoiseAfterFrames = 30;
constexpr double kVoicelessEndFrames = 60;
constexpr double kSteadyFrames = 200;
constexpr double kSteadyDb = 1;
constexpr double kVoiceCheckEvery = 4;

double larger(double a, double b) { return a > b ? a : b; }
double smaller(double a, double b) { return a < b ? a : b; }

/** What a number of JavaScript is as a mask of 32 bits. */
uint32_t mask_of(double value) {
  return value >= INT32_MIN && value <= INT32_MAX ? static_cast<uint32_t>(static_cast<int32_t>(value)) : 0;
}

/** Two numbers in one register. */
typedef double Pair __attribute__((vector_size(2 * sizeof(double))));
typedef float FloatPair __attribute__((vector_size(2 * sizeof(float))));

Pair pair_at(const double* from) {
  Pair pair;
  memcpy(&pair, from, sizeof pair);
  return pair;
}

void store_floats(float* to, Pair pair) {
  const FloatPair floats = __builtin_convertvector(pair, FloatPair);
  memcpy(to, &floats, sizeof floats);
}

/** Which of the frames at 2 kHz is the oldest; also of a damaged page one of them. */
int oldest_frame(const VoiceMemory& voice) {
  const double oldest = voice.cues.oldest;
  return oldest >= 0 && oldest < kDecimatedFrames ? static_cast<int>(oldest) : 0;
}

/** VoiceCues.push, without keeping what comes out of the high-pass, `out`, as the last frame: the filter's recursion is over four samples, so that four are computed at once. */
void push_cues(VoiceMemory* voice, const float* frame, float (&out)[kFrame]) {
  CueWords& cues = voice->cues;
  double in[1 + kFrame];
  in[0] = cues.lastIn;
  for (int i = 0; i < kFrame; i += 2) {
    FloatPair floats;
    memcpy(&floats, frame + i, sizeof floats);
    const Pair pair = __builtin_convertvector(floats, Pair);
    memcpy(in + 1 + i, &pair, sizeof pair);
  }
  // Differences and their sums with the one before; those of the samples before the frame are in `lastOut`.
  double differences[1 + kFrame];
  double sums[2 + kFrame];
  differences[0] = sums[0] = sums[1] = 0;
  for (int i = 0; i < kFrame; i += 2) {
    const Pair difference = pair_at(in + 1 + i) - pair_at(in + i);
    memcpy(differences + 1 + i, &difference, sizeof difference);
  }
  for (int i = 0; i < kFrame; i += 2) {
    const Pair sum = pair_at(differences + 1 + i) + kHighPass * pair_at(differences + i);
    memcpy(sums + 2 + i, &sum, sizeof sum);
  }
  const double last_out = cues.lastOut;
  Pair low = {last_out / (kHighPass2 * kHighPass), last_out / kHighPass2};
  Pair high = {last_out / kHighPass, last_out};
  Pair low_energy = {};
  Pair high_energy = {};
  const int oldest = oldest_frame(*voice);
  float* decimated = voice->decimated + oldest * kDecimatedFrame;
  cues.oldest = (oldest + 1) % kDecimatedFrames;
  for (int i = 0; i < kFrame; i += kDecimation) {
    low = pair_at(sums + 2 + i) + kHighPass2 * pair_at(sums + i) + kHighPass4 * low;
    high = pair_at(sums + 4 + i) + kHighPass2 * pair_at(sums + 2 + i) + kHighPass4 * high;
    low_energy += low * low;
    high_energy += high * high;
    store_floats(out + i, low);
    store_floats(out + i + 2, high);
    decimated[i / kDecimation] = static_cast<float>((low[0] + low[1]) + (high[0] + high[1]));
  }
  const double energy = (low_energy[0] + low_energy[1]) + (high_energy[0] + high_energy[1]);
  cues.lastIn = in[kFrame];
  cues.lastOut = std::fabs(high[1]) < kSmallestOut ? 0 : high[1];
  cues.level = energy > kSilenceEnergy ? decibels(energy / kFrame) : kSilenceDb;
}

/** Samples of -1 to 1, which are exact. */
void convert(const int16_t* from, int count, float* to) {
  typedef int16_t Whole __attribute__((vector_size(4 * sizeof(int16_t))));
  typedef float Floats __attribute__((vector_size(4 * sizeof(float))));
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    Whole samples;
    memcpy(&samples, from + i, sizeof samples);
    const Floats floats = __builtin_convertvector(samples, Floats) * kPerUnit;
    memcpy(to + i, &floats, sizeof floats);
  }
  for (; i < count; i++) to[i] = static_cast<float>(from[i]) * kPerUnit;
}

/** Whether the last 30 ms repeat themselves. Several lags are summed in one loop, each in its own order. */
bool is_voiced(const VoiceMemory* voice) {
  double x[kDecimated];
  const int newer = kDecimated - oldest_frame(*voice) * kDecimatedFrame;
  for (int i = 0; i < newer; i++) x[i] = voice->decimated[kDecimated - newer + i];
  for (int i = newer; i < kDecimated; i++) x[i] = voice->decimated[i - newer];
  constexpr int kFrom = kDecimated - kMatch;
  double energy = kSilenceEnergy;
  double earlier = kSilenceEnergy;
  for (int i = kFrom; i < kDecimated; i++) energy += x[i] * x[i];
  for (int i = kFrom - kMinLag; i < kDecimated - kMinLag; i++) earlier += x[i] * x[i];
  for (int first = kMinLag; first <= kMaxLag; first += kLagsAtOnce) {
    // The longest lag comes first, and one beyond the last still lies in the window.
    const int longest = first + kLagsAtOnce - 1;
    Pair products[kPairs] = {};
    for (int i = kFrom; i < kDecimated; i++) {
#pragma GCC unroll 4
      for (int pair = 0; pair < kPairs; pair++) products[pair] += x[i] * pair_at(x + i - longest + 2 * pair);
    }
    for (int lag = first; lag <= longest && lag <= kMaxLag; lag++) {
      const double product = products[(longest - lag) >> 1][(longest - lag) & 1];
      if (product > 0 && product * product > kVoicedCorrelation * kVoicedCorrelation * energy * earlier) return true;
      const double entering = x[kFrom - lag - 1];
      const double leaving = x[kDecimated - lag - 1];
      earlier = larger(kSilenceEnergy, earlier + entering * entering - leaving * leaving);
    }
  }
  return false;
}

static_assert(kDecimated - kMatch - (kMinLag + (kMaxLag - kMinLag) / kLagsAtOnce * kLagsAtOnce + kLagsAtOnce - 1) >= 0,
              "the last lags that are summed at once must lie in the window");

/** The largest energy of four frequencies in the window (Goertzel). */
double strongest(const float (&window)[kWindow], const double* coefficients) {
  double s1[4] = {};
  double s2[4] = {};
  for (int i = 0; i < kWindow; i++) {
    const double sample = window[i];
    for (int k = 0; k < 4; k++) {
      const double s = sample + coefficients[k] * s1[k] - s2[k];
      s2[k] = s1[k];
      s1[k] = s;
    }
  }
  double most = 0;
  for (int k = 0; k < 4; k++) {
    const double found = (2.0 / kWindow) * (s1[k] * s1[k] + s2[k] * s2[k] - coefficients[k] * s1[k] * s2[k]);
    most = larger(most, found);
  }
  return most;
}

/** Of the last frame and the one before. */
bool is_dtmf(const float (&before)[kFrame], const float (&last)[kFrame], const double (&coefficients)[kDtmfTones]) {
  float window[kWindow];
  memcpy(window, before, sizeof before);
  memcpy(window + kFrame, last, sizeof last);
  double energy = kSilenceEnergy;
  for (int i = 0; i < kWindow; i++) energy += static_cast<double>(window[i]) * window[i];
  const double row = strongest(window, coefficients) / energy;
  const double column = strongest(window, coefficients + 4) / energy;
  return row + column > kDtmfShare && row > kDtmfEach && column > kDtmfEach;
}

struct Activity {
  VoiceMemory* voice;
  const double (&coefficients)[kDtmfTones];
  VoiceEdges* edges;

  VoiceWords& state() const { return voice->state; }

  void put(bool is_start, double position) const {
    if (edges->count == kMostEdges) return;
    edges->is_start[edges->count] = is_start;
    edges->position[edges->count++] = position;
  }

  void set_floor(double level) const { state().floor = larger(kLowestFloor, smaller(kHighestFloor, level)); }

  void on_frame(const float* frame) const {
    float out[kFrame];
    push_cues(voice, frame, out);
    VoiceWords& s = state();
    const double level = voice->cues.level;
    s.smooth += 0.25 * (level - s.smooth);
    if (std::fabs(s.smooth - s.steadyLevel) <= kSteadyDb) {
      s.steadyFrames++;
    } else {
      s.steadyLevel = s.smooth;
      s.steadyFrames = 0;
    }
    if (s.isSpeaking != 0) {
      while_speaking(level);
    } else {
      while_quiet(level, out);
    }
    memcpy(voice->last, out, sizeof out);
  }

  void while_quiet(double level, const float (&out)[kFrame]) const {
    VoiceWords& s = state();
    const bool loud = level > larger(s.floor + kOnsetAboveFloor, kLowestOnset);
    const bool voiced = loud && s.steadyFrames < kSteadyFrames && is_voiced(voice) && !is_dtmf(voice->last, out, coefficients);
    const uint32_t louds = mask_of(s.loud) << 1 | (loud ? 1 : 0);
    const uint32_t voiceds = mask_of(s.voiced) << 1 | (voiced ? 1 : 0);
    s.loud = static_cast<int32_t>(louds);
    s.voiced = static_cast<int32_t>(voiceds);
    s.loudRun = loud ? s.loudRun + 1 : 0;
    if (__builtin_popcount(louds & kOnsetWindow) >= kOnsetLoud && __builtin_popcount(voiceds & kOnsetWindow) >= kOnsetVoiced) {
      start(louds);
    } else {
      track_floor(level, loud);
    }
  }

  void track_floor(double level, bool loud) const {
    VoiceWords& s = state();
    double share = kFloorRise;
    if (level < s.floor) {
      share = kFloorFall;
    } else if (loud) {
      share = s.loudRun > kNoiseAfterFrames ? kFloorJump : 0;
    }
    set_floor(s.floor + share * (level - s.floor));
  }

  void start(uint32_t louds) const {
    VoiceWords& s = state();
    int onset = 0;
    int pause = 0;
    for (int back = 1; back < kMaxRunUp && pause <= kMaxPause; back++) {
      if ((louds >> back) & 1) {
        onset = back;
        pause = 0;
      } else {
        pause++;
      }
    }
    s.isSpeaking = 1;
    s.quietFrames = 0;
    s.voicelessFrames = 0;
    put(true, larger(s.framePosition - onset * kFrame, s.lastSpeechEnd));
    s.lastSpeechEnd = s.framePosition + kFrame;
  }

  void while_speaking(double level) const {
    VoiceWords& s = state();
    if (level < s.floor) set_floor(s.floor + kFloorFall * (level - s.floor));
    const bool loud = level > larger(s.floor + kSpeechAboveFloor, kLowestSpeech);
    if (!loud) {
      if (++s.quietFrames >= s.hangoverFrames) end();
      return;
    }
    s.quietFrames = 0;
    s.lastSpeechEnd = s.framePosition + kFrame;
    s.voicelessFrames++;
    const double checks = s.voicelessFrames / kVoiceCheckEvery;
    if (checks == std::floor(checks) && is_voiced(voice)) s.voicelessFrames = 0;
    if (s.voicelessFrames >= kVoicelessEndFrames || s.steadyFrames >= kSteadyFrames) {
      set_floor(s.smooth);
      end();
    }
  }

  void end() const {
    VoiceWords& s = state();
    s.isSpeaking = 0;
    s.loud = 0;
    s.voiced = 0;
    s.loudRun = 0;
    put(false, s.lastSpeechEnd);
  }
};

}  // namespace

const float* next_decimated(const VoiceMemory& voice) { return voice.decimated + oldest_frame(voice) * kDecimatedFrame; }

double decibels(double power) {
  constexpr double kLn2High = 0.6931471803691238;
  constexpr double kLn2Low = 1.9082149292705877e-10;
  constexpr double kC1 = 0.6666666666666735;
  constexpr double kC2 = 0.3999999999940942;
  constexpr double kC3 = 0.2857142874366239;
  constexpr double kC4 = 0.22222198432149784;
  constexpr double kC5 = 0.1818357216161805;
  constexpr double kC6 = 0.15313837699209373;
  constexpr double kC7 = 0.14798198605116586;
  constexpr double kTenOverLn10 = 4.342944819032518;
  constexpr double kSqrt2 = 1.4142135623730951;
  uint64_t bits;
  memcpy(&bits, &power, sizeof bits);
  double exponent = static_cast<double>(static_cast<int>(bits >> 52) - 1023);
  bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
  double mantissa;
  memcpy(&mantissa, &bits, sizeof mantissa);
  if (mantissa > kSqrt2) {
    mantissa *= 0.5;
    exponent++;
  }
  const double f = mantissa - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double w = z * z;
  const double even = w * (kC2 + w * (kC4 + w * kC6));
  const double odd = z * (kC1 + w * (kC3 + w * (kC5 + w * kC7)));
  const double half = 0.5 * f * f;
  const double ln = exponent * kLn2High - (half - (s * (half + (odd + even)) + exponent * kLn2Low) - f);
  return kTenOverLn10 * ln;
}

void push_voice(VoiceMemory* voice, const double (&coefficients)[kDtmfTones], double position, const int16_t* audio, int count,
                VoiceEdges* edges) {
  VoiceWords& s = voice->state;
  const Activity activity = {voice, coefficients, edges};
  if (position != s.framePosition + s.filled) {
    s.framePosition = position;
    s.filled = 0;
  }
  // Never more than a frame, also if the page was damaged.
  int filled = s.filled >= 0 && s.filled < kFrame ? static_cast<int>(s.filled) : 0;
  for (int done = 0; done < count;) {
    const int taken = kFrame - filled < count - done ? kFrame - filled : count - done;
    float whole[kFrame];
    float* frame = taken == kFrame ? whole : voice->frame;
    convert(audio + done, taken, frame + filled);
    done += taken;
    filled += taken;
    s.filled = filled;
    if (filled < kFrame) continue;
    activity.on_frame(frame);
    s.framePosition += kFrame;
    s.filled = 0;
    filled = 0;
  }
}

}  // namespace parley
