import { WIDEBAND } from '@parley/kernel'
import { Application, type OpusDecoderHandle, type OpusEncoderHandle } from 'libopus-wasm'
import type { AudioCodec, AudioDecoder, AudioEncoder } from './audio-codec.ts'
import { OpusStates } from './opus-states.ts'

const FRAME_SAMPLES = 320
/** Wideband speech in mono (RFC 7587 section 3.1.1: 16 to 20 kbit/s), with room for the redundancy of in-band FEC. */
const BITRATE = 24_000
/** Quality stops rising audibly above this, and the cost does not. */
const COMPLEXITY = 5
/** Loss that the encoder prepares for when the peer uses in-band FEC. */
const EXPECTED_LOSS_PERCENT = 10
/** RFC 6716 section 3.4: longer packets do not exist. */
const MAX_PACKET_SAMPLES = 1920
/** RFC 7587 section 3.1.3: a packet of up to two bytes says only that nothing was sent. */
const DTX_BYTES = 2

const encoders = new OpusStates(library =>
  library.createEncoder({
    sampleRate: 16_000,
    channels: 1,
    application: Application.Voip,
    bitrate: BITRATE,
    complexity: COMPLEXITY,
    frameSize: FRAME_SAMPLES,
  }),
)
const decoders = new OpusStates(library => library.createDecoder({ sampleRate: 16_000, channels: 1 }))

/** Loads the library, so that the first call with Opus loses no audio to it. Without this it is loaded with the first call. */
export async function loadOpus(): Promise<void> {
  await Promise.all([encoders.fill(), decoders.fill()])
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
  readonly #peer: ReadonlyMap<string, string>
  #state: OpusEncoderHandle | null = null

  constructor(peerFmtp: string | null) {
    this.#peer = parametersOf(peerFmtp)
    this.#ready()
  }

  encode(src: Int16Array, srcOffset: number, count: number, dst: Uint8Array, dstOffset: number): number {
    const state = this.#ready()
    if (state === null) return 0
    const packet = state.encode(src.subarray(srcOffset, srcOffset + count), { frameSize: count })
    if (packet.length <= DTX_BYTES && this.#peer.get('usedtx') === '1') return 0
    const room = dst.length - dstOffset
    if (packet.length > room) return 0
    dst.set(packet, dstOffset)
    return packet.length
  }

  /** The library creates states asynchronously: null until the first is there. */
  #ready(): OpusEncoderHandle | null {
    if (this.#state !== null) return this.#state
    const state = encoders.take(this)
    if (state === null) return null
    // RFC 7587 section 6.1: by default a receiver uses no FEC and wants no DTX.
    state.setFec(this.#peer.get('useinbandfec') === '1')
    state.setPacketLossPercent(this.#peer.get('useinbandfec') === '1' ? EXPECTED_LOSS_PERCENT : 0)
    state.setDtx(this.#peer.get('usedtx') === '1')
    this.#state = state
    return state
  }
}

class OpusDecoder implements AudioDecoder {
  #state: OpusDecoderHandle | null = null

  constructor() {
    this.#ready()
  }

  decode(src: Uint8Array, srcOffset: number, count: number, dst: Int16Array, dstOffset: number): number {
    return this.#decode(src, srcOffset, count, dst, dstOffset, 0)
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
    return this.#decode(src, srcOffset, count, dst, dstOffset, samples)
  }

  #ready(): OpusDecoderHandle | null {
    this.#state ??= decoders.take(this)
    return this.#state
  }

  /** `lost`: decodes the packet before this one, of so many samples, from the redundancy; 0: this packet. */
  #decode(src: Uint8Array, srcOffset: number, count: number, dst: Int16Array, dstOffset: number, lost: number): number {
    const state = this.#ready()
    if (state === null || count <= 0) return 0
    try {
      const packet = src.subarray(srcOffset, srcOffset + count)
      const options = lost > 0 ? { decodeFec: true, frameSize: lost } : { maxFrameSize: MAX_PACKET_SAMPLES }
      const audio = state.decode(packet, options)
      const length = Math.min(audio.length, dst.length - dstOffset)
      for (let i = 0; i < length; i++) dst[dstOffset + i] = audio[i]!
      return length
    } catch {
      // A packet that is no Opus counts as lost; the state of the decoder is unchanged.
      return 0
    }
  }
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
