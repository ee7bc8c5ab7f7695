import type { Ms, Samples } from '@parley/kernel'
import { DTMF_COEFFICIENTS } from '../dsp/voice-cues.ts'
import type { PacketBatch } from '../packet-io/packet-io.ts'
import type { MediaPath, PathCalls } from '../session/media-path.ts'
import type { MediaSessionCore } from '../session/media-session-core.ts'
import type { CoreEvent } from '../session/session-protocol.ts'
import type { NativeAddon, NativePath } from './native-packet-io.ts'

/** Events of one call into the addon; a packet for whose events there may be no room is left to its core. */
const EVENTS = 2048
const EVENT_WORDS = 4
const VOICE_START = 1
const VOICE_END = 2
const PROGRESS = 3

/** Of a call, by its id in the path, how much audio was taken, until when on its clock, and whether there is no more. */
export type ProgressListener = (pathId: number, taken: Samples, atSample: Samples, isIdle: boolean) => void

/**
 * Regular packets in C++ (`media/native/media_path.cc`); calls of another format than 8 kHz, and all that is not regular, are
 * left to the cores.
 */
export class NativeMediaPath implements MediaPath {
  readonly kind = 'native'
  readonly #path: NativePath
  /** By id. */
  readonly #cores: (MediaSessionCore | null)[] = []
  readonly #events = new Float64Array(1 + EVENT_WORDS * EVENTS)

  constructor({ MediaPath }: NativeAddon) {
    this.#path = new MediaPath(DTMF_COEFFICIENTS)
  }

  add(core: MediaSessionCore, socket: number, rtcpSocket: number): number {
    const { page, rings, recording } = core.shared
    const path = this.#path
    const id = path.add(
      socket,
      rtcpSocket,
      bytesOf(page),
      bytesOf(rings),
      recording === null ? null : bytesOf(recording),
    )
    this.#cores[id] = core
    core.useNative({
      openWith: transform => path.openWith(id, transform),
      sealWith: transform => path.sealWith(id, transform),
    })
    return id
  }

  remove(id: number): void {
    this.#cores[id]?.useNative(null)
    this.#cores[id] = null
    this.#path.remove(id)
  }

  compose(calls: PathCalls, from: number, until: number, nowMs: Ms, batch: PacketBatch, filled: number): number {
    const { bytes, length, socket, ipv4, port } = batch
    const { ids, slotMs, outcome, due } = calls
    const after = this.#path.compose(
      ids,
      from,
      until,
      slotMs,
      nowMs,
      outcome,
      due,
      bytes,
      length,
      socket,
      ipv4,
      port,
      filled,
      this.#events,
    )
    this.report()
    return after
  }

  receive(batch: PacketBatch, count: number, left: Uint8Array): number {
    const { bytes, length, socket, ipv4, port, arrivedAt } = batch
    const remaining = this.#path.receive(bytes, length, socket, ipv4, port, arrivedAt, count, left, this.#events)
    this.report()
    return remaining
  }

  advance({ ids, left }: PathCalls, count: number, nowMs: Ms): number {
    const remaining = this.#path.advance(ids, count, nowMs, left, this.#events)
    this.report()
    return remaining
  }

  /** For `NativeTurns`; its events are in `events`, which `report` passes on. */
  get native(): NativePath {
    return this.#path
  }

  get events(): Float64Array {
    return this.#events
  }

  /** Passes on what the last native call found: to the calls' cores, and reports of playout to `progress` where that is given. */
  report(progress: ProgressListener | null = null): void {
    const events = this.#events
    const count = events[0]!
    for (let i = 0; i < count; i++) {
      const at = 1 + EVENT_WORDS * i
      const id = events[at]!
      const type = events[at + 1]!
      if (progress !== null && type >= PROGRESS) progress(id, events[at + 2]!, events[at + 3]!, type !== PROGRESS)
      else this.#cores[id]?.report(eventOf(type, events[at + 2]!, events[at + 3]!))
    }
  }
}

function eventOf(type: number, first: number, second: number): CoreEvent {
  if (type === VOICE_START) return { type: 'voice-start', atSample: first }
  if (type === VOICE_END) return { type: 'voice-end', atSample: first }
  return { type: 'play-progress', taken: first, atSample: second, idle: type !== PROGRESS }
}

function bytesOf(memory: SharedArrayBuffer): Uint8Array {
  return new Uint8Array(memory)
}
