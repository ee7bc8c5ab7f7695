import { NARROWBAND, type Random, randomUint32 } from '@parley/kernel'
import { encodePcmu } from '@parley/media'
import { codecByName, DecodingStream, ReceiveStream } from '@parley/media/testing'
import { activeLevel } from '../alignment.ts'

const PACKET = 160
const PACKET_MS = 20

export interface LineConditions {
  /** Share of packets (20 ms) that never arrive. */
  readonly loss?: number
  /** White noise so far below the active level of what is sent, dB; default none. */
  readonly noiseBelowDb?: number
  readonly random: Random
}

/**
 * What the far end hears of `sent`: noise is added, G.711 mu-law, packets of 20 ms of which some are lost, and the
 * receiver that real calls have, which conceals what is missing. Sample n stays sample n.
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
    // The first packet fixes the place of all others.
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

/** Least number of words put in, left out or changed that makes `heard` of `said`. */
export function wordErrors(said: readonly string[], heard: readonly string[]): number {
  let row = Array.from({ length: heard.length + 1 }, (_, j) => j)
  for (const [i, word] of said.entries()) {
    const next = [i + 1]
    for (const [j, other] of heard.entries()) {
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
