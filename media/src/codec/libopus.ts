import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** RFC 6716 section 3.4: a packet has at most 120 ms, here at the highest rate and in mono. */
const MAX_SAMPLES = 5760
const MAX_PACKET_BYTES = 1500
const APPLICATION_VOIP = 2048

/** Requests of `opus_encoder_ctl` (opus_defines.h). */
const SET = {
  bitrate: 4002,
  maxBandwidth: 4004,
  vbr: 4006,
  complexity: 4010,
  fec: 4012,
  lossPercent: 4014,
  dtx: 4016,
} as const

/** What the compiled module of the package exports. The views change when its memory grows, so they are read anew each time. */
interface LibopusModule {
  readonly HEAPU8: Uint8Array
  readonly HEAP16: Int16Array
  _malloc(bytes: number): number
  _oc_create_encoder(sampleRateHz: number, channels: number, application: number, error: number): number
  _oc_destroy_encoder(state: number): void
  _oc_encoder_ctl(state: number, request: number, value: number): number
  _oc_encode(state: number, pcm: number, samples: number, packet: number, maxBytes: number): number
  _oc_create_decoder(sampleRateHz: number, channels: number, error: number): number
  _oc_destroy_decoder(state: number): void
  _oc_decode(state: number, packet: number, bytes: number, pcm: number, samples: number, fec: number): number
}

/** Settings of an encoder; those with `?` default to the library's. */
export type OpusSettings = { readonly [Name in keyof typeof SET]?: number }

/**
 * libopus in WebAssembly, one instance per thread. The wrapper of the package allocates a copy of every packet and of every
 * decoded frame; here both are copied between the caller's arrays and one scratch area in the memory of the library.
 */
export class Libopus {
  static #loaded: Libopus | null = null
  readonly #module: LibopusModule
  readonly #pcm: number
  readonly #packet: number
  /** States lie in the memory of the library, which the garbage collector does not see. */
  readonly #released = new FinalizationRegistry<() => void>(free => free())

  private constructor(module: LibopusModule) {
    this.#module = module
    this.#pcm = module._malloc(2 * MAX_SAMPLES)
    this.#packet = module._malloc(MAX_PACKET_BYTES)
  }

  /** Null before `load` has resolved. */
  static get loaded(): Libopus | null {
    return Libopus.#loaded
  }

  static async load(): Promise<Libopus> {
    const manifest = findPackageJSON('libopus-wasm', import.meta.url)!
    const file = pathToFileURL(join(dirname(manifest), 'dist/generated/libopus.generated.mjs')).href
    const { default: create } = (await import(file)) as { default(): Promise<LibopusModule> }
    Libopus.#loaded ??= new Libopus(await create())
    return Libopus.#loaded
  }

  /** A mono encoder for speech; freed with the object. Throws if the library refuses a setting. */
  encoder(sampleRateHz: number, settings: OpusSettings): OpusEncoderState {
    const module = this.#module
    const state = module._oc_create_encoder(sampleRateHz, 1, APPLICATION_VOIP, this.#pcm)
    const names = Object.keys(settings) as (keyof OpusSettings)[]
    const refused = names.find(name => module._oc_encoder_ctl(state, SET[name], settings[name]!) < 0)
    if (state === 0 || refused !== undefined)
      throw new RangeError(`libopus makes no encoder with ${sampleRateHz} Hz and ${JSON.stringify(settings)}`)
    const encoder = new OpusEncoderState(module, state, this.#pcm, this.#packet)
    this.#released.register(encoder, () => module._oc_destroy_encoder(state))
    return encoder
  }

  /** A mono decoder; freed with the object. Throws if the library refuses the rate. */
  decoder(sampleRateHz: number): OpusDecoderState {
    const module = this.#module
    const state = module._oc_create_decoder(sampleRateHz, 1, this.#pcm)
    if (state === 0) throw new RangeError(`libopus makes no decoder with ${sampleRateHz} Hz`)
    const decoder = new OpusDecoderState(module, state, this.#pcm, this.#packet)
    this.#released.register(decoder, () => module._oc_destroy_decoder(state))
    return decoder
  }
}

/** A state in the memory of the library, and the scratch area through which it takes and returns audio and packets. */
class OpusState {
  protected readonly module: LibopusModule
  protected readonly state: number
  protected readonly pcm: number
  protected readonly packet: number

  constructor(module: LibopusModule, state: number, pcm: number, packet: number) {
    this.module = module
    this.state = state
    this.pcm = pcm
    this.packet = packet
  }
}

export class OpusEncoderState extends OpusState {
  /** Changes a setting. */
  set(name: keyof OpusSettings, value: number): void {
    this.module._oc_encoder_ctl(this.state, SET[name], value)
  }

  /** Encodes one frame to at most `room` bytes; returns how many. 0: the library makes no packet from this number of samples, or none that fits `room`. */
  encode(
    src: Int16Array,
    srcOffset: number,
    count: number,
    dst: Uint8Array,
    dstOffset: number,
    room = dst.length - dstOffset,
  ): number {
    if (count > MAX_SAMPLES || room <= 0) return 0
    const pcm = this.module.HEAP16
    const at = this.pcm >> 1
    for (let i = 0; i < count; i++) pcm[at + i] = src[srcOffset + i]!
    const most = Math.min(room, MAX_PACKET_BYTES)
    const length = this.module._oc_encode(this.state, this.pcm, count, this.packet, most)
    const packet = this.module.HEAPU8
    for (let i = 0; i < length; i++) dst[dstOffset + i] = packet[this.packet + i]!
    return Math.max(0, length)
  }
}

export class OpusDecoderState extends OpusState {
  /**
   * Decodes a packet to `dst`, as many samples as it holds; returns how many. `lost`: the length in samples of the packet
   * before this one, which is decoded from the redundancy in this one; 0: this packet is decoded. 0 is returned for bytes that are no packet.
   */
  decode(
    src: Uint8Array,
    srcOffset: number,
    count: number,
    dst: Int16Array,
    dstOffset: number,
    lost: number,
    longest: number,
  ): number {
    if (count <= 0 || count > MAX_PACKET_BYTES || longest > MAX_SAMPLES || lost > MAX_SAMPLES) return 0
    const packet = this.module.HEAPU8
    for (let i = 0; i < count; i++) packet[this.packet + i] = src[srcOffset + i]!
    const isFec = lost > 0 ? 1 : 0
    const most = isFec === 1 ? lost : longest
    const decoded = this.module._oc_decode(this.state, this.packet, count, this.pcm, most, isFec)
    const length = Math.max(0, Math.min(decoded, dst.length - dstOffset))
    const pcm = this.module.HEAP16
    const at = this.pcm >> 1
    for (let i = 0; i < length; i++) dst[dstOffset + i] = pcm[at + i]!
    return length
  }
}
