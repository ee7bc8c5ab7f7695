import { WIDEBAND } from '@parley/kernel'
import type { AudioCodec, AudioDecoder, AudioEncoder } from './audio-codec.ts'
import { Libopus, type OpusDecoderState, type OpusEncoderState, type OpusSettings } from './libopus.ts'

/** Wideband speech in mono (RFC 7587 section 3.1.1: 16 to 20 kbit/s), with room for the low complexity. */
const BITRATE = 28_000
/** libopus takes the redundancy of in-band FEC out of the bit rate: without more of it the sound itself gets worse. */
const BITRATE_WITH_REDUNDANCY = 40_000
/** RFC 7587 section 6.1: the lowest value of `maxaveragebitrate`. */
const LEAST_BITRATE = 6000
/** OPUS_BANDWIDTH_NARROWBAND (opus_defines.h): for a peer that plays no sound above 4 kHz. */
const NARROWBAND_ONLY = 1101
/** With this bit rate it sounds as close to the original as complexity 5 at 24 kbit/s, for half the CPU. */
const COMPLEXITY = 1
/** Loss that the encoder prepares for until the peer reports what it loses, when the peer uses in-band FEC. */
const EXPECTED_LOSS_PERCENT = 10
/** Share of the expected loss that stays after a report of less: loss comes in bursts. */
const LOSS_MEMORY = 0.5
/** Packets of silence that are encoded before the encoder is left out. */
const SILENCE_BEFORE = 10
/** From then on one packet of silence in this many is encoded, as libopus does with DTX. */
const SILENCE_EVERY = 20
/** RFC 6716 section 3.4: longer packets do not exist. */
const MAX_PACKET_SAMPLES = 1920
/** RFC 6716 section 3.1: bits of the first byte that say how many frames follow; 0: one. */
const FRAME_COUNT = 3
/** RFC 7587 section 3.1.3: a packet of up to two bytes says only that nothing was sent. */
const DTX_BYTES = 2

/** Loads the library, so that the first call with Opus loses no audio to it. Without this it is loaded with the first call. */
export async function loadOpus(): Promise<void> {
  await Libopus.load()
}

/**
 * Opus (RFC 6716) over RTP (RFC 7587), as wideband speech. The RTP clock is 48 kHz and the rtpmap says two channels, whatever
 * is inside; a decoder takes any packet and returns 16 kHz mono.
 */
export const OPUS: AudioCodec<'OPUS'> = {
  name: 'OPUS',
  payloadType: 111,
  clockRate: 48_000,
  channels: 2,
  format: WIDEBAND,
  fmtp: 'minptime=10;useinbandfec=1',
  createEncoder: (peerFmtp = null) => new OpusEncoder(peerFmtp),
  createDecoder: () => new OpusDecoder(),
}

class OpusEncoder implements AudioEncoder {
  readonly #settings: OpusSettings
  /** Of the peer, bit/s; below the least of RFC 7587 it limits nothing. */
  readonly #mostBitrate: number
  #state: OpusEncoderState | null = null
  #lossPercent = EXPECTED_LOSS_PERCENT
  /** Packets of silence since the last sound. */
  #silent = 0
  /** First byte of the last packet. */
  #toc = 0

  constructor(peerFmtp: string | null) {
    const peer = parametersOf(peerFmtp)
    const most = Number(peer.get('maxaveragebitrate') ?? Number.POSITIVE_INFINITY)
    this.#mostBitrate = most >= LEAST_BITRATE ? Math.floor(most) : Number.POSITIVE_INFINITY
    this.#settings = settingsFor(peer, this.#mostBitrate)
    this.#ready()
  }

  encode(
    src: Int16Array,
    srcOffset: number,
    count: number,
    dst: Uint8Array,
    dstOffset: number,
    isSilence = false,
  ): number {
    this.#silent = isSilence ? this.#silent + 1 : 0
    const usesDtx = this.#settings.dtx === 1
    if (this.#silent > SILENCE_BEFORE && this.#silent % SILENCE_EVERY !== 0 && (this.#toc & FRAME_COUNT) === 0) {
      if (usesDtx) return 0
      dst[dstOffset] = this.#toc
      return 1
    }
    const length = this.#ready()?.encode(src, srcOffset, count, dst, dstOffset) ?? 0
    if (length > 0) this.#toc = dst[dstOffset]!
    return length <= DTX_BYTES && usesDtx ? 0 : length
  }

