import type { ReadingContext } from '../evidence.ts'
import type { Language } from '../language.ts'
import { numberAt, numbersIn, type SpokenNumber } from '../numbers.ts'
import type { Property } from '../property.ts'
import { typeOf } from '../property.ts'
import { inWords } from '../tool-result.ts'
import type { Turn } from '../turn.ts'
import { vocabulary } from '../vocabulary.ts'
import { fold, type Word } from '../words.ts'
import { datesIn } from './dates.ts'
import { timesIn } from './times.ts'

/** Longer numbers are phone numbers or codes. */
const MAX_DIGITS = 9

/**
 * The number that the turn gives for the property: the pressed keys when the agent asked for it; else the number beside
 * a word of the property ("for four people"); else, when it was asked for or is a count, the first number outside dates
 * and times.
 */
export function numberFor(
  property: Property,
  turn: Turn,
  digits: string | null,
  { requested, language, taken }: ReadingContext,
): number | undefined {
  const fits = (value: number) => isWithin(property, value)
  const pressed = digits === null ? '' : digits.replace(/[^0-9]/g, '')
  if (requested && pressed !== '' && pressed.length <= MAX_DIGITS && fits(Number(pressed))) return Number(pressed)
  const spans = [...taken, ...datesIn(turn.words, language), ...timesIn(turn.words, language)]
  const free = numbersIn(turn.words, language).filter(
    number =>
      number.digits.length <= MAX_DIGITS && !spans.some(span => span.from <= number.from && number.to <= span.to),
  )
  const beside = free.find(number => isBeside(number, turn.words, property.about))
  const first = requested
    ? (free[0] ?? numbersIn(turn.words, language)[0])
    : isCount(property)
      ? free.find(number => countsSomething(number, turn.words, language))
      : undefined
  const number = beside ?? first
  if (number === undefined) return undefined
  const value = typeOf(property.schema) === 'number' ? withFraction(number, turn.words, language) : number.value
  const signed = ['minus', 'menos'].includes(turn.words[number.from - 1]?.folded ?? '') ? -value : value
  return fits(signed) ? signed : undefined
}

/** Whether the property is a count, which a number before any noun can give. */
function isCount({ name, description }: Property): boolean {
  const text = fold(`${inWords(name)} ${description}`)
  return /\b(?:how many|number of|quantity|count|cuantos|cuantas|cantidad|numero de|unidades)\b/.test(text)
}

/** Whether the number precedes a noun phrase ("three large ones"), and neither ends a sentence nor precedes a function word. */
function countsSomething(number: SpokenNumber, words: readonly Word[], language: Language): boolean {
  const next = words[number.to]
  return next !== undefined && !next.afterBreak && !vocabulary(language).grammar.has(next.folded)
}

function isBeside(number: SpokenNumber, words: readonly Word[], about: ReadonlySet<string>): boolean {
  const near = [number.from - 2, number.from - 1, number.to, number.to + 1].map(at => words[at]?.stem ?? '')
  return near.some(stem => about.has(stem))
}

/** The number with its fraction: "3.5", "three point five", "tres coma cinco". */
function withFraction(number: SpokenNumber, words: readonly Word[], language: Language): number {
  const next = words[number.to]
  const spoken = ['point', 'coma', 'punto'].includes(next?.folded ?? '')
  const written = next?.afterBreak === true && next.start === words[number.to - 1]!.end + 1
  const fraction = spoken
    ? numberAt(words, number.to + 1, language)
    : written
      ? numberAt(words, number.to, language)
      : null
  return fraction === null ? number.value : Number(`${number.value}.${fraction.digits}`)
}

function isWithin({ schema }: Property, value: number): boolean {
  const bound = (name: string) => (typeof schema[name] === 'number' ? (schema[name] as number) : undefined)
  const [least, most] = [bound('minimum'), bound('maximum')]
  const [above, below] = [bound('exclusiveMinimum'), bound('exclusiveMaximum')]
  if (typeOf(schema) === 'integer' && !Number.isSafeInteger(value)) return false
  if ((least !== undefined && value < least) || (most !== undefined && value > most)) return false
  return !(above !== undefined && value <= above) && !(below !== undefined && value >= below)
}
