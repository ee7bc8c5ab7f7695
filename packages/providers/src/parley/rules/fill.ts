import type { Conversation } from './conversation.ts'
import { type Evidence, evidenceIn, relevance, type WordSpan } from './evidence.ts'
import type { Language } from './language.ts'
import { type Property, propertiesOf, type Schema } from './property.ts'
import { readValue } from './read-value.ts'
import { strippedAnswer } from './values/answer.ts'
import { memberSpans } from './values/members.ts'
import { shortAnswer } from './values/names.ts'

export interface Filled {
  readonly values: Readonly<Record<string, unknown>>
  /** Required members that the conversation does not give. */
  readonly missing: readonly Property[]
  /** Members whose value comes from the caller's newest turn. */
  readonly fresh: readonly string[]
}

const DEEPEST = 4

/**
 * Fills an object by its JSON schema from the caller's turns, the newest first. Members without a value are left out.
 * `guessing`: the newest turn as a whole becomes the value of a required name or text that the agent did not ask for.
 */
export function fill(schema: Schema, conversation: Conversation, language: Language, guessing: boolean): Filled {
  const today = /\b20[0-9]{2}-[01][0-9]-[0-3][0-9]\b/.exec(conversation.system)?.[0] ?? null
  return fillFrom(schema, evidenceIn(conversation, language), { language, today, guessing, depth: 0 })
}

interface Filling {
  readonly language: Language
  readonly today: string | null
  readonly guessing: boolean
  readonly depth: number
}

function fillFrom(schema: Schema, evidence: readonly Evidence[], filling: Filling): Filled {
  const properties = propertiesOf(schema, filling.language)
  const values: [string, unknown][] = []
  const missing: Property[] = []
  const fresh: string[] = []
  const relevances = new Relevances()
  for (const property of properties) {
    const found = findValue(property, properties, relevances, evidence, filling)
    if (found !== null) values.push([property.name, found.value])
    else if (property.required) missing.push(property)
    if (found?.turn === 0) fresh.push(property.name)
  }
  return { values: Object.fromEntries(values), missing, fresh }
}

/** Caches the relevance of each piece of evidence for each property. */
class Relevances {
  readonly #cache = new Map<Evidence, Map<Property, number>>()

  of(piece: Evidence, property: Property): number {
    const ofPiece = this.#cache.get(piece) ?? new Map<Property, number>()
    this.#cache.set(piece, ofPiece)
    const cached = ofPiece.get(property) ?? relevance(piece, property)
    ofPiece.set(property, cached)
    return cached
  }
}

interface Found {
  readonly value: unknown
  /** The index of the turn with the value, 0 for the newest; -1 when the value comes from no single turn. */
  readonly turn: number
}

function findValue(
  property: Property,
  siblings: readonly Property[],
  relevances: Relevances,
  evidence: readonly Evidence[],
  filling: Filling,
): Found | null {
  if (Object.hasOwn(property.schema, 'const')) return { value: property.schema.const, turn: -1 }
  if (property.kind === 'object') return objectIn(property, evidence, filling)
  // The members of an enum identify their property, so properties of the same kind do not compete.
  const unique = property.kind === 'enum' || property.kind === 'list'
  const rivals = unique ? [] : siblings.filter(other => other !== property && other.kind === property.kind)
  for (const [turn, piece] of evidence.entries()) {
    const relevant = relevances.of(piece, property)
    // The turn answers a question about another property of the same kind.
    if (rivals.some(rival => relevances.of(piece, rival) > relevant)) continue
    const taken = property.kind === 'number' ? spansOf(siblings, piece, filling.language) : []
    const { language, today } = filling
    const value = readValue(property, piece, { requested: relevant > 0, language, today, taken })
    if (value !== undefined && isShortEnough(property, value)) return { value, turn }
  }
  const guess = filling.guessing && property.required ? guessed(property, evidence[0], filling.language) : null
  return guess === null || !isShortEnough(property, guess) ? null : { value: guess, turn: 0 }
}

function spansOf(siblings: readonly Property[], { turn }: Evidence, language: Language): WordSpan[] {
  const enums = siblings.filter(({ kind }) => kind === 'enum')
  return enums.flatMap(({ schema }) => memberSpans(schema, turn, language))
}

function objectIn(property: Property, evidence: readonly Evidence[], filling: Filling): Found | null {
  if (filling.depth >= DEEPEST) return null
  const inner = fillFrom(property.schema, evidence, { ...filling, depth: filling.depth + 1 })
  const empty = Object.keys(inner.values).length === 0 || inner.missing.length > 0
  return empty ? null : { value: inner.values, turn: inner.fresh.length > 0 ? 0 : -1 }
}

/** The newest turn as a value, for a turn that answers no known question. */
function guessed(property: Property, newest: Evidence | undefined, language: Language): string | null {
  if (newest === undefined || newest.turn.plain || newest.turn.substance === 0) return null
  if (property.kind === 'text') return strippedAnswer(newest.exchange.caller, language) || null
  return property.kind === 'name' ? shortAnswer(newest.exchange.caller, newest.turn.words, language) : null
}

function isShortEnough({ schema }: Property, value: unknown): boolean {
  return typeof value !== 'string' || typeof schema.maxLength !== 'number' || value.length <= schema.maxLength
}
