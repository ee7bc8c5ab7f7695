import type { TimelineFact } from '@parley/conversation'
import type { ParleyError } from '@parley/kernel'
import type { VoiceFailure } from './voices.ts'

const REMEDIES: Readonly<Record<VoiceFailure['remedy'], string>> = {
  'asked-again': 'asked again',
  'next-voice': 'the next voice takes over',
  'gave-up': 'nothing is left to try',
}

/** Timeline item for a failed voice. */
export function voiceFailureItem({ error, remedy }: VoiceFailure): TimelineFact {
  return { kind: 'error', code: error.code, message: `${error.message} (${REMEDIES[remedy]})` }
}

/** Timeline item for a failed recogniser. `isFatal`: it was not reconnected. */
export function recogniserFailureItem(error: ParleyError, isFatal: boolean): TimelineFact {
  const remedy = isFatal ? REMEDIES['gave-up'] : 'connected again'
  return { kind: 'error', code: error.code, message: `${error.message} (${remedy})` }
}
