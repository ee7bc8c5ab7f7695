import { ParleyError, Semaphore } from '@parley/kernel'

/**
 * Lets `permits` utterances be rendered at once. Those beyond `maxWaiting` fail with `ParleyError` "voice_busy" (retryable).
 */
export function voiceSemaphore(permits: number, maxWaiting: number): Semaphore {
  return new Semaphore(permits, {
    maxWaiting,
    refuse: () => new ParleyError('voice_busy', 'Too many utterances wait for this voice.', { retryable: true }),
  })
}
