import type { ConversationEvent } from '@parley/conversation'
import type { DialogueInput } from '@parley/dialogue'
import { turnSettings } from './dialogue-options.ts'

type TurnEvent = Extract<
  ConversationEvent,
  { type: 'settings' | 'language' | 'collect-digits' | 'question' | 'await-opening' | 'busy' }
>

/** What an event of the conversation tells the turn machine. */
export function dialogueInput(event: TurnEvent): DialogueInput {
  switch (event.type) {
    case 'settings':
      return { type: 'settings', settings: turnSettings(event.settings) }
    case 'language':
      return { type: 'language', language: event.language }
    case 'collect-digits':
      return {
        type: 'collect-digits',
        question: event.question,
        answers: event.answers,
        digitLimit: event.digit_limit,
        terminationKey: event.termination_key,
        timeoutMs: event.timeout_ms,
      }
    case 'question':
      return { type: 'question', question: event.question }
    case 'await-opening':
      return { type: 'await-opening', afterMs: event.after_ms }
    case 'busy':
      return { type: 'agent-busy', busy: event.busy, working: event.working }
  }
}
