import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { decodePcma, decodePcmu, encodePcma, encodePcmu, PCMU } from '../codec/g711.ts'
import { G722 } from '../codec/g722.ts'
import { Concealment } from '../dsp/concealment.ts'
import { ReceiveStream } from '../dsp/receive-stream.ts'
import { SyntheticSound } from '../dsp/testing/synthetic-sound.ts'
import { VoiceActivity } from '../dsp/voice-activity.ts'
import { InBandDetector } from '../dtmf/in-band-detector.ts'
import { allocateRecordingRing, RecordingRing, RecordingRingReader } from '../recorder/recording-ring.ts'
import { writeRtpHeader } from '../rtp/rtp-packet.ts'
import { DecodingStream } from '../session/codec-streams.ts'
import type { SrtpSuite } from '../session/media-session.ts'
import { SrtpReceiver } from '../srtp/srtp-receiver.ts'
import { SrtpSender } from '../srtp/srtp-sender.ts'
import { keyAndSaltBytes } from '../srtp/srtp-suite.ts'
import { makeTransforms, type PacketIoKind } from './choose-packet-io.ts'

/** Prints what each step costs per 20 ms of one call, ns: `node media/src/io/frame-cost.ts`. */

const FRAME = 160
const FRAMES = 1000
const ROUNDS = 60
const WARM_UP = 10

const speech = new SyntheticSound(FRAMES * 20)
for (let ms = 0; ms < FRAMES * 20; ms += 2000) speech.vowel(ms, ms + 1200, -20, { syllables: true })
const { samples } = speech
const encoded = new Uint8Array(samples.length)
const decoded = new Int16Array(FRAME)
const pulled = new Int16Array(480)

/** Nanoseconds of CPU per call of `step`, which gets a running frame number; without the warm-up rounds. */
function cost(step: (frame: number) => void): number {
  for (let i = 0; i < WARM_UP * FRAMES; i++) step(i)
  const before = process.threadCpuUsage()
  for (let i = WARM_UP * FRAMES; i < ROUNDS * FRAMES; i++) step(i)
  const { user, system } = process.threadCpuUsage(before)
  return Math.round((1000 * (user + system)) / ((ROUNDS - WARM_UP) * FRAMES))
}

/** Sound of 16 kHz: at twice the speed of `samples`. */
const wide = new Int16Array(samples.length + FRAME)
wide.set(samples)
const wideEncoded = new Uint8Array(samples.length)
const wideDecoded = new Int16Array(2 * FRAME)
const g722Encoder = G722.createEncoder()
const g722Decoder = G722.createDecoder()

const at = (frame: number) => (frame % FRAMES) * FRAME
const voice = new VoiceActivity()
const decoder = new DecodingStream(PCMU, NARROWBAND)
const clean = new ReceiveStream({ openedAtMs: 0 })
const lossy = new ReceiveStream({ openedAtMs: 0 })
const concealment = new Concealment()
const wideConcealment = new Concealment(WIDEBAND)
const wideConcealed = new Int16Array(2 * FRAME)
const buffer = allocateRecordingRing()
const ring = new RecordingRing(buffer)
const reader = new RecordingRingReader(buffer)
const turn = new Uint8Array(16_000)

function receive(stream: ReceiveStream, frame: number): void {
  stream.push(1, frame & 0xffff, (frame * FRAME) >>> 0, decoder, encoded, at(frame), FRAME, frame * 20)
  while (stream.pull(frame * 20, pulled) > 0);
}

/** The cost of protecting a packet and of accepting it. */
function srtpCost(suite: SrtpSuite, kind: PacketIoKind): number {
  const transforms = makeTransforms(kind)
  const key = { suite, keyAndSalt: new Uint8Array(keyAndSaltBytes(suite)).fill(7) }
  const sender = new SrtpSender(key, transforms)
  const receiver = new SrtpReceiver(key, null, transforms)
  const packet = new Uint8Array(12 + FRAME + 16)
  return cost(frame => {
    writeRtpHeader(packet, 0, false, frame & 0xffff, (frame * FRAME) >>> 0, 1)
    receiver.unprotect(packet, sender.protect(packet, 12 + FRAME))
  })
}

const tones = new InBandDetector()
console.log(
  JSON.stringify({
    ns_per_20ms: {
      encode_pcmu: cost(frame => encodePcmu(samples, at(frame), FRAME, encoded, at(frame))),
      decode_pcmu: cost(frame => decodePcmu(encoded, at(frame), FRAME, decoded, 0)),
      encode_pcma: cost(frame => encodePcma(samples, at(frame), FRAME, encoded, at(frame))),
      decode_pcma: cost(frame => decodePcma(encoded, at(frame), FRAME, decoded, 0)),
      encode_g722: cost(frame => g722Encoder.encode(wide, at(frame), 2 * FRAME, wideEncoded, at(frame) >> 1)),
      decode_g722: cost(frame => g722Decoder.decode(wideEncoded, at(frame) >> 1, FRAME, wideDecoded, 0)),
      voice_activity: cost(frame => {
        voice.push(frame * FRAME, samples, at(frame), FRAME)
        while (voice.take() !== null);
      }),
      in_band_digits: cost(frame => {
        tones.push(frame * FRAME, samples, at(frame), FRAME)
        while (tones.take());
      }),
      srtp_both_ways_aes_cm_128_80: srtpCost('AES_CM_128_HMAC_SHA1_80', 'portable'),
      srtp_both_ways_aead_aes_128_gcm: srtpCost('AEAD_AES_128_GCM', 'portable'),
      srtp_both_ways_aead_aes_256_gcm: srtpCost('AEAD_AES_256_GCM', 'portable'),
      native_srtp_both_ways_aes_cm_128_80: srtpCost('AES_CM_128_HMAC_SHA1_80', 'native'),
      native_srtp_both_ways_aead_aes_128_gcm: srtpCost('AEAD_AES_128_GCM', 'native'),
      native_srtp_both_ways_aead_aes_256_gcm: srtpCost('AEAD_AES_256_GCM', 'native'),
      receive_stream: cost(frame => receive(clean, frame)),
      receive_stream_2_percent_loss: cost(frame => {
        if (frame % 50 !== 7) receive(lossy, frame)
      }),
      conceal_a_lost_packet: cost(frame => {
        concealment.good(samples, at(frame), 80)
        concealment.conceal(pulled, 0, FRAME)
      }),
      conceal_a_lost_packet_16_khz: cost(frame => {
        wideConcealment.good(wide, at(frame), FRAME)
        wideConcealment.conceal(wideConcealed, 0, 2 * FRAME)
      }),
      record_both_sides: cost(frame => {
        ring.writeLeft(frame * FRAME, samples, at(frame), FRAME)
        ring.writeRight(frame * FRAME, samples, at(frame), FRAME)
        // The writer thread's part: every 500 ms.
        if (frame % 25 === 0) reader.release(reader.copy(turn, reader.available(false), false))
      }),
    },
  }),
)
