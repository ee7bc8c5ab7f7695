import { NARROWBAND, type Random, randomUint32 } from '@parley/kernel'
import { encodePcmu } from '@parley/media'
import { codecByName, DecodingStream, ReceiveStream } from '@parley/media/testing'
import { activeLevel } from '../alignment.ts'

const PACKET = 160
const PACKET_MS = 20

export interface LineConditions {
  /** Share of packets (20 ms) that never arrive. */
  readonly loss?: number
  /** Level of white noise below the active level of the sent audio, dB; default no noise. */
  readonly noiseBelowDb?: number
  readonly random: Random
}

/**
 * Simulates a telephone line: adds noise, encodes G.711 mu-law, drops some of the packets (20 ms) and receives the others
 * with the receiver of real calls, which conceals losses. Positions of samples do not change.
 */
export function overTelephoneLine(sent: Int16Array, { loss = 0, noiseBelowDb, random }: LineConditions): Int16Array {
  const noise = noiseBelowDb === undefined ? 0 : activeLevel(sent) * 10 ** (-noiseBelowDb / 20)
  const stream = new ReceiveStream({ openedAtMs: 0 })
  const decoder = new DecodingStream(codecByName('PCMU'), NARROWBAND)
  const heard = new Int16Array(sent.length)
  const samples = new Int16Array(PACKET)
  const bytes = new Uint8Array(PACKET)
  const packets = Math.floor(sent.length / PACKET)
  for (let i = 0; i < packets + 5; i++) {
    const nowMs = PACKET_MS * (i + 1)
    // The first packet fixes the positions of all others.
    const arrives = i === 0 || uniform(random) >= loss
    if (i < packets && arrives) {
      for (let k = 0; k < PACKET; k++) samples[k] = clip(sent[PACKET * i + k]! + noise * gaussian(random))
      encodePcmu(samples, 0, PACKET, bytes, 0)
      stream.push(1, i & 0xffff, PACKET * i, decoder, bytes, 0, PACKET, nowMs)
    }
    for (;;) {
      const at = stream.position
      const count = stream.pull(nowMs, samples)
      if (count === 0) break
      heard.set(samples.subarray(0, Math.min(count, Math.max(0, heard.length - at))), Math.min(at, heard.length))
    }
  }
  return heard
}

/** Edit distance in words: the least number of insertions, deletions and replacements. */
export function wordErrors(spoken: readonly string[], recognised: readonly string[]): number {
  let row = Array.from({ length: recognised.length + 1 }, (_, j) => j)
  for (const [i, word] of spoken.entries()) {
    const next = [i + 1]
    for (const [j, other] of recognised.entries()) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (word === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1)!
}

function uniform(random: Random): number {
  return (randomUint32(random) + 1) / 2 ** 32
}

function gaussian(random: Random): number {
  return Math.sqrt(-2 * Math.log(uniform(random))) * Math.cos(2 * Math.PI * uniform(random))
}

function clip(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)))
}
