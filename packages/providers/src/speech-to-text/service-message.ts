import type { Ms } from '@parley/kernel'
import { isObject, type JsonObject, textIn } from '../json-object.ts'
import type { ServiceWord } from './service-protocol.ts'

/** Limits on words per passage and on the length of a word. */
const MAX_WORDS = 2000
const MAX_WORD_LENGTH = 200
/** A day: later times are taken for this. */
const MAX_MS: Ms = 24 * 3_600_000

/** A finite number in a message; null when there is none. */
export function numberIn(object: JsonObject, name: string): number | null {
  const value = Object.hasOwn(object, name) ? object[name] : undefined
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** A time in a message, in units of which `perSecond` make a second; null when it is missing or negative. */
export function timeIn(object: JsonObject, name: string, perSecond: number): Ms | null {
  const value = numberIn(object, name)
  if (value === null || value < 0) return null
  return Math.min(MAX_MS, (value * 1000) / perSecond)
}

/**
 * The words of a message: their text in the first of the `names` that a word has, their times in units of which
 * `perSecond` make a second. Without a list of words, the words of `transcript` are returned without times.
 */
export function wordsIn(object: JsonObject, names: readonly string[], perSecond: number): ServiceWord[] {
  const words: ServiceWord[] = []
  const list = Array.isArray(object.words) ? object.words.slice(0, MAX_WORDS) : []
  for (const word of list) {
    if (!isObject(word)) continue
    const text = names
      .map(name => textIn(word, name))
      .find(one => one !== '')
      ?.trim()
    if (text === undefined || text === '') continue
    const confidence = numberIn(word, 'confidence')
    words.push({
      text: text.slice(0, MAX_WORD_LENGTH),
      startMs: timeIn(word, 'start', perSecond),
      endMs: timeIn(word, 'end', perSecond),
      ...(confidence !== null && { confidence }),
    })
  }
  if (words.length > 0) return words
  return plainWords(textIn(object, 'transcript'))
}

/** The words of a text, without times. */
export function plainWords(text: string): ServiceWord[] {
  const words = text.split(/\s+/u, MAX_WORDS).filter(word => word !== '')
  return words.map(word => ({ text: word.slice(0, MAX_WORD_LENGTH), startMs: null, endMs: null }))
}

/** A message of a service as one line of at most 300 characters. */
export function reasonOf(...parts: readonly string[]): string {
  const reason = parts.filter(part => part !== '').join(': ')
  return reason.replace(/\s+/gu, ' ').trim().slice(0, 300)
}
