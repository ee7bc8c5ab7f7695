import { type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import { parseIpv4 } from '../../packet-io/ipv4.ts'
import { allocateRecordingRing, RecordingRing, RecordingRingReader } from '../../recorder/recording-ring.ts'
import { WAV_HEADER_BYTES, writeWavHeader } from '../../recorder/wav.ts'
import { InlineMediaPlane } from '../inline-media-plane.ts'
import type { MediaParameters, MediaSession, MediaStatistics } from '../media-session.ts'
import { DriftingTime } from './drifting-time.ts'
import { StallingNetwork } from './stalling-network.ts'

const OURS = '192.0.2.1'
const THEIRS = '192.0.2.2'
const STEP_MS: Ms = 10
const MARKER_MS: Ms = 100
/** A marker is queued this long before it is to be sent. */
const AHEAD_MS: Ms = 200
const PTIME_MS: Ms = 20

export interface SkewCallOptions {
  readonly oursPpm: number
  readonly theirsPpm: number
  readonly loss: number
  readonly latencyMs: Ms
  readonly minutes: number
  readonly seed: number
  /** Whether both sides talk between the markers: in loud audio the clock skew is corrected only when it must be. */
  readonly talking: boolean
  /** Stalls of 300 ms: which side, or the network, at which minute. */
  readonly stalls: readonly { readonly minute: number; readonly what: 'ours' | 'theirs' | 'network' }[]
  /** Minutes at which the same parameters are applied again, as a session refresh does. */
  readonly refreshes: readonly number[]
}

interface SkewCallResult {
  readonly wav: Uint8Array
  readonly markers: number
  readonly statistics: MediaStatistics
}

interface Side {
  readonly clock: DriftingTime
  readonly plane: InlineMediaPlane
  readonly session: MediaSession
  /** When its session was opened, on its own clock. */
  readonly openedAtMs: Ms
  readonly voice: SeededRandom
}

/** A sweep from 500 to 2500 Hz, whose position can be found to the sample. */
function marker(): Int16Array {
  const count = MARKER_MS * 8
  const seconds = MARKER_MS / 1000
  return Int16Array.from({ length: count }, (_, i) => {
    const t = i / 8000
    const edge = Math.min(1, (i + 1) / 40, (count - i) / 40)
    return Math.round(9000 * edge * Math.sin(2 * Math.PI * (500 * t + (2000 / seconds / 2) * t * t)))
  })
}

/**
 * A call between two machines whose clocks differ. Both play a marker at the same true moment once a minute. Our side is recorded
 * as a WAV file: received audio on the left channel, sent audio on the right one.
 */
export async function runSkewCall(options: SkewCallOptions): Promise<SkewCallResult> {
  const time = new VirtualTime(5000)
  const random = new SeededRandom(options.seed)
  const clocks = { ours: new DriftingTime(time, options.oursPpm), theirs: new DriftingTime(time, options.theirsPpm) }
  const machines = new Map([
    [parseIpv4(OURS)!, clocks.ours],
    [parseIpv4(THEIRS)!, clocks.theirs],
  ])
  const conditions = { latencyMs: options.latencyMs, loss: options.loss }
  const network = new StallingNetwork({ time, random, conditions, machines })
  const open = async (address: string, clock: DriftingTime, seed: number): Promise<Side> => {
    const plane = new InlineMediaPlane({ time: clock, random, network, address })
    const openedAtMs = clock.now()
    const session = await plane.open({ label: address })
    return { clock, plane, session, openedAtMs, voice: new SeededRandom(seed) }
  }
  const ours = await open(OURS, clocks.ours, 1)
  const theirs = await open(THEIRS, clocks.theirs, 2)
  const apply = () => {
    ours.session.apply(parameters(theirs.session))
    theirs.session.apply(parameters(ours.session))
  }
  apply()
  const start = time.now()
  const markers = options.minutes
  let next = 0
  const heard = new Int16Array(8000)
  const events = [
    ...options.refreshes.map(minute => ({ at: start + minute * 60_000, run: apply })),
    ...options.stalls.map(({ minute, what }) => ({
      at: start + minute * 60_000,
      run: () => (what === 'network' ? network.stall(300) : clocks[what].stall(300)),
    })),
  ].sort((a, b) => a.at - b.at)
  while (time.now() < start + options.minutes * 60_000 + 1000) {
    while (events.length > 0 && time.now() >= events[0]!.at) events.shift()!.run()
    const markerAt = start + (next + 0.5) * 60_000
    const marking = next < markers && time.now() >= markerAt - AHEAD_MS
    if (marking) next++
    for (const side of [ours, theirs]) {
      if (marking) playAt(side, markerAt * (side === ours ? 1 + options.oursPpm / 1e6 : 1 + options.theirsPpm / 1e6))
      // Half a minute of quiet around each marker; people talk in the other half.
      const talk = options.talking && Math.abs(((time.now() - start) % 60_000) - 30_000) > 5000
      if (talk && side.session.queued() < 800) side.session.play(babble(side.voice))
      while (side.session.readHeard(heard) > 0);
    }
    time.advance(STEP_MS)
  }
  await Promise.all([ours.session.close(), theirs.session.close()])
  const statistics = await ours.session.statistics()
  const { left, right } = ours.plane.captured(ours.session)
  return { wav: recorded(left, right), markers, statistics }
}

function parameters(peer: MediaSession): MediaParameters {
  return {
    remote: peer.local,
    direction: 'sendrecv',
    codec: 'PCMU',
    payloadType: 0,
    ptimeMs: PTIME_MS,
    dtmfPayloadType: 101,
    srtp: null,
  }
}

/** Plays silence and then the marker, which begins at `atMs` of the side's own clock: audio that is queued now is sent in its next slot. */
function playAt(side: Side, atMs: Ms): void {
  const slots = Math.ceil((side.clock.now() - side.openedAtMs - slotOffset(side)) / PTIME_MS)
  const nextSlotMs = side.openedAtMs + slotOffset(side) + slots * PTIME_MS
  side.session.play(new Int16Array(Math.round((atMs - nextSlotMs) * 8)))
  side.session.play(marker())
}

/** Sessions are numbered from 1 on each plane, and the first has the second slot of eight. */
function slotOffset(side: Side): Ms {
  return (side.session.id % 8) * 2.5
}

/** 50 ms of noise at a speaking level. */
function babble(random: SeededRandom): Int16Array {
  const bytes = random.bytes(400)
  return Int16Array.from(bytes, byte => (byte - 128) * 24)
}

/** The WAV file that the recorder would write: the audio passes through the recording ring. */
function recorded(left: Int16Array, right: Int16Array): Uint8Array {
  const memory = allocateRecordingRing()
  const ring = new RecordingRing(memory)
  const reader = new RecordingRingReader(memory)
  const wav = new Uint8Array(WAV_HEADER_BYTES + 2 * left.length)
  for (let at = 0; at < left.length; at += 8000) {
    const count = Math.min(8000, left.length - at)
    ring.writeLeft(at, left, at, count)
    ring.writeRight(at, right, at, count)
    const frames = reader.available(true)
    reader.copy(wav.subarray(WAV_HEADER_BYTES + 2 * at), frames, false)
    reader.release(frames)
  }
  writeWavHeader(wav, left.length, reader.sampleRateHz)
  return wav
}

/** Position of the marker in `channel`: the best match within `reach` samples of `around`. `match`: 1 for an equal signal. */
export function findMarker(channel: Int16Array, around: number, reach: number): { position: number; match: number } {
  const wanted = marker()
  let best = { position: -1, match: 0 }
  let energy = 0
  for (const x of wanted) energy += x * x
  for (let at = Math.max(0, around - reach); at <= around + reach && at + wanted.length <= channel.length; at++) {
    let sum = 0
    for (let i = 0; i < wanted.length; i++) sum += channel[at + i]! * wanted[i]!
    if (sum / energy > best.match) best = { position: at, match: sum / energy }
  }
  return best
}
