import type { TestCase } from '@parley/contract'
import type { ChatMessage, LanguageModel } from '@parley/providers'
import type { CallerMove, HeardByCaller, TextCaller } from '../caller-move.ts'
import type { Persona } from './persona.ts'

/** The model writes this when the caller hangs up. */
const HANG_UP = '[hang up]'
const MAX_TOKENS = 200
const LANGUAGE = { en: 'English', es: 'Spanish' } as const

/** A persona that a model plays. */
export class ModelPersona implements TextCaller {
  readonly #model: LanguageModel
  readonly #messages: ChatMessage[]
  #isOver = false

  constructor(persona: Persona, language: TestCase['language'], model: LanguageModel) {
    this.#model = model
    this.#messages = [{ role: 'system', content: instructions(persona, language) }]
  }

  async next({ agentTexts }: HeardByCaller, signal: AbortSignal): Promise<CallerMove> {
    if (this.#isOver) return { type: 'hang-up' }
    const heard = agentTexts.join(' ')
    this.#messages.push({ role: 'user', content: heard === '' ? '(silence)' : heard })
    let text = ''
    for await (const event of this.#model.generate({ messages: this.#messages, maxOutputTokens: MAX_TOKENS }, signal))
      if (event.type === 'text') text += event.delta
    this.#messages.push({ role: 'assistant', content: text })
    this.#isOver = text.includes(HANG_UP)
    const words = text.replaceAll(HANG_UP, '').trim()
    return words === '' ? { type: 'hang-up' } : { type: 'turn', text: words, digits: null, steps: [] }
  }
}

function instructions({ goal, brief, facts, behavior }: Persona, language: TestCase['language']): string {
  const lines = [
    `You play a person who calls a company. Speak ${LANGUAGE[language]}, only the words that the person says aloud.`,
    `Goal: ${goal}`,
    `About the person: ${brief}`,
    ...Object.entries(facts).map(([name, value]) => `Fact: ${name} is ${value}`),
    'Tell facts only when asked, and make up none.',
    `Length of what you say: ${behavior.verbosity}.`,
    `After ${behavior.patience} answers that do not help, give up.`,
    `You interrupt ${behavior.interrupts}; you hesitate inside sentences ${behavior.pauses}; you say "mhm" while listening ${behavior.backchannels}.`,
    `When the goal is reached, or you give up, say goodbye and write ${HANG_UP}.`,
  ]
  return lines.join('\n')
}
