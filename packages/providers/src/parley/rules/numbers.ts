import type { Language } from './language.ts'
import type { Word } from './words.ts'

/** A number in a text, in words or digits. It covers the words `from` to `to`, exclusive. */
export interface SpokenNumber {
  readonly value: number
  /** The number as digits, with leading zeros ("007"). */
  readonly digits: string
  readonly from: number
  readonly to: number
}

interface NumberWords {
  readonly small: ReadonlyMap<string, number>
  readonly tens: ReadonlyMap<string, number>
  readonly hundreds: ReadonlyMap<string, number>
  readonly thousand: string
  /** The word between tens and ones ("treinta y uno"). */
  readonly joiner: string | null
  readonly ordinals: ReadonlyMap<string, number>
}

const counted = (from: number, words: string, step = 1) =>
  words.split(' ').map((word, i) => [word, from + i * step] as const)

const WORDS: Readonly<Record<Language, NumberWords>> = {
  en: {
    small: new Map([
      ...counted(0, 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen'),
      ...counted(16, 'sixteen seventeen eighteen nineteen'),
    ]),
    tens: new Map(counted(20, 'twenty thirty forty fifty sixty seventy eighty ninety', 10)),
    hundreds: new Map([['hundred', 100]]),
    thousand: 'thousand',
    joiner: null,
    ordinals: new Map(counted(1, 'first second third fourth fifth sixth seventh eighth ninth tenth')),
  },
  es: {
    small: new Map([
      ...counted(0, 'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince'),
      ...counted(16, 'dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro'),
      ...counted(25, 'veinticinco veintiseis veintisiete veintiocho veintinueve'),
      ...([
        ['una', 1],
        ['un', 1],
        ['veintiun', 21],
        ['veintiuna', 21],
      ] as const),
    ]),
    tens: new Map(counted(30, 'treinta cuarenta cincuenta sesenta setenta ochenta noventa', 10)),
    hundreds: new Map([
      ...counted(
        100,
        'ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos',
        100,
      ),
      ['cien', 100],
    ]),
    thousand: 'mil',
    joiner: 'y',
    ordinals: new Map([
      ...counted(1, 'primero segundo tercero cuarto quinto sexto septimo octavo noveno decimo'),
      ...counted(1, 'primera segunda tercera cuarta quinta sexta septima octava novena decima'),
      ...([
        ['primer', 1],
        ['tercer', 3],
      ] as const),
    ]),
  },
}

const MAX_DIGITS = 32

/** All numbers in the words, in order. */
export function numbersIn(words: readonly Word[], language: Language): SpokenNumber[] {
  const found: SpokenNumber[] = []
  for (let at = 0; at < words.length; ) {
    const number = numberAt(words, at, language)
    if (number !== null) found.push(number)
    at = number?.to ?? at + 1
  }
  return found
}

const LAST: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: new Set(['last']),
  es: new Set(['ultimo', 'ultima']),
}

/** What the words choose of `offered` by its position: "the second one", "the last"; undefined: nothing. */
export function chosenOf<Offer>(
  offered: readonly Offer[],
  words: readonly Word[],
  language: Language,
): Offer | undefined {
  for (const word of words) {
    const ordinal = ordinalOf(word, language)
    if (ordinal !== null) return offered[ordinal - 1]
    if (LAST[language].has(word.folded)) return offered.at(-1)
  }
  return undefined
}

/** The value of an ordinal ("second": 2); null for any other word. */
export function ordinalOf(word: Word, language: Language): number | null {
  return WORDS[language].ordinals.get(word.folded) ?? null
}

export function numberAt(words: readonly Word[], at: number, language: Language): SpokenNumber | null {
  const folded = words[at]?.folded ?? ''
  if (/^[0-9]+$/.test(folded) && folded.length <= MAX_DIGITS)
    return { value: Number(folded), digits: folded, from: at, to: at + 1 }
  const below = belowThousand(words, at, language)
  const { thousand } = WORDS[language]
  const at1000 = below?.to ?? at
  if (words[at1000]?.folded !== thousand || (below === null && language === 'en')) return withDigits(below)
  const rest = belowThousand(words, at1000 + 1, language)
  const value = (below?.value ?? 1) * 1000 + (rest?.value ?? 0)
  return withDigits({ value, from: at, to: rest?.to ?? at1000 + 1 })
}

type Span = { readonly value: number; readonly from: number; readonly to: number }

function withDigits(span: Span | null): SpokenNumber | null {
  return span === null ? null : { ...span, digits: String(span.value) }
}

function belowThousand(words: readonly Word[], at: number, language: Language): Span | null {
  const { hundreds } = WORDS[language]
  const ones = belowHundred(words, at, language)
  if (language === 'en') {
    if (ones === null || ones.value > 9 || words[ones.to]?.folded !== 'hundred') return ones
    const and = words[ones.to + 1]?.folded === 'and' ? 1 : 0
    const rest = belowHundred(words, ones.to + 1 + and, language)
    return { value: ones.value * 100 + (rest?.value ?? 0), from: at, to: rest?.to ?? ones.to + 1 }
  }
  const hundred = hundreds.get(words[at]?.folded ?? '')
  if (hundred === undefined) return ones
  const rest = belowHundred(words, at + 1, language)
  return { value: hundred + (rest?.value ?? 0), from: at, to: rest?.to ?? at + 1 }
}

function belowHundred(words: readonly Word[], at: number, language: Language): Span | null {
  const { small, tens, joiner } = WORDS[language]
  const word = words[at]?.folded ?? ''
  const ten = tens.get(word)
  if (ten === undefined) {
    const value = small.get(word)
    return value === undefined ? null : { value, from: at, to: at + 1 }
  }
  const next = joiner === null ? at + 1 : words[at + 1]?.folded === joiner ? at + 2 : -1
  const one = small.get(words[next]?.folded ?? '')
  if (one === undefined || one < 1 || one > 9 || words[next]!.afterBreak) return { value: ten, from: at, to: at + 1 }
  return { value: ten + one, from: at, to: next + 1 }
}
