import type { Conversation, Exchange } from './conversation.ts'
import type { Language } from './language.ts'
import type { Kind, Property } from './property.ts'
import { questionsIn } from './speech/instruction.ts'
import { type Turn, understand } from './turn.ts'
import { fold } from './words.ts'

/** A turn of the caller with what was asked before it; understood when it is looked at. */
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
    this.#turn ??= understand(this.exchange.caller, this.exchange.digits, this.#language)
    return this.#turn
  }

  /** It is a plain yes to a question of the agent: what that proposed is agreed. */
  get agrees(): boolean {
    return this.turn.polarity === 'yes' && this.turn.plain && this.question.text.includes('?')
  }

  /** The agent's questions before it; all that the agent said where that was no question. */
  get question(): Turn {
    if (this.#question === null) {
      const questions = questionsIn(this.exchange.agent)
      const text = questions.length > 0 ? questions.join(' ') : this.exchange.agent
      this.#question = understand(text, null, this.#language)
    }
    return this.#question
  }
}

/** What the reading of one value knows beside the turn. */
export interface Asked {
  /** The agent had asked for it. */
  readonly asked: boolean
  readonly language: Language
  /** Today, "2026-01-05", where the conversation says it. */
  readonly today: string | null
  /** Words of the turn that belong to other values: a number there counts nothing. */
  readonly taken: readonly WordSpan[]
}

/** The words `from` to before `to`. */
export interface WordSpan {
  readonly from: number
  readonly to: number
}

const MOST_TURNS = 60

/** How a question for a value of the kind sounds, folded. */
const ASKED: Readonly<Partial<Record<Kind, RegExp>>> = {
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
  return conversation.exchanges.slice(0, MOST_TURNS).map(exchange => new Evidence(exchange, language))
}

/** How much the question was about the property: shared words, and one more where it asks for values of its kind. */
export function relevance({ question }: Evidence, property: Property): number {
  let shared = 0
  for (const stem of property.about) if (question.said.has(stem) || question.denied.has(stem)) shared++
  return shared + (ASKED[property.kind]?.test(fold(question.text)) === true ? 1 : 0)
}
