// InboundChain (inbound-chain.ts), ReorderBuffer and ReceptionStatistics for a packet that is the next in sequence.
#include <cmath>

#include "g711.h"
#include "stream.h"

namespace parley {
namespace {

constexpr double kTicksPerMs = 8;
constexpr double kMaxAheadMs = 200;
constexpr double kMaxBehindMs = 1000;
constexpr double kMinPauseMs = 200;
constexpr double kClockRate = 8000;
constexpr double kSequenceMod = 65536;
constexpr double kNoBadSequence = kSequenceMod + 1;

uint32_t read16(const uint8_t* from) { return static_cast<uint32_t>(from[0]) << 8 | from[1]; }
uint32_t read32(const uint8_t* from) { return read16(from) << 16 | read16(from + 2); }

/** Timestamps' distance, the shortest way round. */
double ticks_between(uint32_t later, double earlier) {
  return static_cast<double>(static_cast<int32_t>(later - lowest32(earlier)));
}

struct Header {
  size_t bytes;
  size_t payload;
  uint32_t sequence;
  uint32_t timestamp;
  uint32_t ssrc;
  Law law;
};

/** Reads a packet without padding, of `clear` bytes without its tag; false: it is not regular. */
bool read_header(const CallPage& page, const uint8_t* packet, size_t clear, Header* header) {
  if (clear < kRtpHeaderBytes || packet[0] >> 6 != 2 || (packet[0] & 0x20) != 0) return false;
  if (packet[1] >= 192 && packet[1] <= 223) return false;
  size_t offset = kRtpHeaderBytes + 4 * (packet[0] & 0x0fu);
  if ((packet[0] & 0x10) != 0) {
    if (offset + 4 > clear) return false;
    offset += 4 + 4 * static_cast<size_t>(read16(packet + offset + 2));
  }
  if (offset >= clear || clear - offset > kMostSamples) return false;
  const uint8_t law = page.laws[packet[1] & 0x7f];
  if (law != kMuLaw && law != kALaw) return false;
  *header = {offset, clear - offset, read16(packet + 2), read32(packet + 4), read32(packet + 8), static_cast<Law>(law)};
  return true;
}

bool is_heard_source(const CallPage& page, const Header& header, const Arrival& arrival) {
  const LatchWords& latch = page.latch;
  return latch.latched != 0 && header.ssrc == page.inbound.ssrc && header.ssrc == latch.ssrc && arrival.ipv4 == latch.ipv4 &&
         arrival.port == latch.port && arrival.at_ms <= page.inbound.hearingUntilMs && page.watchdog.silent == 0;
}

/** Whether the sequence number is the next; `*highest` and `*cycles` are what the count is then. */
bool is_next(const SequenceWords& sequence, uint32_t number, double* cycles) {
  if (sequence.probation != 0) return false;
  const uint32_t highest = lowest32(sequence.highest) & 0xffff;
  if (((number - highest) & 0xffff) != 1) return false;
  *cycles = sequence.cycles + (number < highest ? kSequenceMod : 0);
  return true;
}

void count(SequenceWords* sequence, uint32_t number, double cycles) {
  sequence->cycles = cycles;
  sequence->highest = number;
  sequence->bad = kNoBadSequence;
  sequence->received++;
}

/** What a packet does to the counts and the reception's statistics, computed before anything changes. */
struct Plan {
  double cycles;
  double reordered_cycles;
  double extended;
  double jitter;
};

bool plan_jitter(const ReceptionWords& reception, const Header& header, double at_ms, Plan* plan) {
  if (reception.gapExpected != 0 || header.timestamp == reception.lastTimestamp) return false;
  const double spacing = (at_ms - reception.lastArrivalMs) * kTicksPerMs;
  const double sent = ticks_between(header.timestamp, reception.lastTimestamp);
  const int16_t advance = static_cast<int16_t>(header.sequence - lowest32(reception.lastSequence));
  if ((advance > 0 && sent < 0) || sent - spacing > kMaxAheadMs * kTicksPerMs) return false;
  if (spacing - sent > kMaxBehindMs * kTicksPerMs) return false;
  if (advance == 1 && sent >= kMinPauseMs * kTicksPerMs) return false;
  plan->jitter = reception.jitterTicks + (std::fabs(spacing - sent) - reception.jitterTicks) / 16;
  return true;
}

bool plan_packet(const CallPage& page, const Header& header, double at_ms, Plan* plan) {
  if (!is_next(page.received, header.sequence, &plan->cycles)) return false;
  if (!is_next(page.reordered, header.sequence, &plan->reordered_cycles)) return false;
  plan->extended = plan->reordered_cycles + header.sequence;
  if (page.reorder.waiting != 0 || page.reorder.restarted != 0 || plan->extended != page.reorder.next || plan->extended < 0) {
    return false;
  }
  if (page.stream.law != header.law || page.clock.anchored == 0 || page.clock.clockRate != kClockRate) return false;
  return plan_jitter(page.reception, header, at_ms, plan);
}

/** Authenticates and decrypts to `clear`; false: the packet is not regular. Neither it nor the replay window changes. */
bool open_packet(const Call& call, const Header& header, const Arrival& arrival, uint8_t* clear, double* index_of_packet) {
  const WindowWords& window = call.page->opened;
  if (window.highest < 0) return false;
  const double index = guess_index(window.highest, header.sequence);
  *index_of_packet = index;
  if (!accepts(window, index) || index >= static_cast<double>(kPacketIndices)) return false;
  const Packet packet = {arrival.packet, kMostPacketBytes,           header.bytes, arrival.length,
                         header.ssrc,    static_cast<uint64_t>(whole_of(index))};
  return is_authentic(call.opens, packet) && open_authentic(call.opens, packet, clear);
}

void apply_plan(CallPage* page, const Header& header, double at_ms, const Plan& plan) {
  page->watchdog.sinceMs = at_ms;
  page->latch.lastMs = at_ms;
  if (page->latch.secure == 0) page->latch.nextPackets = 0;
  count(&page->received, header.sequence, plan.cycles);
  ReceptionWords& reception = page->reception;
  reception.jitterTicks = plan.jitter;
  reception.jitterSum += plan.jitter;
  reception.jitterCount++;
  if (plan.jitter > reception.jitterMaxTicks) reception.jitterMaxTicks = plan.jitter;
  reception.lastSequence = header.sequence;
  reception.lastTimestamp = header.timestamp;
  reception.lastArrivalMs = at_ms;
  page->counters.packetsReceived++;
  count(&page->reordered, header.sequence, plan.reordered_cycles);
  page->seen[lowest32(plan.extended) & (kReorderSlots - 1)] = plan.extended;
  page->reorder.next = plan.extended + 1;
}

/** Decodes the payload; `recorded` takes what the recording holds of it. */
void decode(const Header& header, const uint8_t* payload, uint8_t* recorded, AudioPacket* audio) {
  for (size_t i = 0; i < header.payload; i++) {
    audio->samples[i] = kG711.sample[header.law][payload[i]];
    recorded[i] = kG711.recorded[header.law][payload[i]];
  }
  audio->count = header.payload;
  audio->recorded = recorded;
}

}  // namespace

bool receive_regular(const Listeners& listeners, const Arrival& arrival) {
  const Call& call = listeners.call;
  CallPage& page = *call.page;
  if (page.inbound.ready == 0) return false;
  // TypeScript has set neither or both.
  if ((page.latch.secure != 0) != (call.opens != nullptr)) return false;
  const size_t tag = call.opens == nullptr ? 0 : call.opens->tag_bytes;
  if (arrival.length < kRtpHeaderBytes + tag || arrival.length > kMostPacketBytes) return false;
  Header header;
  Plan plan;
  if (!read_header(page, arrival.packet, arrival.length - tag, &header)) return false;
  if (!is_heard_source(page, header, arrival) || !plan_packet(page, header, arrival.at_ms, &plan)) return false;
  const uint8_t* payload = arrival.packet + header.bytes;
  uint8_t clear[kMostSamples];
  double index = 0;
  if (call.opens != nullptr) {
    if (!open_packet(call, header, arrival, clear, &index)) return false;
    payload = clear;
  }
  AudioPacket audio;
  uint8_t recorded[kMostSamples];
  StreamPlan stream;
  decode(header, payload, recorded, &audio);
  audio.timestamp = header.timestamp;
  audio.arrived_at = arrival.at_ms;
  if (!plan_stream(page, arrival.at_ms, &audio, *listeners.events, &stream)) return false;
  if (call.opens != nullptr) commit(&page.opened, index);
  apply_plan(&page, header, arrival.at_ms, plan);
  pull_stream(listeners, arrival.at_ms, &audio, stream);
  return true;
}

bool advance_regular(const Listeners& listeners, double now_ms) {
  CallPage& page = *listeners.call.page;
  const WatchdogWords& watchdog = page.watchdog;
  if (page.inbound.advances == 0 || now_ms >= page.intervals.nextAtMs) return false;
  const bool may_be_silent = watchdog.expecting != 0 && watchdog.silent == 0 && watchdog.limitMs != 0;
  if (may_be_silent && now_ms - watchdog.sinceMs >= watchdog.limitMs) return false;
  StreamPlan stream;
  if (!plan_stream(page, now_ms, nullptr, *listeners.events, &stream)) return false;
  pull_stream(listeners, now_ms, nullptr, stream);
  return true;
}

}  // namespace parley
