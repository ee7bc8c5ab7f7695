// What both directions of a call need: replay windows and packet indices, events, rounding.
#include <cmath>

#include "media_call.h"

namespace parley {
namespace {

constexpr double kCycle = 65536;
constexpr double kHalf = 32768;
constexpr double kReplayWindow = 128;

size_t ring_word(double index) { return (static_cast<uint64_t>(whole_of(index)) >> 5) & (kReplayWords - 1); }

uint32_t bits_of(const WindowWords& window, size_t word) {
  return lowest32(window.bits[word]);
}

}  // namespace

double guess_index(double highest, uint32_t sequence) {
  const double last = std::fmod(highest, kCycle);
  const double cycle = highest - last;
  if (last < kHalf) return sequence - last > kHalf && cycle > 0 ? cycle - kCycle + sequence : cycle + sequence;
  return last - kHalf > sequence ? cycle + kCycle + sequence : cycle + sequence;
}

bool accepts(const WindowWords& window, double index) {
  if (index > window.highest) return true;
  if (index <= window.highest - kReplayWindow) return false;
  return (bits_of(window, ring_word(index)) & (UINT32_C(1) << (lowest32(index) & 31))) == 0;
}

void commit(WindowWords* window, double index) {
  if (index > window->highest) {
    const uint64_t from = static_cast<uint64_t>(whole_of(window->highest)) / 32;
    uint64_t steps = static_cast<uint64_t>(whole_of(index)) / 32 - from;
    if (steps > kReplayWords) steps = kReplayWords;
    for (uint64_t step = 1; step <= steps; step++) window->bits[(from + step) & (kReplayWords - 1)] = 0;
    window->highest = index;
  }
  const size_t word = ring_word(index);
  window->bits[word] = bits_of(*window, word) | (UINT32_C(1) << (lowest32(index) & 31));
}

double rounded(double value) {
  const double whole = std::floor(value);
  return value - whole >= 0.5 ? whole + 1 : whole;
}

void Events::add(int32_t id, EventType type, double first, double second) {
  if (count == capacity) return;
  if (type != kProgress) urgent++;
  double* to = words + kWordsPerEvent * count++;
  to[0] = id;
  to[1] = type;
  to[2] = first;
  to[3] = second;
}

}  // namespace parley
