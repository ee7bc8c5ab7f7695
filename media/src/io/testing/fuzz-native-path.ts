import { NARROWBAND, type Random, randomBelow } from '@parley/kernel'
import { PacketBatch } from '../../packet-io/packet-io.ts'
import { allocateRecordingRing } from '../../recorder/recording-ring.ts'
import { CallPage, PAGE_WORDS } from '../../session/call-page.ts'
import { SessionRings } from '../../session/session-rings.ts'
import type { NativeAddon, NativePath, NativeSockets } from '../native-packet-io.ts'
import { anyWord } from './native-recordings-conformance.ts'

const SPECIAL = [0, 1, -1, 8, 160, 2 ** 31, 2 ** 53, 1e300, Number.NaN, Number.POSITIVE_INFINITY, -1e300]
/** Numbers of a page behind its words: packets seen, and two replay windows. */
const FURTHER_NUMBERS = 32 + 18
const SLOT_MS = 1020
/** Words at the beginning of a call's rings and of its recording, of which all but the edges of voice are positions. */
const RING_WORDS = 16
const RECORDING_WORDS = 9

/** Fills the numbers of a page, more often regular than chance would have it. */
function disturb(page: CallPage, words: Float64Array, random: Random, round: number): void {
  for (let i = 0; i < words.length; i++) words[i] = anyNumber(random)
  page.laws.fill(1 + (round & 1))
  page.band.state[0] = anyNumber(random)
  page.band.taps[randomBelow(random, page.band.taps.length)] = anyNumber(random)
  page.inbound.fill(1, 0, 2)
  page.outbound.set([1, 1 + (round & 1)])
}

function wordsOf(page: CallPage): Float64Array {
  return new Float64Array(page.memory, 0, PAGE_WORDS.flat().length + FURTHER_NUMBERS)
}

function anyNumber(random: Random): number {
  return SPECIAL[randomBelow(random, SPECIAL.length)]!
}

/** Gives the native path calls whose pages and rings hold anything, which TypeScript never writes: it must not leave its memory. */
export function fuzzPages({ MediaPath }: NativeAddon, random: Random, rounds: number): void {
  const path = new MediaPath(new Float64Array(8))
  const page = new CallPage()
  const rings = new SessionRings().memory
  const recording = allocateRecordingRing(NARROWBAND, 1024)
  const id = path.add(1, 2, new Uint8Array(page.memory), new Uint8Array(rings), new Uint8Array(recording))
  const headers = [new Int32Array(rings, 0, RING_WORDS), new Int32Array(recording, 0, RECORDING_WORDS)]
  const words = wordsOf(page)
  const events = new Float64Array(1 + 4 * 64)
  const ids = Int32Array.of(id)
  const slotMs = Float64Array.of(SLOT_MS)
  const outcome = new Int8Array(1)
  const left = new Uint8Array(1)
  const { bytes, length, socket, ipv4, port, arrivedAt } = new PacketBatch(4)
  for (let round = 0; round < rounds; round++) {
    disturb(page, words, random, round)
    for (const header of headers) header[randomBelow(random, header.length)] = anyWord(random)
    bytes.set(random.bytes(200))
    bytes[0] = 0x80
    length[0] = randomBelow(random, 1536)
    socket[0] = 1
    path.compose(ids, 0, 1, slotMs, SLOT_MS, outcome, left, bytes, length, socket, ipv4, port, 1, events)
    path.receive(bytes, length, socket, ipv4, port, arrivedAt, 1, left, events)
    path.advance(ids, 1, SLOT_MS, left, events)
  }
  path.remove(id)
}

const LOOPBACK = 0x7f00_0001
const FUZZED_CALLS = 6
const TURN_MS = 0.3
/** Numbers of the state of `run`, in the order of `State` in `media/native/turns.cc`. */
const STATE_NUMBERS = 6
/** Where a grid may begin, ms from now. One far ahead would only make the thread sleep for 100 ms. */
const GRID_STARTS = [0, -1, -2.5, -1000, -1e6, -1e300, Number.NaN, Number.NEGATIVE_INFINITY]

