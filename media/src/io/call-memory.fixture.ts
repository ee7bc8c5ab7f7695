// What a call takes in its media thread, as JSON. Runs with --expose-gc, in a process of its own: the garbage of other tests would be counted.
import { NARROWBAND, systemRandom } from '@parley/kernel'
import { allocateRecordingRing, RecordingRing, RecordingRingReader } from '../recorder/recording-ring.ts'
import type { MediaParameters, SrtpKey } from '../session/media-session.ts'
import { MediaSessionCore } from '../session/media-session-core.ts'
import { SessionRings } from '../session/session-rings.ts'
import { pcmuCall } from '../session/testing/call-parameters.ts'
import { NativeMediaPath } from './native-media-path.ts'
import { loadNativeAddon } from './native-packet-io.ts'
import { nativeTransforms } from './native-srtp.ts'

const CALLS = 300
const KILOBYTE = 1024
/** How often a recording's writer takes what there is. */
const FLUSH_MS = 500
const addon = loadNativeAddon()
if (typeof addon === 'string') throw new Error(addon)
const native = addon

const newKey = (): SrtpKey => ({ suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: systemRandom.bytes(30) })

/** Calls that have heard each other for three seconds, in pairs, each with SRTP, voice activity and a recording. */
class Calls {
  readonly rings: SessionRings[] = []
  readonly recordings: SharedArrayBuffer[] = []
  readonly #readers: RecordingRingReader[] = []
  readonly cores: MediaSessionCore[] = []
  readonly #path = new NativeMediaPath(native)
  readonly #packet = new Uint8Array(1536)
  readonly #audio = new Int16Array(8000).fill(1000)

  addPair(): void {
    const [a, b] = [newKey(), newKey()]
    const pair = [
      this.#open(pcmuCall(5000, { send: a, receive: b })),
      this.#open(pcmuCall(6000, { send: b, receive: a })),
    ] as const
    for (let at = 0; at <= 3000; at += 20) {
      for (const [i, core] of pair.entries()) {
        const rings = this.rings.at(i - 2)!
        if (at % 100 === 0) rings.writeOutbound(this.#audio, 0)
        const length = core.tick(at, this.#packet)
        pair[1 - i]!.receive(at, this.#packet, length, 0x7f00_0001, i === 0 ? 6000 : 5000)
        core.advance(at)
        core.tickRtcp(at, this.#packet)
        rings.readHeard(this.#audio)
        const reader = this.#readers.at(i - 2)!
        if (at % FLUSH_MS === 0) reader.release(reader.available(false))
      }
    }
  }

  #open(of: MediaParameters): MediaSessionCore {
    const rings = new SessionRings()
    const recording = allocateRecordingRing(NARROWBAND)
    const core = new MediaSessionCore({
      openedAtMs: 0,
      openedAtUnixMs: 0,
      rings,
      recorder: new RecordingRing(recording),
      random: systemRandom,
      transforms: nativeTransforms(native),
      emit: () => {},
    })
    const number = this.cores.push(core)
    this.rings.push(rings)
    this.recordings.push(recording)
    this.#readers.push(new RecordingRingReader(recording))
    this.#path.add(core, 2 * number, 2 * number + 1)
    core.detectVoice({})
    core.apply(0, of)
    return core
  }
}

/** Bytes of the pages of 4 kB that were written. */
function written(memory: SharedArrayBuffer): number {
  const words = new Int32Array(memory, 0, memory.byteLength >> 2)
  let pages = 0
  for (let at = 0; at < words.length; at += 1024) if (words.subarray(at, at + 1024).some(word => word !== 0)) pages++
  return 4096 * pages
}

const perCall = (bytes: number) => Math.round(bytes / CALLS / KILOBYTE)

/** Kilobytes that a call takes, garbage not counted. */
export interface CallMemory {
  readonly objects: number
  readonly buffers: number
  readonly pages: number
  readonly rings: number
  readonly recordings: number
  /** The fewest packets that one of the calls has received in its three seconds. */
  readonly fewestPackets: number
}

function measure(): CallMemory {
  const calls = new Calls()
  calls.addPair()
  globalThis.gc!()
  const before = process.memoryUsage()
  for (let i = 0; i < CALLS / 2; i++) calls.addPair()
  globalThis.gc!()
  const after = process.memoryUsage()
  return {
    objects: perCall(after.heapUsed - before.heapUsed),
    buffers: perCall(after.external - before.external),
    pages: perCall(CALLS * calls.cores[0]!.shared.page.byteLength),
    rings: perCall(calls.rings.slice(2).reduce((sum, { memory }) => sum + written(memory), 0)),
    recordings: perCall(calls.recordings.slice(2).reduce((sum, memory) => sum + written(memory), 0)),
    fewestPackets: Math.min(...calls.cores.map(core => core.statistics().packetsReceived)),
  }
}

console.log(JSON.stringify(measure()))
