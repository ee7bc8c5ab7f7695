import type { Conversation, Exchange } from './conversation.ts'
import type { Language } from './language.ts'
import type { Kind, Property } from './property.ts'
import { questionsIn } from './speech/instruction.ts'
import { parseTurn, type Turn } from './turn.ts'
import { fold } from './words.ts'

/** A turn of the caller with the question before it. Both are parsed on first use. */
export class Evidence {
  readonly exchange: Exchange
  readonly #language: Language
  #turn: Turn | null = null
  #question: Turn | null = null

  constructor(exchange: Exchange, language: Language) {
    this.exchange = exchange
    this.#language = language
  }

  get turn(): Turn {
    this.#turn ??= parseTurn(this.exchange.caller, this.exchange.digits, this.#language)
    return this.#turn
  }

  /** The turn is a plain "yes" to a question of the agent, so the caller accepts what the question proposed. */
  get agrees(): boolean {
    return this.turn.polarity === 'yes' && this.turn.plain && this.question.text.includes('?')
  }

  /** The agent's questions before the turn; all speech of the agent when it contains no question. */
  get question(): Turn {
    if (this.#question === null) {
      const questions = questionsIn(this.exchange.agent)
      const text = questions.length > 0 ? questions.join(' ') : this.exchange.agent
      this.#question = parseTurn(text, null, this.#language)
    }
    return this.#question
  }
}

/** The context in which a value is read from a turn. */
export interface ReadingContext {
  /** The agent asked for this value before the turn. */
  readonly requested: boolean
  readonly language: Language
  /** The current date ("2026-01-05") when the system prompt contains it. */
  readonly today: string | null
  /** Words of the turn that belong to other values; numbers in them are ignored. */
  readonly taken: readonly WordSpan[]
}

/** A range of words, `to` exclusive. */
export interface WordSpan {
  readonly from: number
  readonly to: number
}

const MAX_TURNS = 60

/** Words in a question that asks for a value of the kind, folded. */
const QUESTION_PATTERNS: Readonly<Partial<Record<Kind, RegExp>>> = {
  email: /\b(?:e-?mail|correo)\b/,
  phone: /\b(?:phone|telefono|movil|celular|reach you|call you back)\b/,
  name: /\b(?:name|nombre|apellido|apellidos|llama|who)\b/,
  date: /\b(?:day|date|when|dia|fecha|cuando)\b/,
  time: /\b(?:time|hour|when|hora|cuando)\b/,
  digits: /\b(?:number|code|digits|pin|numero|codigo|cifras|digitos)\b/,
  number: /\b(?:how many|how much|how old|number|cuantos|cuantas|cuanto|numero)\b/,
}

/** The newest 60 turns of the caller, the newest first. */
export function evidenceIn(conversation: Conversation, language: Language): Evidence[] {
  return conversation.exchanges.slice(0, MAX_TURNS).map(exchange => new Evidence(exchange, language))
}

/** How closely the question concerns the property: the number of shared stems, plus one when it asks for a value of the kind. */
export function relevance({ question }: Evidence, property: Property): number {
  let shared = 0
  for (const stem of property.about) if (question.statedStems.has(stem) || question.negatedStems.has(stem)) shared++
  return shared + (QUESTION_PATTERNS[property.kind]?.test(fold(question.text)) === true ? 1 : 0)
}
