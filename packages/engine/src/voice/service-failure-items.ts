import type { TimelineFact } from '@parley/conversation'
import type { Ms, ParleyError } from '@parley/kernel'
import type { VoiceChoice } from './utterance-audio.ts'
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

/** Timeline item for a voice that is late, so that another one was asked as well. */
export function lateVoiceItem({ voice }: VoiceChoice, lateAfterMs: Ms): TimelineFact {
  const message = `The voice delivered no audio within ${Math.round(lateAfterMs)} ms, so ${voice.id} was asked as well.`
  return { kind: 'error', code: 'voice_late', message }
}

/** Timeline item for a failed recogniser. `isFatal`: it was not reconnected. */
export function recogniserFailureItem(error: ParleyError, isFatal: boolean): TimelineFact {
  const remedy = isFatal ? REMEDIES['gave-up'] : 'connected again'
  return { kind: 'error', code: error.code, message: `${error.message} (${remedy})` }
}
