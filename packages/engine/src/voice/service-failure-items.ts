import type { TimelineFact } from '@parley/conversation'
import type { ParleyError } from '@parley/kernel'
import type { VoiceFailure } from './voices.ts'

const REMEDIES: Readonly<Record<VoiceFailure['remedy'], string>> = {
  'asked-again': 'asked again',
  'next-voice': 'the next voice takes over',
  'gave-up': 'nothing is left to try',
}

/** What the timeline says of a voice that failed. */
export function voiceFailureItem({ error, remedy }: VoiceFailure): TimelineFact {
  return { kind: 'error', code: error.code, message: `${error.message} (${REMEDIES[remedy]})` }
}

/** The same of a recogniser. */
export function recogniserFailureItem(error: ParleyError, isDeaf: boolean): TimelineFact {
  const remedy = isDeaf ? REMEDIES['gave-up'] : 'connected again'
  return { kind: 'error', code: error.code, message: `${error.message} (${remedy})` }
}