  reportLoss(share: number): void {
    if (this.#settings.fec !== 1) return
    const percent = Math.round(Math.max(100 * share, LOSS_MEMORY * this.#lossPercent - 0.5))
    if (percent === this.#lossPercent) return
    this.#lossPercent = percent
    const state = this.#ready()
    state?.set('lossPercent', percent)
    state?.set('bitrate', Math.min(bitrateFor(percent), this.#mostBitrate))
  }

  /** Null until the library is loaded. */
  #ready(): OpusEncoderState | null {
    this.#state ??= library()?.encoder(WIDEBAND.sampleRateHz, this.#settings) ?? null
    return this.#state
  }
}

class OpusDecoder implements AudioDecoder {
  #state: OpusDecoderState | null = null

  constructor() {
    this.#ready()
  }

  decode(src: Uint8Array, srcOffset: number, count: number, dst: Int16Array, dstOffset: number): number {
    return this.#ready()?.decode(src, srcOffset, count, dst, dstOffset, 0, MAX_PACKET_SAMPLES) ?? 0
  }

  recover(
    src: Uint8Array,
    srcOffset: number,
    count: number,
    dst: Int16Array,
    dstOffset: number,
    samples: number,
  ): number {
    if (!hasRedundancy(src, srcOffset, count)) return 0
    return this.#ready()?.decode(src, srcOffset, count, dst, dstOffset, samples, MAX_PACKET_SAMPLES) ?? 0
  }

  #ready(): OpusDecoderState | null {
    this.#state ??= library()?.decoder(WIDEBAND.sampleRateHz) ?? null
    return this.#state
  }
}

/** The library; null, and it is loaded, where `loadOpus` was not called. */
function library(): Libopus | null {
  if (Libopus.loaded === null) void Libopus.load().catch(() => {})
  return Libopus.loaded
}

/** Settings of an encoder for a peer with these parameters (RFC 7587 section 6.1); by default it uses no FEC and wants no DTX. */
function settingsFor(peer: ReadonlyMap<string, string>, mostBitrate: number): OpusSettings {
  const usesFec = peer.get('useinbandfec') === '1'
  const lossPercent = usesFec ? EXPECTED_LOSS_PERCENT : 0
  return {
    bitrate: Math.min(bitrateFor(lossPercent), mostBitrate),
    complexity: COMPLEXITY,
    fec: usesFec ? 1 : 0,
    lossPercent,
    dtx: peer.get('usedtx') === '1' ? 1 : 0,
    vbr: peer.get('cbr') === '1' ? 0 : 1,
    ...(Number(peer.get('maxplaybackrate')) === 8000 && { maxBandwidth: NARROWBAND_ONLY }),
  }
}

/** `lossPercent`: loss that redundancy is written for; 0: none is written. */
function bitrateFor(lossPercent: number): number {
  return lossPercent > 0 ? BITRATE_WITH_REDUNDANCY : BITRATE
}

/** Whether the packet carries a copy of the one before it: the LBRR flag of its first frame (RFC 6716 sections 3.1, 4.2.4). */
function hasRedundancy(packet: Uint8Array, offset: number, count: number): boolean {
  const toc = packet[offset]!
  const config = toc >> 3
  const frameCountCode = toc & 3
  // CELT alone has no redundancy; packets of several frames with sizes of their own are not sent for speech.
  if (config >= 16 || frameCountCode > 1 || count < 2) return false
  const silkFrames = config >= 12 ? 1 : Math.max(1, config % 4)
  const flags = packet[offset + 1]!
  const isStereo = (toc & 4) !== 0
  const middle = (flags >> (7 - silkFrames)) & 1
  const side = isStereo ? (flags >> Math.max(0, 6 - 2 * silkFrames)) & 1 : 0
  return middle === 1 || side === 1
}

function parametersOf(fmtp: string | null): ReadonlyMap<string, string> {
  const pairs = (fmtp ?? '').split(';').map(pair => pair.split('=', 2).map(part => part.trim()))
  return new Map(pairs.map(([name = '', value = '']) => [name.toLowerCase(), value]))
}
