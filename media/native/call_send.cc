// OutboundChain (outbound-chain.ts) for audio of G.711.
#include <cmath>
#include <cstring>

#include "g711.h"
#include "media_call.h"

namespace parley {
namespace {

/** PROGRESS_MS of outbound-chain.ts, in samples. */
constexpr double kProgressSamples = 1440;

void write16(uint8_t* to, uint32_t value) {
  to[0] = static_cast<uint8_t>(value >> 8);
  to[1] = static_cast<uint8_t>(value);
}

void write32(uint8_t* to, uint32_t value) {
  write16(to, value >> 16);
  write16(to + 2, value);
}

void report_progress(OutboundWords* out, const SessionRings& rings, int32_t id, double position, uint32_t taken, Events* events) {
  if (taken == 0) {
    if (out->playing == 0) return;
    out->playing = 0;
    events->add(id, kPlayedOut, rings.outbound_taken(), position);
    return;
  }
  if (out->playing == 0) out->sinceProgress = kProgressSamples;
  out->playing = 1;
  out->sinceProgress += taken;
  if (out->sinceProgress < kProgressSamples) return;
  out->sinceProgress = 0;
  events->add(id, kProgress, rings.outbound_taken(), position + taken);
}

}  // namespace

Outcome compose_regular(const Call& call, int32_t id, double slot_ms, uint8_t* to, uint16_t* length, Events* events) {
  CallPage& page = *call.page;
  OutboundWords& out = page.outbound;
  if (out.ready == 0 || page.latch.port == 0 || !events->has_room(kMostEdges)) return kLeft;
  if (!(out.frameSamples >= 1 && out.frameSamples <= kMostSamples) || (out.law != kMuLaw && out.law != kALaw)) return kLeft;
  const uint32_t sequence = lowest32(out.sequence) & 0xffff;
  double index = 0;
  if (call.seals != nullptr) {
    if (page.sealed.highest < 0) return kLeft;
    index = guess_index(page.sealed.highest, sequence);
    if (!accepts(page.sealed, index) || index >= static_cast<double>(kPacketIndices)) return kLeft;
  }
  const double position = ms_to_samples(slot_ms - page.inbound.openedAtMs);
  // After a change of slot the first one may overlap audio that was sent already.
  if (position < out.end) return kNothingDue;
  if (out.resuming == 0) page.counters.missedSlots += std::floor((position - out.end) / out.frameSamples);
  const uint32_t frame = static_cast<uint32_t>(out.frameSamples);
  to[0] = 0x80;
  to[1] = static_cast<uint8_t>((out.resuming != 0 ? 0x80 : 0) | (lowest32(out.payloadType) & 0x7f));
  write16(to + 2, sequence);
  write32(to + 4, lowest32(out.timestampBase) + lowest32(position));
  write32(to + 8, lowest32(out.ssrc));
  int16_t samples[kMostSamples];
  const uint32_t taken = call.rings.take_outbound(samples, frame);
  memset(samples + taken, 0, (frame - taken) * sizeof *samples);
  uint8_t* payload = to + kRtpHeaderBytes;
  const Law law = static_cast<Law>(static_cast<int>(out.law));
  encode(law, samples, frame, payload);
  if (call.is_recorded) {
    uint8_t recoded[kMostSamples];
    if (law != kMuLaw) encode(kMuLaw, samples, frame, recoded);
    call.recording.write_right(whole_of(position), law == kMuLaw ? payload : recoded, frame);
  }
  report_progress(&out, call.rings, id, position, taken, events);
  page.counters.octetsSent += frame;
  size_t bytes = kRtpHeaderBytes + frame;
  out.sequence = (sequence + 1) & 0xffff;
  out.end = position + frame;
  out.resuming = 0;
  if (call.seals != nullptr) {
    commit(&page.sealed, index);
    const Packet packet = {to, kMostPacketBytes, kRtpHeaderBytes, bytes, lowest32(out.ssrc), static_cast<uint64_t>(whole_of(index))};
    // A packet that OpenSSL cannot encrypt is never sent.
    if (!seal_packet(call.seals, packet)) return kNothingDue;
    bytes += call.seals->tag_bytes;
  }
  page.counters.packetsSent++;
  *length = static_cast<uint16_t>(bytes);
  return kComposed;
}

}  // namespace parley