/** Wakes in C++ over calls whose pages, slots and packets are anything, while calls and sockets come and go. */
export function fuzzTurns(addon: NativeAddon, random: Random, rounds: number): void {
  const calls = Array.from({ length: FUZZED_CALLS }, () => new FuzzedCall(random))
  const path = new addon.MediaPath(new Float64Array(8))
  const sockets = new addon.PacketIo(performance.now())
  const { bytes, length, socket, ipv4, port, arrivedAt } = new PacketBatch(16)
  const events = new Float64Array(1 + 4 * 64)
  const command = new Int32Array(1)
  const [buckets, totals] = [new Uint32Array(5000), new Float64Array(2)]
  for (let round = 0; round < rounds; round++) {
    for (const [i, call] of calls.entries()) {
      if (round === 0 || randomBelow(random, 4) === 0) call.reopen(path, sockets)
      call.disturb(path, sockets, round + i)
    }
    const now = performance.now()
    const gridStart = now + GRID_STARTS[randomBelow(random, GRID_STARTS.length)]!
    const state = Float64Array.of(gridStart, anyNumber(random), now + TURN_MS, 0, 0, 0)
    const room = 1 + randomBelow(random, FUZZED_CALLS)
    const [ids, missed] = [new Int32Array(room), new Int32Array(room)]
    const [slotMs, outcome] = [new Float64Array(room), new Int8Array(room)]
    command[0] = randomBelow(random, 8) === 0 ? 1 : 0
    path.run(
      sockets,
      state.subarray(0, STATE_NUMBERS),
      command,
      bytes,
      length,
      socket,
      ipv4,
      port,
      arrivedAt,
      ids,
      slotMs,
      missed,
      outcome,
      events,
      buckets,
      totals,
      buckets,
      totals,
    )
  }
  for (const call of calls) call.close(path, sockets)
}

/** A call with sockets on loopback and a page of any content. */
class FuzzedCall {
  readonly #random: Random
  readonly #page = new CallPage()
  readonly #words = wordsOf(this.#page)
  readonly #rings = new SessionRings()
  readonly #packet = new PacketBatch(1)
  #open: { readonly id: number; readonly rtp: number; readonly rtcp: number } | null = null

  constructor(random: Random) {
    this.#random = random
  }

  reopen(path: NativePath, sockets: NativeSockets): void {
    this.close(path, sockets)
    const [rtp, rtcp] = [sockets.open(LOOPBACK, 0), sockets.open(LOOPBACK, 0)]
    const [page, rings] = [new Uint8Array(this.#page.memory), new Uint8Array(this.#rings.memory)]
    this.#open = { id: path.add(rtp, rtcp, page, rings, null), rtp, rtcp }
  }

  /** Gives it another page and another place in the grid, and sends it packets. */
  disturb(path: NativePath, sockets: NativeSockets, round: number): void {
    const random = this.#random
    disturb(this.#page, this.#words, random, round)
    if (this.#open === null) return
    const { id, rtp, rtcp } = this.#open
    const nextWake = [0, 1, round, 2 ** 31, 2 ** 53 - 1][randomBelow(random, 5)]!
    path.place(id, randomBelow(random, 8), [0, 1, 4, 8, 12, 65_535][randomBelow(random, 6)]!, nextWake)
    for (let i = randomBelow(random, 30); i > 0; i--) this.#send(sockets, i % 7 === 0 ? rtcp : rtp)
  }

  close(path: NativePath, sockets: NativeSockets): void {
    if (this.#open === null) return
    // Either may be first.
    if (randomBelow(this.#random, 2) === 0) path.remove(this.#open.id)
    sockets.close(this.#open.rtp)
    sockets.close(this.#open.rtcp)
    path.remove(this.#open.id)
    this.#open = null
  }

  #send(sockets: NativeSockets, to: number): void {
    const { bytes, length, socket, ipv4, port } = this.#packet
    bytes.set(this.#random.bytes(200))
    if (randomBelow(this.#random, 4) > 0) bytes[0] = 0x80
    length[0] = randomBelow(this.#random, 1536)
    socket[0] = to
    ipv4[0] = LOOPBACK
    port[0] = sockets.port(to)
    sockets.send(bytes, length, socket, ipv4, port, 1)
  }
}
