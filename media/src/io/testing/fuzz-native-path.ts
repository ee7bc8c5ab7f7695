import { type Random, randomBelow } from '@parley/kernel'
import { PacketBatch } from '../../packet-io/packet-io.ts'
import { CallPage, PAGE_WORDS } from '../../session/call-page.ts'
import { SessionRings } from '../../session/session-rings.ts'
import type { NativeAddon } from '../native-packet-io.ts'

const SPECIAL = [0, 1, -1, 8, 160, 2 ** 31, 2 ** 53, 1e300, Number.NaN, Number.POSITIVE_INFINITY, -1e300]
/** Numbers of a page behind its words: packets seen, and two replay windows. */
const FURTHER_NUMBERS = 32 + 18
const SLOT_MS = 1020

/** Gives the native path calls whose pages hold anything, which TypeScript never writes: it must not leave its memory. */
export function fuzzPages({ MediaPath }: NativeAddon, random: Random, rounds: number): void {
  const path = new MediaPath(new Float64Array(8))
  const page = new CallPage()
  const id = path.add(1, 2, new Uint8Array(page.memory), new Uint8Array(new SessionRings().memory), null)
  const words = new Float64Array(page.memory, 0, PAGE_WORDS.flat().length + FURTHER_NUMBERS)
  const events = new Float64Array(1 + 4 * 64)
  const ids = Int32Array.of(id)
  const slotMs = Float64Array.of(SLOT_MS)
  const outcome = new Int8Array(1)
  const left = new Uint8Array(1)
  const { bytes, length, socket, ipv4, port, arrivedAt } = new PacketBatch(4)
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < words.length; i++) words[i] = SPECIAL[randomBelow(random, SPECIAL.length)]!
    page.laws.fill(1 + (round & 1))
    page.band.state[0] = SPECIAL[randomBelow(random, SPECIAL.length)]!
    page.band.taps[randomBelow(random, page.band.taps.length)] = SPECIAL[randomBelow(random, SPECIAL.length)]!
    // More often regular than chance would have it.
    page.inbound.fill(1, 0, 2)
    page.outbound.set([1, 1 + (round & 1)])
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
