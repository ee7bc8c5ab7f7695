import { msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import { isObject, type JsonObject, textIn } from '../json-object.ts'
import type { ServiceWord } from './service-protocol.ts'

/** Limits on words per passage and on the length of a word. */
const MOST_WORDS = 2000
const MOST_WORD_LENGTH = 200
/** A day, the longest time that is accepted. */
const MOST_SAMPLES: Samples = 24 * 3600 * 8000

/** A number in a message; null where there is none. */
export function numberIn(object: JsonObject, name: string): number | null {
  const value = Object.hasOwn(object, name) ? object[name] : undefined
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** A time in a message, in the unit that `perSecond` of make a second; null where there is none. */
export function timeIn(object: JsonObject, name: string, perSecond: number): Samples | null {
  const value = numberIn(object, name)
  if (value === null || value < 0) return null
  return Math.min(MOST_SAMPLES, msToSamples((value * 1000) / perSecond, NARROWBAND))
}

/**
 * The words of a message: their text in the first of the `names` that a word has, their times in units of which
 * `perSecond` make a second. A transcript without words is taken apart at its spaces.
 */
export function wordsIn(object: JsonObject, names: readonly string[], perSecond: number): ServiceWord[] {
  const words: ServiceWord[] = []
  const list = Array.isArray(object.words) ? object.words.slice(0, MOST_WORDS) : []
  for (const word of list) {
    if (!isObject(word)) continue
    const text = names
      .map(name => textIn(word, name))
      .find(one => one !== '')
      ?.trim()
    if (text === undefined || text === '') continue
    const confidence = numberIn(word, 'confidence')
    words.push({
      text: text.slice(0, MOST_WORD_LENGTH),
      start: timeIn(word, 'start', perSecond),
      end: timeIn(word, 'end', perSecond),
      ...(confidence !== null && { confidence }),
    })
  }
  if (words.length > 0) return words
  const texts = textIn(object, 'transcript').split(/\s+/u, MOST_WORDS)
  return texts
    .filter(text => text !== '')
    .map(text => ({ text: text.slice(0, MOST_WORD_LENGTH), start: null, end: null }))
}

/** A message of a service as one line of at most 300 characters. */
export function reasonOf(...parts: readonly string[]): string {
  const reason = parts.filter(part => part !== '').join(': ')
  return reason.replace(/\s+/gu, ' ').trim().slice(0, 300)
}
