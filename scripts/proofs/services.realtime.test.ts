import { describe, expect, it } from 'vitest'
import { proveServices, type ServicePair } from './services.ts'

const options = { seed: 1, seconds: 60, count: 4, line: () => {}, progress: () => {} }

/** Each adapter at least once. */
const SHORT: readonly ServicePair[] = [
  ['deepgram/nova-3', 'elevenlabs/eleven_flash_v2_5'],
  ['deepgram/flux-general-en', 'cartesia/sonic-2'],
  ['assemblyai/universal-streaming-english', 'deepgram/aura-2'],
  ['deepgram/nova-3', 'openai/gpt-4o-mini-tts'],
]

describe('the demo conversation goes the same way with services as with the simulated pair', () => {
  it('each service once', { timeout: 180_000 }, async () => {
    const lines: object[] = []
    const plan = { pairs: SHORT, atOnce: SHORT.length + 1 }
    const { ok } = await proveServices({ ...options, line: record => lines.push(record) }, plan)
    expect(ok, JSON.stringify(lines)).toBe(true)
  })

  it('a service that refuses its key is noticed', { timeout: 180_000 }, async () => {
    const { ok, summary } = await proveServices(options, { pairs: SHORT.slice(0, 1), planted: 'a wrong key' })
    expect(ok).toBe(false)
    expect(summary).toEqual({ pairs: 1, same: 0, simulated: 'completed' })
  })
})
