import { describe, expect, it } from 'vitest'
import { proveServices, type ServicePair } from './services.ts'

const options = { seed: 1, seconds: 60, count: 4, line: () => {}, progress: () => {} }

/** Pairs that use each adapter at least once. */
const SHORT: readonly ServicePair[] = [
  ['deepgram/nova-3', 'elevenlabs/eleven_flash_v2_5', 'openai/gpt-4.1-mini'],
  ['deepgram/flux-general-en', 'cartesia/sonic-2', 'anthropic/claude-haiku-4-5'],
  ['assemblyai/universal-streaming-english', 'deepgram/aura-2'],
  ['deepgram/nova-3', 'openai/gpt-4o-mini-tts'],
]
const WITH_WRONG_KEY: ServicePair = ['deepgram/nova-3', 'elevenlabs/eleven_flash_v2_5']

describe('the proof "services"', () => {
  it('the demo conversation is the same with each service as with the simulated pair, and the proof reports a service that refuses its key', {
    // Some 75 s, and 40 s for each call that is repeated alone because the machine was too slow for it: only a hanging call takes longer.
    timeout: 1_200_000,
  }, async () => {
    const lines: object[] = []
    const plan = { pairs: SHORT, atOnce: 3, withWrongKey: WITH_WRONG_KEY }
    const { ok, summary } = await proveServices({ ...options, line: record => lines.push(record) }, plan)
    expect(ok, JSON.stringify(lines)).toBe(true)
    expect(summary).toEqual({ pairs: 4, same: 4, simulated: 'completed' })
    expect(lines.at(-1)).toMatchObject({ same: false, different: { errors: expect.anything() } })
  })
})
