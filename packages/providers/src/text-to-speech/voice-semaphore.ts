import { Semaphore } from '@parley/kernel'
import { ProviderError } from '../errors.ts'

/** Limits concurrent synthesis to `permits`. More than `maxWaiting` waiting utterances fail with `ProviderError` "voice_busy". */
export function voiceSemaphore(permits: number, maxWaiting: number): Semaphore {
  return new Semaphore(permits, {
    maxWaiting,
    refuse: () => new ProviderError('voice_busy', 'Too many utterances wait for this voice.'),
  })
}
