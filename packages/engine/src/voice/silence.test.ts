import type { Draft } from '@parley/flow'
import { type Ms, msToSamples, NARROWBAND } from '@parley/kernel'
import type { GenerationEvent, LanguageModel, SpeechToText, TextToSpeech } from '@parley/providers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { AudioHarness, find, type HarnessOptions } from '../testing/audio-harness.ts'
import { FingerprintVoice } from '../testing/scripted-speech.ts'

/** The silence that a caller hears while services stall, tested by what is on the line. */

const providers = {
  stt: { provider: 'simulated', model: 'tones-1' },
  llm: { provider: 'simulated_hosted', model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' } },
  tts: { provider: 'simulated', model: 'tones-1' },
} as const

const book = {
  action_id: 'book',
  kind: 'http',
  name: 'book',
  method: 'POST',
  url: 'https://example.test/book',
} as const

function draft(settings: Draft['settings'] = {}): Draft {
  return {
    name: 'Test',
    settings: { channels: ['phone'], ...settings },
    providers,
    actions: [book],
    flow: {
      start_node_id: 'hello',
      nodes: [
        {
          id: 'hello',
          type: 'conversation',
          instruction: { type: 'static_text', text: 'How can I help you?' },
          edges: [{ id: 'b', transition_condition: { type: 'prompt', prompt: 'books' }, destination_node_id: 'book' }],
        },
        {
          id: 'book',
          type: 'function',
          tool_id: 'book',
          holding_line: 'I am looking that up.',
          else_edge: { id: 'd', transition_condition: { type: 'prompt', prompt: 'Else' }, destination_node_id: 'done' },
        },
        { id: 'done', type: 'conversation', instruction: { type: 'static_text', text: 'It is booked.' } },
        { id: 'end', type: 'end', global_node_setting: { condition: 'wants to end' } },
      ],
    },
  }
}

let call: AudioHarness | null = null

afterEach(async () => {
  call?.caller.hangUp()
  await call?.pass(300)
  call = null
})

async function open(options: Partial<HarnessOptions>): Promise<AudioHarness> {
  call = await AudioHarness.open({ draft: draft(), ...options })
  return call
}

/** A model that answers after each of these delays in turn, the last one from then on. */
function slowModel(
  of: () => AudioHarness,
  delays: readonly Ms[],
  events: readonly GenerationEvent[],
): () => LanguageModel {
  let request = 0
  const model: LanguageModel = {
    identity: { provider: 'test', model: 'slow' },
    readiness: async () => null,
    async *generate() {
      const delay = delays[Math.min(request++, delays.length - 1)]!
      const { time } = of().line
      await new Promise<void>(resolve => time.at(time.now() + delay, resolve))
      yield* events
      yield { type: 'finished', reason: 'stop' }
    },
    close: async () => {},
  }
  return () => model
}

/** Longest silence on the caller's line after the caller's words, while the agent owed an answer, ms. */
function longestSilence(heard: Int16Array, from: number): Ms {
  let longest = 0
  let since = from
  for (let at = from; at < heard.length; at++) {
    if (Math.abs(heard[at]!) <= 300) continue
    longest = Math.max(longest, at - since)
    since = at
  }
  return (longest * 1000) / NARROWBAND.sampleRateHz
}

async function answered(on: AudioHarness, words: string, within: Ms): Promise<{ silence: Ms; said: string[] }> {
  await on.until(() => on.timeline('utterance').length >= 1, 12_000, 'greeted')
  const ms = on.says('help me please')
  await on.pass(ms)
  const from = on.heardNow() + msToSamples(700, NARROWBAND)
  await on.until(() => on.timeline('utterance').some(({ text }) => text === words), within, 'answered')
  await on.pass(200)
  return { silence: longestSilence(on.heard(), from), said: on.timeline('utterance').map(({ text }) => text) }
}

const speech = [{ type: 'text', delta: 'Of course.' }] as const

describe('services that stall', () => {
  it('a model that stalls is asked again, and the caller hears the answer within the contract', async () => {
    const on = await open({ agent: { model: slowModel(() => call!, [37_000, 300], speech), asksAhead: false } })
    const { silence, said } = await answered(on, 'Of course.', 6000)
    expect(silence).toBeLessThanOrEqual(2000)
    expect(said.slice(2)).toEqual(['Of course.'])
    expect(on.timeline('error').map(({ code }) => code)).toEqual(['model_late'])
  })

  it('a model that is slow every time is covered by holding lines', async () => {
    const on = await open({ agent: { model: slowModel(() => call!, [4800], speech), asksAhead: false } })
    const { silence, said } = await answered(on, 'Of course.', 12_000)
    expect(silence).toBeLessThanOrEqual(2000)
    expect(said.slice(2)).toEqual(['One moment, please.', 'I am still working on it.', 'Of course.'])
    expect(on.timeline('silence')).toEqual([])
  })

  it('an ambient sound is no sound of the agent: holding lines cover a slow model all the same', async () => {
    const on = await open({
      draft: draft({ ambientSound: 'static-noise' }),
      agent: { model: slowModel(() => call!, [4800], speech), asksAhead: false },
    })
    const { said } = await answered(on, 'Of course.', 12_000)
    expect(said.slice(2)).toEqual(['One moment, please.', 'I am still working on it.', 'Of course.'])
  })

  it('a model that does not answer gets at most three requests for an answer', async () => {
    let requests = 0
    const stalled = slowModel(() => call!, [37_000], speech)()
    const model: LanguageModel = {
      ...stalled,
      generate: (...given) => {
        requests++
        return stalled.generate(...given)
      },
    }
    const on = await open({ agent: { model: () => model, asksAhead: false } })
    await on.until(() => on.timeline('utterance').length >= 1, 12_000, 'greeted')
    on.says('help me please')
    await on.until(() => requests === 1, 6000, 'asked')
    await on.pass(4500)
    expect(requests).toBe(3)
  })

  it('the contract and the holding lines are settings of the agent', async () => {
    const on = await open({
      draft: draft({ silenceContractMs: 1000, holdingLines: ['Bear with me.'] }),
      agent: { model: slowModel(() => call!, [2500], speech), asksAhead: false },
    })
    const { silence, said } = await answered(on, 'Of course.', 9000)
    expect(silence).toBeLessThanOrEqual(1000)
    expect(said).toContain('Bear with me.')
  })

  it('a fallback model answers in the place of one that stalls', async () => {
    const fallback = slowModel(() => call!, [200], [{ type: 'text', delta: 'From the other.' }])
    const on = await open({
      agent: { model: slowModel(() => call!, [37_000], speech), fallbackModels: [fallback()], asksAhead: false },
    })
    expect((await answered(on, 'From the other.', 6000)).silence).toBeLessThanOrEqual(2000)
  })

  it('an action that takes long is covered by the line of its node', async () => {
    const take = (request: { tools?: readonly { name: string; description: string }[] }) => [
      {
        type: 'tool-call' as const,
        call: { id: 'c', name: request.tools!.find(tool => tool.description === 'books')!.name, argumentsText: '{}' },
        arguments: {},
      },
    ]
    const on = await open({
      answers: [take],
      act: async () => {
        const { time } = call!.line
        await new Promise<void>(resolve => time.at(time.now() + 5000, resolve))
        return {}
      },
    })
    const { silence, said } = await answered(on, 'It is booked.', 14_000)
    expect(silence).toBeLessThanOrEqual(2000)
    expect(said.filter(text => text === 'I am looking that up.').length).toBeGreaterThanOrEqual(2)
  })

  it('a voice that stalls is replaced, and the holding line comes from another voice', async () => {
    const good = new FingerprintVoice()
    const stalling: TextToSpeech = {
      id: 'test/stalling',
      languages: ['en'],
      readiness: async () => null,
      async *synthesize(request, signal) {
        if (request.text !== 'How can I help you?') {
          const { time } = call!.line
          await new Promise<void>(resolve => time.at(time.now() + 37_000, resolve))
        }
        yield* good.synthesize(request, signal)
      },
      close: async () => {},
    }
    const other = { voice: new FingerprintVoice(), language: 'en', voiceId: null }
    const on = await open({
      agent: {
        model: slowModel(() => call!, [100], speech),
        voice: stalling,
        fallbackVoices: [other],
        asksAhead: false,
      },
    })
    expect((await answered(on, 'Of course.', 6000)).silence).toBeLessThanOrEqual(2000)
    expect(on.timeline('error').map(({ code }) => code)).toEqual(['voice_late'])
  })

  it('a model without words is asked to speak, so that the caller is not left in silence', async () => {
    let request = 0
    const on = await open({
      agent: {
        asksAhead: false,
        model: () => ({
          identity: { provider: 'test', model: 'mute' },
          readiness: async () => null,
          async *generate() {
            if (request++ > 0) yield { type: 'text' as const, delta: 'Of course.' }
            yield { type: 'finished' as const, reason: 'stop' as const }
          },
          close: async () => {},
        }),
      },
    })
    expect((await answered(on, 'Of course.', 6000)).silence).toBeLessThanOrEqual(2000)
  })

  it('a model that has no words when it is asked again leads to an apology, so that the caller is not left in silence', async () => {
    const on = await open({
      agent: {
        asksAhead: false,
        model: () => ({
          identity: { provider: 'test', model: 'mute' },
          readiness: async () => null,
          async *generate() {
            yield { type: 'finished' as const, reason: 'stop' as const }
          },
          close: async () => {},
        }),
      },
    })
    expect(
      (await answered(on, "I'm sorry, I have a technical problem. Could you say that once more?", 9000)).silence,
    ).toBeLessThanOrEqual(2000)
  })

  it('a silence that exceeds the contract is in the timeline with its stage', async () => {
    const mute: TextToSpeech = {
      id: 'test/mute',
      languages: ['en'],
      readiness: async () => null,
      async *synthesize() {
        const { time } = call!.line
        await new Promise<void>(resolve => time.at(time.now() + 37_000, resolve))
      },
      close: async () => {},
    }
    const on = await open({ agent: { voice: mute } })
    await on.until(() => on.timeline('silence').length > 0, 6000, 'breach')
    expect(on.timeline('silence')[0]).toMatchObject({ stage: 'voice', duration_ms: 2000 })
  })

  it.each(['action', 'model'] as const)('the stage of a silence is the %s that the agent waits for', async stage => {
    const good = new FingerprintVoice()
    // Says the greeting and no holding line.
    const voice: TextToSpeech = {
      id: 'test/greets',
      languages: ['en'],
      readiness: async () => null,
      async *synthesize(request, signal) {
        if (request.text === 'How can I help you?') yield* good.synthesize(request, signal)
      },
      close: async () => {},
    }
    const wait = () => new Promise<void>(resolve => call!.line.time.at(call!.now + 5000, resolve))
    const on = await open({
      agent: { voice, asksAhead: false, ...(stage === 'model' && { model: slowModel(() => call!, [4500], speech) }) },
      answers: [
        ({ tools = [] }) => {
          const { name } = tools.find(tool => tool.description === 'books')!
          return [{ type: 'tool-call', call: { id: 'c', name, argumentsText: '{}' }, arguments: {} }]
        },
      ],
      act: async () => {
        await wait()
        return {}
      },
    })
    await on.until(() => on.timeline('utterance').length >= 1, 12_000, 'greeted')
    on.says('help me please')
    await on.until(() => on.timeline('silence').length > 0, 6000, 'breach')
    expect(on.timeline('silence')[0]).toMatchObject({ stage, duration_ms: 2000 })
  })

  it('the stage of a silence is the network while audio that the voice delivered is not sent', async () => {
    const on = await open({ agent: { model: slowModel(() => call!, [0], speech), asksAhead: false } })
    await on.until(() => on.timeline('utterance').length >= 1, 12_000, 'greeted')
    vi.spyOn(on.leg!, 'play').mockImplementation(() => on.leg!.played())
    on.says('help me please')
    await on.until(() => on.timeline('silence').length > 0, 6000, 'breach')
    expect(on.timeline('silence')[0]).toMatchObject({ stage: 'network', duration_ms: 2000 })
  })

  it('the voice of last resort says the holding line when the agent’s voice is mute', async () => {
    const mute: TextToSpeech = {
      id: 'test/mute',
      languages: ['en'],
      readiness: async () => null,
      async *synthesize() {
        const { time } = call!.line
        await new Promise<void>(resolve => time.at(time.now() + 37_000, resolve))
      },
      close: async () => {},
    }
    const local = { voice: new FingerprintVoice(), language: 'en', voiceId: null }
    const on = await open({ agent: { voice: mute, lastResort: local } })
    await on.until(() => on.timeline('state').length > 0, 3000, 'connected')
    await on.pass(2600)
    expect(find(on.heard(), local.voice.sound('One moment, please.')).likeness).toBeGreaterThan(0.95)
    expect(on.timeline('silence')).toEqual([])
  })

  it('a recogniser that fails for good is replaced by the next one', async () => {
    let opened = 0
    const spare: SpeechToText = {
      id: 'test/spare',
      languages: ['en'],
      readiness: async () => null,
      open: () => {
        opened++
        return { write: () => {}, finalize: () => {}, onEvent: () => {}, close: () => {} }
      },
      close: async () => {},
    }
    const on = await open({ agent: { fallbackRecognisers: [spare] } })
    await on.until(() => on.timeline('utterance').length === 1, 8000, 'greeted')
    on.recogniser.breaksForGood()
    on.recogniser.breaksForGood()
    await on.pass(500)
    expect([opened, on.report]).toEqual([1, null])
    expect(on.timeline('error').map(({ message }) => message)).toEqual([
      'the recogniser broke (connected again)',
      'the recogniser broke (connected again)',
    ])
  })
})
