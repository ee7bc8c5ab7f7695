import type { Plan } from '@parley/flow'
import {
  ASKS_CARD,
  ASKS_NAME,
  ASKS_PHONE,
  DIGIT_RUNS,
  digitsIn,
  EMAILS,
  NAME_VARIABLE,
  NAMED,
  nameIn,
} from './patterns.ts'

/** What an agent's settings take out of what is stored. */
export type Redaction = NonNullable<Plan['settings']['redaction']>
type Kind = Redaction['kinds'][number]

const MASKS: Readonly<Record<Kind, string>> = {
  names: '[name]',
  card_numbers: '[card number]',
  phone_numbers: '[phone number]',
  emails: '[e-mail]',
}
/** Cards have 13 to 19 digits, telephone numbers 7 to 15. */
const CARD_DIGITS = 13
const PHONE_DIGITS = 7
/** A group of at least this many digits belongs to the number that was asked for: numbers are dictated in groups. */
const GROUP_DIGITS = 2
const MAX_NAMES = 200
/** A question is answered within this many lines. */
const ANSWERED_WITHIN = 4

interface Line {
  readonly role: 'agent' | 'user'
  readonly text: string
}

/**
 * Takes names, card numbers, telephone numbers and e-mail addresses out of texts, in figures and in words, in English and Spanish. Without
 * I/O. A name that was given once is taken out of all texts from then on. It works by patterns: what is named in another way stays.
 */
export class Redactor {
  readonly #kinds: ReadonlySet<Kind>
  /** Words of names that were given, in lower case. */
  readonly #names = new Set<string>()
  #namePattern: RegExp | null = null
  /** What the agent asked for last, and how many lines ago. */
  #asked: { readonly kind: Kind; readonly linesLeft: number } | null = null

  constructor({ kinds }: Pick<Redaction, 'kinds'>) {
    this.#kinds = new Set(kinds)
  }

  /** Grows with each name that becomes known: texts that were redacted before may hold it. */
  get namesKnown(): number {
    return this.#names.size
  }

  /** Variables of the conversation: the agent may say a name that is one of their values. */
  variables(values: Readonly<Record<string, string>>): void {
    if (!this.#kinds.has('names')) return
    for (const [name, value] of Object.entries(values)) if (NAME_VARIABLE.test(name)) this.#addNames(nameIn(value))
  }

  /** A line of the conversation, in order: the agent's questions say what the caller's answers hold. */
  line({ role, text }: Line): string {
    if (role === 'user') this.#learnName(text, this.#asked?.kind === 'names')
    const redacted = this.text(text, role === 'user' ? (this.#asked?.kind ?? null) : null)
    this.#follow(role, text)
    return redacted
  }

  /** Any other text. `asked`: what the agent asked the speaker for. */
  text(text: string, asked: Kind | null = null): string {
    this.#learnName(text, false)
    let result = text
    if (this.#kinds.has('emails')) result = result.replace(EMAILS, MASKS.emails)
    if (this.#kinds.has('card_numbers') || this.#kinds.has('phone_numbers'))
      result = result.replace(DIGIT_RUNS, run => this.#digits(run, asked))
    return this.#namePattern === null ? result : result.replace(this.#namePattern, MASKS.names)
  }

  /** Keys that were pressed. */
  keys(keys: string): string {
    const digits = keys.replace(/\D/g, '')
    const mask = this.#maskOf(digits.length, this.#asked?.kind ?? null)
    return mask === null ? keys : keys.replace(/\d/g, '*')
  }

  #digits(run: string, asked: Kind | null): string {
    const mask = this.#maskOf(digitsIn(run), asked)
    if (mask === null) return run
    // Marks and blanks at the end belong to the sentence.
    return mask + /[\s.,()/-]*$/.exec(run)![0]
  }

  #maskOf(digits: number, asked: Kind | null): string | null {
    if (digits >= CARD_DIGITS && this.#kinds.has('card_numbers')) return MASKS.card_numbers
    if (digits >= PHONE_DIGITS && this.#kinds.has('phone_numbers')) return MASKS.phone_numbers
    const isGroup = digits >= GROUP_DIGITS && (asked === 'card_numbers' || asked === 'phone_numbers')
    return isGroup && this.#kinds.has(asked) ? MASKS[asked] : null
  }

  #learnName(text: string, isAnswer: boolean): void {
    if (!this.#kinds.has('names')) return
    const found = [...text.matchAll(NAMED)].flatMap(match => nameIn(match[1] ?? ''))
    const answered = isAnswer && found.length === 0 ? nameIn(text) : []
    // A long answer to the question for a name is a sentence about something else.
    const isShort = (text.replace(EMAILS, '').match(/\p{L}+/gu) ?? []).length <= 5
    this.#addNames([...found, ...(isShort ? answered : [])])
  }

  #addNames(words: readonly string[]): void {
    let isNew = false
    for (const word of words) {
      const name = word.toLowerCase()
      if (name.length < 2 || this.#names.has(name) || this.#names.size >= MAX_NAMES) continue
      this.#names.add(name)
      isNew = true
    }
    if (isNew) this.#namePattern = patternOf(this.#names)
  }

  #follow(role: Line['role'], text: string): void {
    const kind = role === 'agent' ? askedFor(text) : null
    if (kind !== null) this.#asked = { kind, linesLeft: ANSWERED_WITHIN }
    else if (this.#asked !== null) {
      const linesLeft = this.#asked.linesLeft - 1
      // Another question of the agent ends the answers to this one.
      const isOver = linesLeft <= 0 || (role === 'agent' && text.includes('?'))
      this.#asked = isOver ? null : { kind: this.#asked.kind, linesLeft }
    }
  }
}

function askedFor(text: string): Kind | null {
  if (ASKS_CARD.test(text)) return 'card_numbers'
  if (ASKS_PHONE.test(text)) return 'phone_numbers'
  return ASKS_NAME.test(text) ? 'names' : null
}

/** Neighbouring words of names become one mask. */
function patternOf(names: ReadonlySet<string>): RegExp {
  const words = [...names].sort((a, b) => b.length - a.length).map(name => name.replace(/['’.]/g, '.'))
  const word = `(?:${words.join('|')})`
  return new RegExp(`(?<![\\p{L}\\p{N}])${word}(?:[ ]${word})*(?![\\p{L}\\p{N}])`, 'giu')
}
