#include "voice.h"

#include <cmath>
#include <cstring>

namespace parley {
namespace {

constexpr int kFrame = static_cast<int>(kVoiceFrame);
constexpr int kWindow = static_cast<int>(kVoiceWindow);
constexpr int kDecimated = static_cast<int>(kDecimatedWindow);
constexpr int kDecimation = 4;
constexpr int kDecimatedFrame = kFrame / kDecimation;
constexpr int kMatch = 60;
constexpr int kMinLag = 5;
constexpr int kMaxLag = 33;
constexpr int kLagsAtOnce = 4;
constexpr double kVoicedCorrelation = 0.6;
constexpr double kHighPass = 0.9;
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

void push_cues(VoiceMemory* voice) {
  CueWords& cues = voice->cues;
  memmove(voice->window, voice->window + kFrame, (kWindow - kFrame) * sizeof(float));
  memmove(voice->decimated, voice->decimated + kDecimatedFrame, (kDecimated - kDecimatedFrame) * sizeof(float));
  double last_in = cues.lastIn;
  double out = cues.lastOut;
  double energy = 0;
  for (int i = 0; i < kDecimatedFrame; i++) {
    double sum = 0;
    for (int j = i * kDecimation; j < (i + 1) * kDecimation; j++) {
      const double in = voice->frame[j];
      out = in - last_in + kHighPass * out;
      last_in = in;
      voice->window[kWindow - kFrame + j] = static_cast<float>(out);
      energy += out * out;
      sum += out;
    }
    voice->decimated[kDecimated - kDecimatedFrame + i] = static_cast<float>(sum);
  }
  cues.lastIn = last_in;
  cues.lastOut = out;
  cues.level = energy > kSilenceEnergy ? decibels(energy / kFrame) : kSilenceDb;
}

/** Whether the last 30 ms repeat themselves. Several lags are summed in one loop, each in its own order. */
bool is_voiced(const VoiceMemory* voice) {
  const float* x = voice->decimated;
  constexpr int kFrom = kDecimated - kMatch;
  double energy = kSilenceEnergy;
  double earlier = kSilenceEnergy;
  for (int i = kFrom; i < kDecimated; i++) energy += static_cast<double>(x[i]) * x[i];
  for (int i = kFrom - kMinLag; i < kDecimated - kMinLag; i++) earlier += static_cast<double>(x[i]) * x[i];
  for (int first = kMinLag; first <= kMaxLag; first += kLagsAtOnce) {
    double products[kLagsAtOnce] = {};
    for (int i = kFrom; i < kDecimated; i++) {
      const double sample = x[i];
      // A lag beyond the last one still lies in the window.
      for (int l = 0; l < kLagsAtOnce; l++) products[l] += sample * x[i - first - l];
    }
    for (int lag = first; lag < first + kLagsAtOnce && lag <= kMaxLag; lag++) {
      const double product = products[lag - first];
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
double strongest(const VoiceMemory* voice, const double* coefficients) {
  double s1[4] = {};
  double s2[4] = {};
  for (int i = 0; i < kWindow; i++) {
    const double sample = voice->window[i];
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

bool is_dtmf(const VoiceMemory* voice, const double (&coefficients)[kDtmfTones]) {
  double energy = kSilenceEnergy;
  for (int i = 0; i < kWindow; i++) energy += static_cast<double>(voice->window[i]) * voice->window[i];
  const double row = strongest(voice, coefficients) / energy;
  const double column = strongest(voice, coefficients + 4) / energy;
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

  void on_frame() const {
    push_cues(voice);
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
      while_quiet(level);
    }
  }

  void while_quiet(double level) const {
    VoiceWords& s = state();
    const bool loud = level > larger(s.floor + kOnsetAboveFloor, kLowestOnset);
    const bool voiced = loud && s.steadyFrames < kSteadyFrames && is_voiced(voice) && !is_dtmf(voice, coefficients);
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
    if (std::fmod(s.voicelessFrames, kVoiceCheckEvery) == 0 && is_voiced(voice)) s.voicelessFrames = 0;
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
    for (int i = 0; i < taken; i++) voice->frame[filled + i] = static_cast<float>(audio[done + i] / 32768.0);
    done += taken;
    filled += taken;
    s.filled = filled;
    if (filled < kFrame) continue;
    activity.on_frame();
    s.framePosition += kFrame;
    s.filled = 0;
    filled = 0;
  }
}

}  // namespace parley
