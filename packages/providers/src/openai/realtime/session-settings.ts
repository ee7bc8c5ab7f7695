import type { GenerationRequest } from '../../language-model/language-model.ts'
import type { ClientEvent } from './conversation-items.ts'

const MAX_PROMPT_CHARACTERS = 800
/** The service accepts a limit from 1 to this, or none. */
const MAX_OUTPUT_TOKENS = 4096
const MIN_SPEED = 0.25
const MAX_SPEED = 1.5
/** G.711 in both directions: the audio of a call needs no resampling. */
const MU_LAW = { type: 'audio/pcmu' }

export interface SessionSettings {
  readonly voice: string
  readonly transcriptionModel: string
  /** BCP 47 primary tag. */
  readonly language: string
  readonly keywords: readonly string[]
  readonly speed: number
}

/**
 * The settings of a session. The service neither detects turns nor answers by itself: Parley decides when a turn is over, and requests
 * each answer.
 */
export function sessionUpdate(settings: SessionSettings): ClientEvent {
  const { voice, speed } = settings
  return {
    type: 'session.update',
    session: {
      type: 'realtime',
      output_modalities: ['audio'],
      instructions: '',
      audio: {
        input: {
          format: MU_LAW,
          turn_detection: null,
          transcription: transcription(settings),
        },
        output: { format: MU_LAW, voice, speed: Math.max(MIN_SPEED, Math.min(speed, MAX_SPEED)) },
      },
    },
  }
}

/** Changes the language of the transcripts. */
export function languageUpdate(settings: SessionSettings): ClientEvent {
  const input = { transcription: transcription(settings) }
  return { type: 'session.update', session: { type: 'realtime', audio: { input } } }
}

function transcription({ transcriptionModel, language, keywords }: SessionSettings): object {
  const prompt = keywords.join(', ').slice(0, MAX_PROMPT_CHARACTERS)
  return { model: transcriptionModel, language, ...(prompt !== '' && { prompt }) }
}

/** The request for an answer. One that is not spoken is generated from the same conversation, and not added to it. */
export function responseCreate(request: GenerationRequest): ClientEvent {
  const { messages, tools = [], toolChoice = 'auto', maxOutputTokens, spoken = false } = request
  const instructions = messages.flatMap(({ role, content }) => (role === 'system' ? [content] : [])).join('\n\n')
  return {
    type: 'response.create',
    response: {
      conversation: spoken ? 'auto' : 'none',
      output_modalities: [spoken ? 'audio' : 'text'],
      instructions,
      tools: tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters })),
      tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', name: toolChoice.name },
      ...(maxOutputTokens !== undefined && { max_output_tokens: Math.min(maxOutputTokens, MAX_OUTPUT_TOKENS) }),
    },
  }
}
