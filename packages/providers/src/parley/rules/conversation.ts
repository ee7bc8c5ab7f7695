import type { ChatMessage } from '../../language-model/language-model.ts'
import { corrected } from './corrections.ts'

/** One turn of the caller, with the speech of the agent before it. */
export interface Exchange {
  readonly agent: string
  /** Without what the caller took back in the same turn. */
  readonly caller: string
  /** Keys that the caller pressed in the turn; null when none. */
  readonly digits: string | null
}

/** The parts of a conversation that the rules use. */
export interface Conversation {
  /** Turns of the caller, the newest first. */
  readonly exchanges: readonly Exchange[]
  /** The caller's turn that the agent has not answered yet; null when the agent spoke last. */
  readonly unansweredExchange: Exchange | null
  /** The last speech of the agent; "" when the agent has not spoken. */
  readonly agent: string
  /** All speech of the agent, the newest first. */
  readonly agentSaid: readonly string[]
  /** The newest tool result after the caller's newest turn. */
  readonly result: string | null
  /** Tool calls since the caller's newest turn. */
  readonly calls: readonly { readonly name: string; readonly argumentsText: string }[]
  readonly system: string
}

const MAX_MESSAGES = 400
const MAX_CHARACTERS = 8192
const MAX_OF_A_RESULT = 32_768

/** Reads the newest messages; texts are cut at 8192 characters. */
export function conversationIn(messages: readonly ChatMessage[]): Conversation {
  const exchanges: Exchange[] = []
  const agentSaid: string[] = []
  let unansweredExchange: Exchange | null = null
  let result: string | null = null
  let calls: { name: string; argumentsText: string }[] = []
  let agent = ''
  for (const message of messages.slice(-MAX_MESSAGES)) {
    const most = message.role === 'tool' ? MAX_OF_A_RESULT : MAX_CHARACTERS
    const content = message.content.slice(0, most)
    if (message.role === 'user') {
      unansweredExchange = { ...callerTurn(content), agent }
      exchanges.unshift(unansweredExchange)
      result = null
      calls = []
    } else if (message.role === 'assistant') {
      calls.push(...(message.toolCalls ?? []).map(({ name, argumentsText }) => ({ name, argumentsText })))
      const speech = withoutNotes(content)
      if (speech === '') continue
      agent = speech
      agentSaid.unshift(speech)
      if (message.toolCalls === undefined || message.toolCalls.length === 0) unansweredExchange = null
    } else if (message.role === 'tool') result = content
  }
  const system = messages.find(message => message.role === 'system')?.content.slice(0, MAX_CHARACTERS) ?? ''
  return { exchanges, unansweredExchange, agent, agentSaid, result, calls, system }
}

/** Splits a turn into its words and its notes in brackets ("[pressed 12#]", "[interrupted]"), and takes the keys from the notes. */
function callerTurn(content: string): { caller: string; digits: string | null } {
  let digits: string | null = null
  for (const note of notes(content)) {
    const keys = note
      .slice(1, -1)
      .split(/\s+/)
      .filter(word => /^[0-9*#]{1,64}$/.test(word))
    if (keys.length > 0) digits = keys.join('')
  }
  return { caller: corrected(withoutNotes(content)), digits }
}

function withoutNotes(content: string): string {
  return content.replace(/\[[^[\]]{0,200}\]/g, ' ').trim()
}

function notes(content: string): string[] {
  return content.match(/\[[^[\]]{0,200}\]/g) ?? []
}
