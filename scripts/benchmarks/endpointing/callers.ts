import { type Random, randomBelow, randomUint32 } from '../../../packages/kernel/src/index.ts'
import { PHRASES, type Phrases } from './phrases.ts'

export const KINDS = [
  'sentence',
  'answer',
  'number',
  'spelling',
  'list',
  'filler',
  'conjunction',
  'hesitation',
] as const
export type TurnKind = (typeof KINDS)[number]

/** Out of 100 turns. */
const SHARES: Readonly<Record<TurnKind, number>> = {
  sentence: 24,
  answer: 16,
  number: 16,
  spelling: 7,
  list: 8,
  filler: 10,
  conjunction: 9,
  hesitation: 10,
}

/** A word on the line, ms from the beginning of its turn. */
interface TimedWord {
  /** As it would be written, marks included. */
  readonly text: string
  readonly from: number
  readonly until: number
}

/** The words of a caller's turn and the pauses inside it. */
export interface CallerTurnSaid {
  readonly kind: TurnKind
  /** What the agent asked before. */
  readonly question: string
  readonly words: readonly TimedWord[]
  readonly pauses: readonly { readonly from: number; readonly until: number }[]
}

/** One caller's turns of one call: with a way of pausing of their own. */
export function inventCaller(language: string, turns: number, random: Random): CallerTurnSaid[] {
  const phrases = PHRASES[language]!
  const slowness = 0.75 + share(random) * 0.6
  return Array.from({ length: turns }, () => {
    const kind = anyKind(random)
    const chunks = chunksOf(kind, phrases, random)
    return { ...timed(kind, chunks, slowness, random), question: questionFor(kind, chunks, phrases) }
  })
}

/**
 * Pauses are like those of the public yardstick's recordings, where plain silence of 300, 600, 1000 and 1600 ms cuts 56,
 * 22, 10 and 5 % of them: 200 ms and more, falling off as a power, none above 2 s.
 */
function pauseMs(slowness: number, random: Random): number {
  for (;;) {
    const ms = 200 * (share(random) + 1e-9) ** -0.72 * slowness
    if (ms >= 200 && ms <= 2000) return Math.round(ms)
  }
}

/** A question that the turn answers: of numbers it tells how many digits they have, where agents do. */
function questionFor(kind: TurnKind, chunks: readonly string[], { questions, digits }: Phrases): string {
  if (kind !== 'number') return questions[kind === 'answer' || kind === 'spelling' ? kind : 'sentence']
  const tokens = chunks
    .join(' ')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} ]/gu, '')
    .split(' ')
  const length = tokens.reduce(
    (sum, token) => sum + (/^\d+$/.test(token) ? token.length : digits.includes(token) ? 1 : 0),
    0,
  )
  return questions.number(length)
}

function timed(
  kind: TurnKind,
  chunks: readonly string[],
  slowness: number,
  random: Random,
): Omit<CallerTurnSaid, 'question'> {
  const words: TimedWord[] = []
  const pauses: { from: number; until: number }[] = []
  let at = 0
  for (const [i, chunk] of chunks.entries()) {
    if (i > 0) {
      const from = words.at(-1)!.until
      at = from + pauseMs(slowness, random)
      pauses.push({ from, until: at })
    }
    for (const text of chunk.split(' ')) {
      const length = Math.round((110 + 38 * text.replace(/\W/g, '').length) * (0.85 + share(random) * 0.3))
      words.push({ text, from: at, until: at + length })
      at += length + 15 + randomBelow(random, 50)
    }
  }
  return { kind, words, pauses }
}

/** The turn in pieces, between which the caller pauses. */
function chunksOf(kind: TurnKind, phrases: Phrases, random: Random): string[] {
  const sentence = () => any(phrases.sentences, random)
  switch (kind) {
    case 'sentence':
      return [sentence()]
    case 'answer':
      return [any(phrases.answers, random)]
    case 'number':
      return numberChunks(phrases, random)
    case 'spelling':
      return spellingChunks(phrases, random)
    case 'list':
      return listChunks(phrases, random)
    case 'filler': {
      const [head, tail] = broken(sentence(), random)
      return [`${head} ${any(phrases.fillers, random)}`, tail]
    }
    case 'conjunction': {
      const first = sentence().replace(/[.?!]$/, '')
      return [`${first} ${any(phrases.conjunctions, random)}`, lowerFirst(sentence())]
    }
    case 'hesitation': {
      const [head, tail] = broken(sentence(), random)
      return [head, tail]
    }
  }
}

function numberChunks(phrases: Phrases, random: Random): string[] {
  const { groups, opening } = any(phrases.numbers, random)
  const style = randomBelow(random, 3)
  const digits = groups.map(length => Array.from({ length }, () => randomBelow(random, 10)))
  const written = digits.map(group =>
    style === 0 ? group.map(digit => phrases.digits[digit]!).join(' ') : group.join(style === 1 ? ' ' : ''),
  )
  const commas = randomBelow(random, 2) === 0
  const chunks = written.map((group, i) => `${group}${i === written.length - 1 ? '.' : commas ? ',' : ''}`)
  return [[opening, chunks[0]!].filter(part => part !== '').join(' '), ...chunks.slice(1)]
}

function spellingChunks(phrases: Phrases, random: Random): string[] {
  const name = any(phrases.names, random)
  const chunks: string[] = []
  for (let at = 0; at < name.length; ) {
    const length = Math.min(2 + randomBelow(random, 3), name.length - at)
    chunks.push([...name.slice(at, at + length)].map(letter => letter.toUpperCase()).join(' '))
    at += length
  }
  const opening = any(phrases.spellingOpenings, random)
  return [`${opening} ${chunks[0]!}`.trim(), ...chunks.slice(1)].map((chunk, i, all) =>
    i === all.length - 1 ? `${chunk}.` : chunk,
  )
}

function listChunks(phrases: Phrases, random: Random): string[] {
  const count = 3 + randomBelow(random, 2)
  const from = randomBelow(random, phrases.items.length)
  const items = Array.from({ length: count }, (_, i) => phrases.items[(from + i * 3) % phrases.items.length]!)
  return items.map((item, i) => {
    if (i === 0) return `${any(phrases.listOpenings, random)} ${item},`
    return i === count - 1 ? `${phrases.and} ${item}.` : `${item},`
  })
}

/** Somewhere in the middle, with no regard to what the words are. */
function broken(sentence: string, random: Random): [string, string] {
  const words = sentence.split(' ')
  const at = 2 + randomBelow(random, Math.max(1, words.length - 3))
  return [words.slice(0, at).join(' '), words.slice(at).join(' ')]
}

function anyKind(random: Random): TurnKind {
  let left = randomBelow(random, 100)
  for (const kind of KINDS) {
    left -= SHARES[kind]
    if (left < 0) return kind
  }
  return 'sentence'
}

function any<Item>(list: readonly Item[], random: Random): Item {
  return list[randomBelow(random, list.length)]!
}

function share(random: Random): number {
  return randomUint32(random) / 2 ** 32
}

function lowerFirst(text: string): string {
  return /^I\b/.test(text) ? text : `${text[0]!.toLowerCase()}${text.slice(1)}`
}
