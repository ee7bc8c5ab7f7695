#include "stream.h"

#include <cmath>
#include <cstring>

#include "band_filter.h"
#include "concealment.h"
#include "g711.h"

namespace parley {
namespace {

/** Of sessions of 8 kHz, the least; `holdMs` of their streams is that or more. */
constexpr double kHoldMs = 40;
constexpr double kMostHoldMs = 120;
constexpr double kShorterHoldMs = 1.0 / 64;
constexpr double kStallMs = 60;
constexpr double kStallGraceMs = 10;
constexpr double kBridged = 160;
constexpr double kStepBack = 480;
constexpr double kMaxAhead = 1600;
constexpr double kLateRunMs = 100;
constexpr double kSkewWindowMs = 2000;
constexpr double kSmallestSkew = 64;
constexpr double kSkewForced = 96;
constexpr double kMostInserted = 480;
constexpr int kQuietPeak = 300;
/** The longest gap that is filled here. */
constexpr double kMostMissing = 4800;
/** Positions are counts of samples since the call began. */
constexpr double kMostPosition = 1e12;

bool is_position(double value) { return std::fabs(value) < kMostPosition && std::floor(value) == value; }

/** Position up to which the stream is filled even where packets are missing. */
double overdue_at(const StreamWords& stream, double opened, double now) {
  const bool stalls = now - stream.lastPullMs > kStallMs;
  const double stalled_since = stalls ? stream.lastPullMs : stream.stalledSince;
  const double stall_over = stalls ? now + kStallGraceMs : stream.stallOver;
  return ms_to_samples((now < stall_over ? stalled_since : now) - stream.holdMs - opened);
}

void note_pull(StreamWords* stream, double now) {
  if (now - stream->lastPullMs > kStallMs) {
    stream->stalledSince = stream->lastPullMs;
    stream->stallOver = now + kStallGraceMs;
  }
  if (now > stream->lastPullMs) stream->lastPullMs = now;
}

/** Samples from the clock's timestamp, the shortest way round. */
double samples_since(const ClockWords& clock, uint32_t timestamp) {
  return static_cast<double>(static_cast<int32_t>(timestamp - lowest32(clock.timestamp)));
}

bool is_quiet(const AudioPacket& packet) {
  for (size_t i = 0; i < packet.count; i++) {
    if (packet.samples[i] > kQuietPeak || packet.samples[i] < -kQuietPeak) return false;
  }
  return true;
}

double anchor(StreamPlan* plan, uint32_t timestamp, double arrival, double filled_to) {
  ClockWords& clock = plan->clock;
  clock.anchored = 1;
  clock.anchors++;
  clock.timestamp = timestamp;
  clock.position = arrival > filled_to ? arrival : filled_to;
  clock.lateSince = NAN;
  plan->skew = {0, NAN, INFINITY};
  return clock.position;
}

void observe_skew(SkewWords* skew, double lateness, double now) {
  if (std::isnan(skew->windowEnds)) skew->windowEnds = now + kSkewWindowMs;
  if (lateness < skew->least) skew->least = lateness;
  if (now < skew->windowEnds) return;
  skew->due = std::fabs(skew->least) >= kSmallestSkew ? rounded(skew->least) : 0;
  skew->windowEnds = now + kSkewWindowMs;
  skew->least = INFINITY;
}

double correct_skew(StreamPlan* plan, const AudioPacket& packet) {
  SkewWords& skew = plan->skew;
  if (std::fabs(skew.due) < kSkewForced && !is_quiet(packet)) return 0;
  const double most_removed = static_cast<double>(packet.count >> 1);
  double step = skew.due;
  if (step > kMostInserted) step = kMostInserted;
  if (step < -most_removed) step = -most_removed;
  skew.due -= step;
  skew.least -= step;
  plan->clock.skewCorrection += step;
  return step;
}

/** ReceiveStream.#adaptHold. */
double adapted_hold(double hold, double late) {
  const double late_ms = samples_to_ms(late);
  if (late_ms <= hold) return hold - kShorterHoldMs > kHoldMs ? hold - kShorterHoldMs : kHoldMs;
  return late_ms <= kMostHoldMs ? late_ms : hold;
}

/** SourceClock.admit. */
void admit(const CallPage& page, const AudioPacket& packet, StreamPlan* plan) {
  ClockWords& clock = plan->clock;
  const double filled_to = page.stream.position;
  const double count = static_cast<double>(packet.count);
  const double arrival = ms_to_samples(packet.arrived_at - page.inbound.openedAtMs);
  if (samples_since(clock, packet.timestamp) < -kStepBack) anchor(plan, packet.timestamp, arrival, filled_to);
  plan->place = clock.position + samples_since(clock, packet.timestamp);
  if (plan->place + count <= filled_to) {
    if (std::isnan(clock.lateSince)) clock.lateSince = packet.arrived_at;
    plan->packet = StreamPlan::kTooLate;
    if (packet.arrived_at - clock.lateSince < kLateRunMs) {
      plan->hold = adapted_hold(page.stream.holdMs, arrival - plan->place);
      return;
    }
    plan->place = anchor(plan, packet.timestamp, arrival, filled_to);
  }
  if (plan->place - arrival > kMaxAhead) {
    plan->packet = StreamPlan::kTooEarly;
    if (filled_to - arrival > kMaxAhead) return;
    plan->place = anchor(plan, packet.timestamp, arrival, filled_to);
  }
  plan->packet = StreamPlan::kPlaced;
  clock.lateSince = NAN;
  observe_skew(&plan->skew, arrival - plan->place, packet.arrived_at);
  if (plan->skew.due != 0) plan->place += correct_skew(plan, packet);
  plan->hold = adapted_hold(page.stream.holdMs, arrival - plan->place);
  clock.timestamp = packet.timestamp;
  clock.position = plan->place;
}

bool is_quiet_source(const StreamWords& stream) { return stream.silent != 0 || stream.held != 0; }

/** The packet that was admitted takes its place, and the gap before it is planned. */
void take_packet(CallPage* page, Concealment* concealment, const AudioPacket& packet, const StreamPlan& plan) {
  StreamWords& stream = page->stream;
  stream.gapUntil = stream.position;
  stream.holdMs = plan.hold;
  if (plan.packet == StreamPlan::kTooLate) stream.tooLate++;
  if (plan.packet == StreamPlan::kTooEarly) stream.early++;
  if (plan.packet != StreamPlan::kPlaced) return;
  const double gap = plan.place > stream.position ? plan.place - stream.position : 0;
  stream.gapUntil = stream.position + gap;
  stream.gapSilent = is_quiet_source(stream) || gap > kBridged ? 1 : 0;
  stream.silent = 0;
  stream.packetAt = stream.position > plan.place ? stream.position - plan.place : 0;
  stream.packetLeft = static_cast<double>(packet.count) - stream.packetAt;
  stream.packetBegun = 0;
  if (stream.packetAt > 0) concealment->join();
}

size_t fill_gap(StreamWords* stream, Concealment* concealment, int16_t* into, size_t room) {
  const double missing = stream->gapUntil - stream->position;
  const size_t count = missing < static_cast<double>(room) ? static_cast<size_t>(missing) : room;
  if (stream->gapSilent != 0) {
    concealment->silence(into, count);
  } else {
    stream->concealedSamples += static_cast<double>(concealment->conceal(into, count));
  }
  stream->position += static_cast<double>(count);
  return count;
}

size_t copy_packet(StreamWords* stream, Concealment* concealment, AudioPacket* packet, int16_t* into, size_t room) {
  const size_t at = static_cast<size_t>(stream->packetAt);
  const size_t left = static_cast<size_t>(stream->packetLeft);
  if (stream->packetBegun == 0) {
    stream->packetBegun = 1;
    concealment->good(packet->samples + at, left);
  }
  const size_t count = left < room ? left : room;
  memcpy(into, packet->samples + at, count * sizeof *into);
  stream->packetAt += static_cast<double>(count);
  stream->packetLeft -= static_cast<double>(count);
  stream->position += static_cast<double>(count);
  return count;
}

}  // namespace

bool plan_stream(const CallPage& page, double now_ms, const AudioPacket* packet, const Events& events, StreamPlan* plan) {
  const StreamWords& stream = page.stream;
  if (page.reorder.waiting != 0 || stream.gapUntil > stream.position || stream.packetLeft > 0) return false;
  if (!is_position(stream.position) || !Concealment(const_cast<CallPage*>(&page)).is_valid()) return false;
  plan->clock = page.clock;
  plan->skew = page.skew;
  plan->packet = StreamPlan::kNoPacket;
  plan->place = stream.position;
  plan->hold = stream.holdMs;
  plan->overdue = overdue_at(stream, page.inbound.openedAtMs, now_ms);
  if (packet != nullptr) admit(page, *packet, plan);
  double missing = plan->overdue - stream.position;
  const double before = plan->place - stream.position;
  if (plan->packet == StreamPlan::kPlaced && before > missing) missing = before;
  if (!is_position(plan->overdue) || !is_position(plan->place) || missing > kMostMissing) return false;
  const double chunks = missing > 0 ? 2 + std::floor(missing / kMostSamples) : 1;
  return events.has_room(kMostEdges * static_cast<size_t>(chunks));
}

void pull_stream(const Listeners& listeners, double now_ms, AudioPacket* packet, const StreamPlan& plan) {
  CallPage& page = *listeners.call.page;
  StreamWords& stream = page.stream;
  Concealment concealment(&page);
  note_pull(&stream, now_ms);
  bool is_waiting = packet != nullptr;
  bool is_blended = false;
  for (;;) {
    int16_t into[kMostSamples];
    size_t done = 0;
    const double position = stream.position;
    while (done < kMostSamples) {
      int16_t* to = into + done;
      const size_t room = kMostSamples - done;
      if (stream.gapUntil > stream.position) {
        done += fill_gap(&stream, &concealment, to, room);
      } else if (stream.packetLeft > 0) {
        if (stream.packetBegun == 0) is_blended = page.concealment.active != 0;
        done += copy_packet(&stream, &concealment, packet, to, room);
      } else if (is_waiting) {
        page.clock = plan.clock;
        page.skew = plan.skew;
        take_packet(&page, &concealment, *packet, plan);
        is_waiting = false;
      } else if (plan.overdue > stream.position) {
        stream.gapSilent = is_quiet_source(stream) ? 1 : 0;
        stream.gapUntil = plan.overdue;
      } else {
        break;
      }
    }
    if (done == 0) return;
    const bool is_packet_alone = packet != nullptr && !is_blended && done == packet->count && position == plan.place &&
                                 plan.packet == StreamPlan::kPlaced;
    listeners.hear(into, done, position, is_packet_alone ? packet->recorded : nullptr);
  }
}

void Listeners::hear(const int16_t* audio, size_t count, double position, const uint8_t* recorded) const {
  const uint32_t samples = static_cast<uint32_t>(count);
  CallPage& page = *call.page;
  if (page.inbound.detectsVoice != 0) {
    VoiceEdges edges;
    const int taps = band_taps(page.band);
    int16_t filtered[kMostSamples];
    if (taps > 0) filter_band(&page.band, audio, static_cast<int>(count), filtered);
    push_voice(&page.voice, coefficients, position - (taps >> 1), taps > 0 ? filtered : audio, static_cast<int>(count), &edges);
    for (int i = 0; i < edges.count; i++) {
      call.rings.write_voice_edge(edges.is_start[i], static_cast<int32_t>(lowest32(edges.position[i])), samples);
      events->add(id, edges.is_start[i] ? kVoiceStart : kVoiceEnd, edges.position[i], 0);
    }
  }
  call.rings.write_heard(audio, samples);
  if (!call.is_recorded) return;
  uint8_t encoded[kMostSamples];
  if (recorded == nullptr) encode(kMuLaw, audio, count, encoded);
  call.recording.write_left(whole_of(position), recorded == nullptr ? encoded : recorded, static_cast<int64_t>(count));
}

}  // namespace parley
