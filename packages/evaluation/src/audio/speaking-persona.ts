import type { TestCase } from '@parley/contract'
import { type Ms, type Random, randomBelow } from '@parley/kernel'
import type { CallerStep, HeardLine, ImprovisedCaller } from '@parley/phone'
import type { TextCaller } from '../caller-move.ts'
import type { Persona } from '../persona/persona.ts'
import { happens } from '../persona/rules-persona.ts'

/** How long a persona waits for an answer before it goes on regardless. */
const PATIENCE_MS: Ms = 10_000
/** Silence of the agent after which its answer is over. */
const PAUSE_MS: Ms = 900
/** How much of an answer a persona hears that interrupts it, and one that shows that it listens. */
const INTERRUPTS_AFTER_MS: Ms = 600
const BACKCHANNELS_AFTER_MS: Ms = 800
/** Silence in the middle of a sentence: from, and how much longer at most. */
const HESITATION_MS: Ms = 400
const LONGER_MS: Ms = 400
const FEWEST_WORDS = 4
const LEVEL_DB = -20
const BACKCHANNEL = { en: 'Mhm.', es: 'Ajá.' } as const

interface SpeakingPersonaOptions {
  /** What the persona says and does. */
  readonly player: TextCaller
  readonly language: TestCase['language']
  /** The persona hangs up after this many turns. */
  readonly maxTurns: number
  readonly random: Random
  readonly signal: AbortSignal
  /** A turn of the persona begins. */
  readonly onTurn: () => void
}

/** A persona on a call: its moves become steps of the caller, with the interruptions, pauses and backchannels of its behaviour. */
export class SpeakingPersona implements ImprovisedCaller {
  readonly begin: readonly CallerStep[] = [untilAnswered()]
  readonly #behavior: Persona['behavior']
  readonly #options: SpeakingPersonaOptions
  #turns = 0
  #heardUntilMs: Ms = Number.NEGATIVE_INFINITY

  constructor({ behavior }: Persona, options: SpeakingPersonaOptions) {
    this.#behavior = behavior
    this.#options = options
  }

  async next(lines: readonly HeardLine[]): Promise<readonly CallerStep[]> {
    const { player, maxTurns, signal, onTurn } = this.#options
    const heard = lines.filter(({ endMs }) => endMs > this.#heardUntilMs)
    this.#heardUntilMs = heard.at(-1)?.endMs ?? this.#heardUntilMs
    if (this.#turns === maxTurns) return [{ type: 'hang-up' }]
    const agentTexts = heard.flatMap(({ text }) => (text === '' ? [] : [text]))
    const move = await player.next({ agentTexts }, signal)
    if (move.type === 'hang-up') return [{ type: 'hang-up' }]
    if (move.type === 'silence') return [{ type: 'silence', ms: move.ms }]
    this.#turns++
    onTurn()
    const keys: CallerStep[] = move.digits === null ? [] : [{ type: 'press', digits: move.digits }]
    return [...(move.text === null ? [] : this.#spoken(move.text)), ...keys, ...this.#listening()]
  }

  /** The words, perhaps with a pause in their middle. */
  #spoken(text: string): CallerStep[] {
    const words = text.split(' ')
    if (words.length < FEWEST_WORDS || !this.#happens('pauses')) return [says(text)]
    const middle = Math.ceil(words.length / 2)
    const ms = HESITATION_MS + randomBelow(this.#options.random, LONGER_MS)
    return [says(words.slice(0, middle).join(' ')), { type: 'silence', ms }, says(words.slice(middle).join(' '))]
  }

  #listening(): CallerStep[] {
    if (this.#happens('interrupts')) return [untilAnswering(INTERRUPTS_AFTER_MS)]
    if (!this.#happens('backchannels')) return [untilAnswered()]
    return [untilAnswering(BACKCHANNELS_AFTER_MS), says(BACKCHANNEL[this.#options.language]), untilAnswered()]
  }

  #happens(what: 'interrupts' | 'pauses' | 'backchannels'): boolean {
    return happens(this.#behavior[what], this.#options.random)
  }
}

function says(text: string): CallerStep {
  return { type: 'say', text, levelDb: LEVEL_DB }
}

function untilAnswered(): CallerStep {
  return { type: 'reply', pauseMs: PAUSE_MS, withinMs: PATIENCE_MS, optional: true }
}

function untilAnswering(forMs: Ms): CallerStep {
  return { type: 'reply-begun', forMs, withinMs: PATIENCE_MS, optional: true }
}
