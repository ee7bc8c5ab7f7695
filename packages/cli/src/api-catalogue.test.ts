import { model, voice } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { catalogueOfServices } from './api-catalogue.ts'
import { readSettings } from './environment.ts'
import { Services } from './services.ts'

const catalogueWith = async (keys: Record<string, string>) => {
  const services = new Services(readSettings(keys))
  const catalogue = await catalogueOfServices(services)
  await services.close()
  return catalogue
}

describe('the catalogue of models and voices in the API', () => {
  it('the catalogue entries are valid models and voices of the contract', async () => {
    const { models, voices } = await catalogueWith({ DEEPGRAM_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' })
    for (const entry of models) expect(model.parse(entry)).toEqual(entry)
    for (const entry of voices) expect(voice.parse(entry)).toEqual(entry)
  })

  it('built-in services are ready, and services without an API key are not, with the reason no_key', async () => {
    const { models, voices } = await catalogueWith({})
    expect(models.filter(({ kind }) => kind === 'chat').at(-1)).toMatchObject({
      model: { provider: 'parley', model_id: 'rules-1' },
      ready: true,
    })
    expect(models.filter(({ kind }) => kind === 'embedding')).toMatchObject([
      { model: { model_id: 'text-embedding-3-small' }, dimension: 1536, ready: false, reason: 'no_key' },
      { model: { model_id: 'text-embedding-3-large' }, ready: false },
      { model: { provider: 'simulated', model_id: 'hash-1' }, dimension: 256, ready: true },
    ])
    expect(voices.find(({ role, provider }) => role === 'stt' && provider === 'simulated')?.ready).toBe(true)
    expect(voices.filter(({ provider }) => provider === 'elevenlabs')).toMatchObject([
      { ready: false, reason: 'no_key' },
    ])
  })

  it('services with an API key come before the built-in ones', async () => {
    const { models, voices } = await catalogueWith({ ANTHROPIC_API_KEY: 'k', DEEPGRAM_API_KEY: 'k' })
    expect(models.find(({ ready }) => ready)?.model.provider).toBe('anthropic')
    for (const role of ['stt', 'tts'])
      expect(voices.find(entry => entry.role === role && entry.ready)?.provider).toBe('deepgram')
  })
})
