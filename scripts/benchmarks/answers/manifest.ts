import type { AnswerClass } from '@parley/dialogue'
import { type Random, randomUint32, SeededRandom } from '@parley/kernel'
import { type Half, halfOf } from './half.ts'
import { type BenchVoice, type Language, voicesOf } from './voices.ts'
import { developmentLines } from './wordings/development.ts'
import { ENGLISH } from './wordings/english.ts'
import { SPANISH } from './wordings/spanish.ts'
import type { LanguageWordings, WordingClass } from './wordings/wordings.ts'

interface Beep {
  readonly hz: readonly number[]
  readonly ms: number
}

export type Part =
  | { readonly says: string }
  | { readonly silence: number }
  | { readonly beep: Beep }
  | { readonly sound: 'sit' | 'fax' | 'music' | 'ringback'; readonly ms: number }

/** One call of the benchmark, from which its audio follows. */
export interface CallSpec {
  readonly id: string
  readonly half: Half
  readonly class: AnswerClass
  readonly kind: string
  readonly language: Language
  readonly voice: BenchVoice
  readonly wording: string
  /** Before the answer. */
  readonly early: readonly Part[]
  readonly parts: readonly Part[]
  readonly snrDb: number | null
  readonly noise: 'pink' | 'street' | 'hum'
  readonly codec: 'PCMU' | 'PCMA' | 'G722'
  readonly lossPercent: number
  readonly seed: number
}

/** Calls of each class in a whole half. */
export const CALLS_OF: Readonly<Record<AnswerClass, number>> = {
  human: 800,
  voicemail: 500,
  mailbox_unavailable: 400,
  ivr: 500,
  screener: 500,
  announcement: 400,
  fax: 400,
  silence: 400,
}

const BEEPS: readonly Beep[] = [
  { hz: [1000], ms: 400 },
  { hz: [850], ms: 300 },
  { hz: [440], ms: 500 },
  { hz: [1400], ms: 250 },
  { hz: [620], ms: 350 },
  { hz: [2000], ms: 200 },
  { hz: [1209], ms: 500 },
  { hz: [750], ms: 600 },
  { hz: [480, 620], ms: 400 },
  { hz: [350, 440], ms: 500 },
]
const SNRS = [null, null, null, 20, 20, 15, 10, 5] as const
const CODECS = ['PCMU', 'PCMU', 'PCMA', 'G722'] as const
const LOSSES = [0, 0, 0, 1, 3] as const
const NOISES = ['pink', 'street', 'hum'] as const

const WORDINGS: Readonly<Record<Language, LanguageWordings>> = { en: ENGLISH, es: SPANISH }

/** All calls of a half; `share` of each class, at least one. The same seed gives the same calls. */
export function callsOf(half: Half, share = 1, seed = 1): CallSpec[] {
  const calls: CallSpec[] = []
  for (const [name, count] of Object.entries(CALLS_OF) as [AnswerClass, number][]) {
    for (let i = 0; i < Math.max(1, Math.round(count * share)); i++) {
      const random = new SeededRandom(seedOf(`${half}/${name}/${seed}/${i}`))
      calls.push(new CallMaker(half, random).make(`${half}-${name}-${i}`, name))
    }
  }
  return calls
}

class CallMaker {
  readonly #half: Half
  readonly #random: Random
  #language: Language = 'en'
  #texts: string[] = []

  constructor(half: Half, random: Random) {
    this.#half = half
    this.#random = random
  }

