import { type Random, randomBelow } from '@parley/kernel'

/** Material for new inputs: corpus inputs to change and splice, and words of the language. */
export interface Gene {
  readonly corpus: readonly Uint8Array[]
  readonly dictionary: readonly Uint8Array[]
  readonly maxLength: number
}

type Mutation = (bytes: Uint8Array, gene: Gene, random: Random) => Uint8Array

const LIKELY_BYTES = Uint8Array.from([
  0,
  1,
  0x7f,
  0x80,
  0xbf,
  0xc0,
  0xff,
  ...Buffer.from('\r\n\t :;,=@<>"\\()[]%/?&.-+09aZ'),
])
const NUMBERS = [
  '-1',
  '0',
  '00',
  '1',
  '255',
  '256',
  '65535',
  '65536',
  '2147483648',
  '4294967296',
  '9'.repeat(40),
  '1e9',
]

/** A new input: a corpus input with one to eight changes, at most `maxLength` long, in memory of its own. */
export function mutate(gene: Gene, random: Random): Uint8Array {
  let bytes = pick(gene.corpus, random) ?? new Uint8Array(0)
  const rounds = 1 + randomBelow(random, 1 << randomBelow(random, 4))
  for (let i = 0; i < rounds; i++) bytes = pick(MUTATIONS, random)!(bytes, gene, random)
  return bytes.slice(0, gene.maxLength)
}

const flipBit: Mutation = (bytes, _gene, random) => {
  if (bytes.length === 0) return bytes
  const out = bytes.slice()
  out[randomBelow(random, out.length)]! ^= 1 << randomBelow(random, 8)
  return out
}

const setByte: Mutation = (bytes, _gene, random) => {
  if (bytes.length === 0) return bytes
  const out = bytes.slice()
  out[randomBelow(random, out.length)] = randomBelow(random, 2) === 0 ? randomBelow(random, 256) : likelyByte(random)
  return out
}

const insertBytes: Mutation = (bytes, _gene, random) => {
  const inserted = Uint8Array.from({ length: 1 + randomBelow(random, 4) }, () => likelyByte(random))
  return splice(bytes, randomBelow(random, bytes.length + 1), 0, inserted)
}

const removeRange: Mutation = (bytes, _gene, random) => {
  const [start, length] = range(bytes, random)
  return splice(bytes, start, length, new Uint8Array(0))
}

const repeatRange: Mutation = (bytes, gene, random) => {
  const [start, length] = range(bytes, random)
  const times = 1 + randomBelow(random, 1 << randomBelow(random, 9))
  const piece = bytes.subarray(start, start + length)
  const room = Math.max(0, gene.maxLength - bytes.length)
  const repeated = new Uint8Array(Math.min(room, piece.length * times))
  for (let at = 0; at < repeated.length; at++) repeated[at] = piece[at % piece.length]!
  return splice(bytes, start, 0, repeated)
}

const cutOff: Mutation = (bytes, _gene, random) => bytes.subarray(0, randomBelow(random, bytes.length + 1))

const insertWord: Mutation = (bytes, gene, random) => {
  const word = pick(gene.dictionary, random)
  if (word === undefined) return bytes
  const overwrite = randomBelow(random, 2) === 0 ? word.length : 0
  return splice(bytes, randomBelow(random, bytes.length + 1), overwrite, word)
}

const replaceNumber: Mutation = (bytes, _gene, random) => {
  if (bytes.length === 0) return bytes
  const isDigit = (at: number) => bytes[at]! >= 0x30 && bytes[at]! <= 0x39
  let start = randomBelow(random, bytes.length)
  while (start < bytes.length && !isDigit(start)) start++
  let end = start
  while (end < bytes.length && isDigit(end)) end++
  return splice(bytes, start, end - start, Buffer.from(pick(NUMBERS, random)!))
}

const joinWithOther: Mutation = (bytes, gene, random) => {
  const other = pick(gene.corpus, random) ?? bytes
  const [start, length] = range(other, random)
  return splice(bytes, randomBelow(random, bytes.length + 1), 0, other.subarray(start, start + length))
}

const swapLines: Mutation = (bytes, _gene, random) => {
  const lines = Buffer.from(bytes).toString('latin1').split('\n')
  const a = randomBelow(random, lines.length)
  const b = randomBelow(random, lines.length)
  ;[lines[a], lines[b]] = [lines[b]!, lines[a]!]
  return Buffer.from(lines.join('\n'), 'latin1')
}

const MUTATIONS: readonly Mutation[] = [
  flipBit,
  setByte,
  setByte,
  insertBytes,
  removeRange,
  repeatRange,
  cutOff,
  insertWord,
  insertWord,
  replaceNumber,
  joinWithOther,
  swapLines,
]

function splice(bytes: Uint8Array, at: number, remove: number, insert: Uint8Array): Uint8Array {
  const tail = bytes.subarray(Math.min(bytes.length, at + remove))
  const out = new Uint8Array(at + insert.length + tail.length)
  out.set(bytes.subarray(0, at))
  out.set(insert, at)
  out.set(tail, at + insert.length)
  return out
}

/** Mostly short ranges: long ones destroy what was learnt. */
function range(bytes: Uint8Array, random: Random): [start: number, length: number] {
  if (bytes.length === 0) return [0, 0]
  const start = randomBelow(random, bytes.length)
  const longest = Math.min(bytes.length - start, 1 << randomBelow(random, 8))
  return [start, 1 + randomBelow(random, longest)]
}

function likelyByte(random: Random): number {
  return LIKELY_BYTES[randomBelow(random, LIKELY_BYTES.length)]!
}

function pick<T>(items: readonly T[], random: Random): T | undefined {
  return items.length === 0 ? undefined : items[randomBelow(random, items.length)]
}
