import type { ConversationOptions } from '@parley/conversation'
import type { Ms } from '@parley/kernel'
import { silenceContractOf } from './dialogue-options.ts'
import type { VoiceAgent } from './voice-agent.ts'

/** Longest wait for the next event of a model. */
const MODEL_EVENT_MS: Ms = 5000
/** Shares of the silence contract after which a model's first event and a voice's first audio are late. */
const MODEL_SHARE = 0.4
const VOICE_SHARE = 0.3

/** A speech-to-speech model has the share of the voice as well. */
export function modelBudgets({ plan, realtime }: VoiceAgent): NonNullable<ConversationOptions['budgets']> {
  const share = realtime === undefined ? MODEL_SHARE : MODEL_SHARE + VOICE_SHARE
  return { eventMs: MODEL_EVENT_MS, lateAfterMs: Math.round(silenceContractOf(plan) * share) }
}

/** A voice without audio after this time is late. */
export function voiceLateAfterMs({ plan }: VoiceAgent): Ms {
  return silenceContractOf(plan) * VOICE_SHARE
}
