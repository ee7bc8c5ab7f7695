import { Semaphore } from '@parley/kernel'
import { ProviderError } from '../errors.ts'

/**
 * Lets `permits` utterances be rendered at once. Those beyond `maxWaiting` fail with `ProviderError` "voice_busy" (retryable).
 */
export function voiceSemaphore(permits: number, maxWaiting: number): Semaphore {
  return new Semaphore(permits, {
    maxWaiting,
    refuse: () => new ProviderError('voice_busy', 'Too many utterances wait for this voice.'),
  })
}