  make(id: string, name: AnswerClass): CallSpec {
    this.#language = this.#chance(0.35) ? 'es' : 'en'
    const { kind, parts } = this.#partsOf(name)
    return {
      id,
      half: this.#half,
      class: name,
      kind,
      language: this.#language,
      voice: this.#pick(voicesOf(this.#half, this.#language)),
      wording: this.#texts.join(' / '),
      early: this.#chance(0.5)
        ? [{ sound: 'ringback', ms: this.#between(800, 2000) }, { silence: this.#between(100, 1500) }]
        : [],
      parts,
      snrDb: this.#pick(SNRS),
      noise: this.#pick(NOISES),
      codec: this.#pick(CODECS),
      lossPercent: this.#pick(LOSSES),
      seed: Math.floor(this.#uniform() * 2 ** 31),
    }
  }

  #partsOf(name: AnswerClass): { kind: string; parts: Part[] } {
    const pickup = { silence: this.#between(100, 900) }
    switch (name) {
      case 'human':
        return this.#person()
      case 'voicemail':
        return this.#voicemail(pickup)
      case 'mailbox_unavailable':
        return { kind: 'mailbox', parts: [pickup, ...this.#says('mailbox_unavailable'), { silence: 2000 }] }
      case 'ivr':
        return this.#menu(pickup)
      case 'screener':
        return this.#screener(pickup)
      case 'announcement':
        return this.#announcement(pickup)
      case 'fax':
        return {
          kind: 'fax',
          parts: [
            { silence: this.#between(200, 2500) },
            { sound: 'fax', ms: this.#between(1500, 3500) },
            { silence: 3000 },
          ],
        }
      case 'silence':
        return { kind: 'silence', parts: [{ silence: 12_000 }] }
    }
  }

  #person(): { kind: string; parts: Part[] } {
    const after: Part[] = [{ silence: this.#between(2500, 4500) }, ...this.#says('reply'), { silence: 2500 }]
    if (this.#half === 'tuning' && this.#chance(0.06))
      return {
        kind: 'radio',
        parts: [{ sound: 'music', ms: this.#between(500, 2200) }, ...this.#says('person'), ...after],
      }
    const roll = this.#uniform()
    if (roll < 0.25)
      return { kind: 'company', parts: [{ silence: this.#between(200, 900) }, ...this.#says('company'), ...after] }
    if (roll < 0.37) {
      const twice = [...this.#says('person'), { silence: this.#between(900, 2500) }, ...this.#says('person')]
      return { kind: 'double', parts: [{ silence: this.#between(200, 900) }, ...twice, ...after] }
    }
    if (roll < 0.47)
      return { kind: 'late', parts: [{ silence: this.#between(2500, 7000) }, ...this.#says('person'), ...after] }
    return { kind: 'greeting', parts: [{ silence: this.#between(150, 1200) }, ...this.#says('person'), ...after] }
  }

  #voicemail(pickup: Part): { kind: string; parts: Part[] } {
    const isOperator = this.#chance(0.35)
    const greeting = this.#says(isOperator ? 'operator-voicemail' : 'voicemail')
    const end: Part[] = this.#chance(0.85)
      ? [{ silence: this.#between(200, 1500) }, { beep: this.#pick(BEEPS) }, { silence: 4000 }]
      : [{ silence: 6000 }]
    return { kind: isOperator ? 'operator' : 'personal', parts: [pickup, ...greeting, ...end] }
  }

  #menu(pickup: Part): { kind: string; parts: Part[] } {
    const roll = this.#uniform()
    if (roll < 0.15)
      return {
        kind: 'music',
        parts: [
          pickup,
          { sound: 'music', ms: this.#between(1500, 4000) },
          ...this.#says('hold-queue'),
          { sound: 'music', ms: 4000 },
        ],
      }
    if (roll < 0.35)
      return { kind: 'queue', parts: [pickup, ...this.#says('hold-queue'), { sound: 'music', ms: 5000 }] }
    return { kind: 'menu', parts: [pickup, ...this.#says('ivr'), { silence: 3000 }] }
  }

  #screener(pickup: Part): { kind: string; parts: Part[] } {
    const first = [pickup, ...this.#says('screener')]
    if (this.#chance(0.7)) return { kind: 'one', parts: [...first, { silence: 5000 }] }
    return { kind: 'two', parts: [...first, { silence: 5000 }, ...this.#says('screener-question'), { silence: 3000 }] }
  }

  #announcement(pickup: Part): { kind: string; parts: Part[] } {
    const words = this.#says('announcement')
    if (this.#chance(0.5)) return { kind: 'words', parts: [pickup, ...words, { silence: 2000 }] }
    return { kind: 'sit', parts: [pickup, { sound: 'sit', ms: 1000 }, { silence: 300 }, ...words, { silence: 2000 }] }
  }

  /** One line of each pool of this half; `|` is a pause. */
  #says(name: WordingClass): Part[] {
    const wordings = WORDINGS[this.#language]
    const picked = wordings.wordings[name].map((pool, i) => this.#pick(this.#linesOf(name, pool, i)))
    this.#texts.push(...picked)
    const person = this.#pick(wordings.names)
    const company = this.#pick(wordings.companies)
    const text = picked.join(' ').replaceAll('{name}', person).replaceAll('{company}', company)
    const number = Array.from({ length: 7 }, () => Math.floor(this.#uniform() * 10)).join(' ')
    return text
      .replaceAll('{number}', number)
      .split('|')
      .flatMap((part, i) => [...(i > 0 ? [{ silence: this.#between(700, 1600) }] : []), { says: part.trim() }])
  }

  #linesOf(name: WordingClass, pool: readonly string[], index: number): readonly string[] {
    const own = pool.filter(line => halfOf(line) === this.#half)
    return this.#half === 'tuning' ? [...own, ...developmentLines(this.#language, name, index)] : own
  }

  #uniform(): number {
    return randomUint32(this.#random) / 2 ** 32
  }

  #chance(share: number): boolean {
    return this.#uniform() < share
  }

  #between(low: number, high: number): number {
    return Math.round(low + this.#uniform() * (high - low))
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#uniform() * choices.length)]!
  }
}

function seedOf(name: string): number {
  let seed = 2166136261
  for (const character of name) seed = Math.imul(seed ^ character.charCodeAt(0), 16777619) >>> 0
  return seed
}
