import type { Chunk } from '@parley/store'
import type { Block } from './block.ts'
import { languageOfText } from './text-language.ts'

interface ChunkLimits {
  /** A chunk ends where it would become longer, in characters without its headings. */
  readonly maxCharacters: number
  /** A chunk repeats at most this many characters of the end of the one before it, if both are of one section. */
  readonly overlapCharacters: number
}

const CHUNK_LIMITS: ChunkLimits = { maxCharacters: 1000, overlapCharacters: 150 }

/** Most characters of the headings of a chunk. */
const MAX_HEADING = 300

/**
 * Cuts a document into passages along its structure: a chunk never spans two sections, blocks stay whole where they fit, and
 * longer ones are cut between sentences, else between words. Each begins with the title and the headings above it.
 */
export function chunksOf(title: string, blocks: readonly Block[], limits: ChunkLimits = CHUNK_LIMITS): Chunk[] {
  const language = languageOfText(blocks.map(({ text }) => text))
  return sectionsOf(blocks).flatMap(section => {
    const heading = [title, ...section.headings].join(' > ').slice(0, MAX_HEADING).toWellFormed()
    return bodiesOf(section.pieces, limits).map(body => ({ text: `${heading}\n${body}`, language }))
  })
}

interface Section {
  readonly headings: readonly string[]
  readonly pieces: string[]
}

function sectionsOf(blocks: readonly Block[]): Section[] {
  const sections: Section[] = []
  for (const { headings, text } of blocks) {
    const last = sections.at(-1)
    if (last?.headings === headings) last.pieces.push(text)
    else sections.push({ headings, pieces: [text] })
  }
  return sections
}

function bodiesOf(blocks: readonly string[], limits: ChunkLimits): string[] {
  const { maxCharacters, overlapCharacters } = limits
  const bodies: string[] = []
  let body = ''
  for (const piece of blocks.flatMap(block => piecesOf(block, maxCharacters - overlapCharacters - 1))) {
    if (body !== '' && body.length + 1 + piece.length > maxCharacters) {
      bodies.push(body)
      body = tailOf(body, overlapCharacters)
    }
    body = body === '' ? piece : `${body} ${piece}`
  }
  return body === '' ? bodies : [...bodies, body]
}

/** The block, cut into pieces of at most `max` characters: after sentences, else after words, else anywhere. */
function piecesOf(block: string, max: number): string[] {
  const pieces: string[] = []
  let rest = block
  while (rest.length > max) {
    const at = cutOf(rest, max)
    pieces.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).trimStart()
  }
  return rest === '' ? pieces : [...pieces, rest]
}

function cutOf(text: string, max: number): number {
  const window = text.slice(0, max)
  const sentence = Math.max(...['. ', '! ', '? ', '; '].map(end => window.lastIndexOf(end))) + 1
  if (sentence > max / 2) return sentence
  const word = window.lastIndexOf(' ')
  if (word > max / 2) return word
  // Never between the two halves of a code point.
  return /[\uD800-\uDBFF]$/.test(window) ? max - 1 : max
}

/** The last whole sentences of a body, else its last whole words, of at most `max` characters. */
function tailOf(body: string, max: number): string {
  if (max <= 0) return ''
  const end = body.slice(-max)
  const sentence = end.search(/[.!?] \S/)
  if (sentence >= 0) return end.slice(sentence + 2)
  const word = end.indexOf(' ')
  return word < 0 ? '' : end.slice(word + 1)
}
