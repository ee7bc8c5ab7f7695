import type { TestCase } from '@parley/contract'
import { type Random, randomUint32 } from '@parley/kernel'
import type { CallerMove, HeardByCaller, TextCaller } from '../caller-move.ts'
import type { Persona } from './persona.ts'

/** What the rules say where they have no fact, by language. */
const PHRASES = {
  en: {
    yes: 'Yes, please.',
    no: 'No, that is all, thank you.',
    again: 'Sorry, I did not get that.',
    uh: 'Um,',
    rambling: 'Well, you see, I have been meaning to call for a while.',
    closing: /\b(goodbye|bye|anything else|something else)\b/i,
    question: /\b(shall|is that|would you|do you want|right|correct|ok(ay)?)\b.*\?/i,
  },
  es: {
    yes: 'Sí, por favor.',
    no: 'No, eso es todo, gracias.',
    again: 'Perdone, no le he entendido.',
    uh: 'Eh,',
    rambling: 'Pues mire, hace tiempo que quería llamar.',
    closing: /(adiós|hasta luego|algo más)/i,
    question: /(lo pido|le parece|quiere que|es correcto|de acuerdo|verdad|¿está bien)/i,
  },
} as const

/** How often "sometimes" and "often" are, of 100. */
const SHARE = { never: 0, sometimes: 30, often: 70 } as const
const FEWEST_LETTERS = 4

/**
 * A persona without a model: it says its goal, answers questions by the facts whose names share words with the question, agrees to
 * what it is asked to confirm, and hangs up when its patience is over. It understands no more than that.
 */
export class RulesPersona implements TextCaller {
  readonly #persona: Persona
  readonly #language: TestCase['language']
  readonly #random: Random
  readonly #told = new Set<string>()
  #hasSaidGoal = false
  #unhelped = 0

  constructor(persona: Persona, language: TestCase['language'], random: Random) {
    this.#persona = persona
    this.#language = language
    this.#random = random
  }

  async next({ agentTexts }: HeardByCaller): Promise<CallerMove> {
    const phrases = PHRASES[this.#language]
    const heard = agentTexts.join(' ')
    if (!this.#hasSaidGoal) {
      this.#hasSaidGoal = true
      return this.#says(this.#persona.goal)
    }
    const fact = this.#factFor(heard)
    if (fact !== null) {
      this.#unhelped = 0
      return this.#says(fact)
    }
    if (phrases.closing.test(heard)) return this.#says(phrases.no)
    if (phrases.question.test(heard)) return this.#says(phrases.yes)
    if (++this.#unhelped > this.#persona.behavior.patience) return { type: 'hang-up' }
    return this.#says(heard === '' ? phrases.again : this.#persona.goal)
  }

  /** The fact whose name shares the most words with the question; each is told once, and again when nothing else fits. */
  #factFor(heard: string): string | null {
    const words = new Set(wordsOf(heard))
    const fits = Object.entries(this.#persona.facts)
      .map(([name, value]) => ({ name, value, score: wordsOf(name).filter(word => words.has(word)).length }))
      .filter(({ score }) => score > 0)
      .sort(
        (one, other) =>
          Number(this.#told.has(one.name)) - Number(this.#told.has(other.name)) || other.score - one.score,
      )
    const [best] = fits
    if (best === undefined) return null
    this.#told.add(best.name)
    return best.value
  }

  #says(text: string): CallerMove {
    const { behavior } = this.#persona
    const phrases = PHRASES[this.#language]
    const parts = [text]
    if (happens(behavior.pauses, this.#random)) parts.unshift(phrases.uh)
    if (behavior.verbosity === 'rambling') parts.unshift(phrases.rambling)
    return { type: 'turn', text: parts.join(' '), digits: null, steps: [] }
  }
}

/** Whether something happens that does so never, sometimes or often. */
export function happens(often: keyof typeof SHARE, random: Random): boolean {
  return randomUint32(random) % 100 < SHARE[often]
}

/** Stems of the longer words. */
function wordsOf(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .normalize('NFD')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter(word => word.length >= FEWEST_LETTERS).map(word => word.replace(/(es|s)$/, ''))
}
