import { exampleDraft, withOrigin } from '@parley/examples'
import { FakeOpenAiChat } from '@parley/fakes'
import { compile } from '@parley/flow'
import { afterEach, describe, expect, it } from 'vitest'
import { readSettings } from './environment.ts'
import { checkServices } from './service-check.ts'
import { Services } from './services.ts'
import { StandIns } from './stand-ins/stand-ins.ts'

const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const service of opened.splice(0)) await service.close()
})

function services(environment: Record<string, string>): Services {
  const created = new Services(readSettings(environment))
  opened.push(created)
  return created
}

describe('default services of a new agent', () => {
  it('services with an API key come before the built-in ones', async () => {
    const keyed = services({ DEEPGRAM_API_KEY: 'k', CARTESIA_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' })
    expect(await keyed.ready('stt', 'en')).toEqual(['deepgram/nova-3', 'deepgram/flux-general-en', 'simulated/tones-1'])
    expect((await keyed.ready('tts', 'en')).slice(0, 3)).toEqual([
      'cartesia/sonic-2',
      'deepgram/aura-2',
      'simulated/tones-1',
    ])
    expect(await keyed.ready('llm', 'en')).toEqual(['anthropic/claude-haiku-4-5', 'parley/rules-1'])
  })

  it('a recogniser that supports only English is not offered for Spanish', async () => {
    expect(await services({ DEEPGRAM_API_KEY: 'k' }).ready('stt', 'es')).toEqual([
      'deepgram/nova-3',
      'simulated/tones-1',
    ])
  })

  it('without any API key the built-in services are offered', async () => {
    expect((await services({}).ready('stt', 'en'))[0]).toBe('simulated/tones-1')
    expect((await services({}).ready('llm', 'en'))[0]).toBe('parley/rules-1')
  })
})

describe('a service that an agent names', () => {
  it('a service without its key is refused, and the error names the variable', () => {
    expect(() => services({}).voice('elevenlabs/eleven_flash_v2_5')).toThrow('ELEVENLABS_API_KEY')
    expect(() => services({}).model('openai/gpt-4.1-mini')).toThrow(/openai/)
  })

  it('an unknown service is refused, and the error lists the known ones', () => {
    expect(() => services({}).recogniser('nobody/model')).toThrow('simulated/tones-1')
  })

  it('voiceModel names another model of the voice', () => {
    const keyed = services({ ELEVENLABS_API_KEY: 'k' })
    const tts = { provider: 'elevenlabs', model: 'eleven_flash_v2_5' }
    const planOf = (settings: object) =>
      ({ providers: { tts }, settings }) as unknown as Parameters<Services['voiceOf']>[0]
    expect(keyed.voiceOf(planOf({})).voice.id).toBe('elevenlabs/eleven_flash_v2_5')
    expect(keyed.voiceOf(planOf({ voiceModel: 'eleven_turbo_v2_5' })).voice.id).toBe('elevenlabs/eleven_turbo_v2_5')
  })

  it('a service is opened once and shared', () => {
    const keyed = services({ DEEPGRAM_API_KEY: 'k' })
    expect(keyed.voice('deepgram/aura-2')).toBe(keyed.voice('deepgram/aura-2'))
    expect(keyed.voice('deepgram/aura-2')).not.toBe(keyed.recogniser('deepgram/nova-3'))
  })
})

describe('the model of an agent', () => {
  it('the model of an agent has a connection before its first request, and before each call', async () => {
    const fake = await FakeOpenAiChat.open()
    opened.push(fake)
    const { draft } = exampleDraft('clinic')
    const llm = { ...draft.providers.llm, model: { provider: 'openai', model_id: 'gpt-4.1-mini', tier: 'frontier' } }
    const compiled = compile({
      ...withOrigin(draft, 'http://127.0.0.1:9'),
      providers: { ...draft.providers, llm: llm as typeof draft.providers.llm },
    })
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
    const keyed = services({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: fake.baseUrl })
    const agent = await keyed.agent(compiled.plan, { id: null, version: null })
    await expect.poll(() => fake.connections).toBe(1)
    fake.breakOff()
    await expect
      .poll(() => {
        agent.warmModel!()
        return fake.connections
      })
      .toBeGreaterThan(1)
    expect(fake.requests).toEqual([])
  })
})

describe('a fallback voice', () => {
  async function fallbacks(environment: Record<string, string>, fallbackVoiceIds: string[]) {
    const { draft } = exampleDraft('clinic')
    const settings = { ...draft.settings, fallbackVoiceIds }
    const compiled = compile({ ...withOrigin(draft, 'http://127.0.0.1:9'), settings })
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
    const agent = await services(environment).agent(compiled.plan, { id: null, version: null })
    return agent.fallbackVoices!.map(({ voice, voiceId }) => [voice.id, voiceId])
  }

  it('a fallback voice without its key is left out, and the agent starts', async () => {
    const ids = ['elevenlabs/eleven_flash_v2_5', 'deepgram/aura-2:apollo']
    expect(await fallbacks({}, ids)).toEqual([])
    expect(await fallbacks({ DEEPGRAM_API_KEY: 'k' }, ids)).toEqual([['deepgram/aura-2', 'apollo']])
  })

  it('an unknown fallback voice is refused', async () => {
    await expect(fallbacks({}, ['nobody/model'])).rejects.toMatchObject({ code: 'voice_not_found' })
  })
})

describe('a fallback recogniser or model', () => {
  it('those that are ready are used in the order of the agent, and the others are left out', async () => {
    const { draft } = exampleDraft('clinic')
    const { stt, llm } = draft.providers
    const compiled = compile({
      ...withOrigin(draft, 'http://127.0.0.1:9'),
      providers: {
        ...draft.providers,
        stt: {
          ...stt,
          fallbacks: [
            { provider: 'deepgram', model: 'nova-3' },
            { provider: 'assemblyai', model: 'universal-streaming-english' },
          ],
        },
        llm: { ...llm, fallbacks: [{ model_id: 'nobody', provider: 'none', tier: 'frontier' }, llm.model] },
      },
    })
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
    const agent = await services({ DEEPGRAM_API_KEY: 'k' }).agent(compiled.plan, { id: null, version: null })
    expect(agent.fallbackRecognisers!.map(({ id }) => id)).toEqual(['deepgram/nova-3'])
    expect(agent.fallbackModels).toHaveLength(1)
  })
})

describe('parley providers check', () => {
  it("parley providers check reports each service's response, and advice for those that fail", {
    timeout: 600_000,
  }, async () => {
    const standIns = await StandIns.open()
    opened.push(standIns)
    const settings = readSettings({ ...standIns.environment, OPENAI_MODELS: '', CARTESIA_API_KEY: 'wrong' })
    const results = new Map<string, string>()
    for await (const check of checkServices(settings))
      results.set(`${check.id} ${check.ok ? 'ok' : 'failed'}`, check.detail)
    const all = JSON.stringify([...results])
    expect(results.get('deepgram/nova-3 ok'), all).toMatch(/heard "The garden is behind the house\."/)
    expect(results.get('assemblyai/universal-streaming-english ok'), all).toMatch(/heard/)
    expect(results.get('elevenlabs/eleven_flash_v2_5 ok'), all).toMatch(/first audio after \d+ ms/)
    expect(results.get('cartesia/sonic-2 failed'), all).toMatch(/CARTESIA_API_KEY/)
    expect([...results.values()].join()).not.toContain('wrong')
  })
})
