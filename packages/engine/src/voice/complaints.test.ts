import { msToSamples, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { afterEach, describe, expect, it } from 'vitest'
import { AudioHarness, find, type HarnessOptions, lastAudible, speaks } from '../testing/audio-harness.ts'
import { draftOf, GREETING, greeter } from '../testing/drafts.ts'
import { WORD_MS } from '../testing/scripted-speech.ts'
import { likeness, loudness } from '../testing/sounds.ts'

/** Frequent complaints about agents on the phone, each tested by what the caller hears. */

let stage: AudioHarness | null = null

async function open(options: HarnessOptions): Promise<AudioHarness> {
  stage = await AudioHarness.open(options)
  await stage.until(() => stage!.timeline('state').length > 0, 3000, 'connected')
  return stage
}

afterEach(async () => {
  stage?.caller.hangUp()
  await stage?.pass(200)
  stage = null
})

describe('the greeting', () => {
  it('the greeting is heard from its first sample, because the agent waits until media is ready', async () => {
    const call = await open({ draft: greeter })
    await call.pass(2000)
    const sound = call.voice.sound(GREETING)
    const { at, likeness: sure } = find(call.heard(), sound)
    expect(sure).toBeGreaterThan(0.95)
    expect(lastAudible(call.heard().subarray(0, at))).toBe(-1)
    const heard = call.heard().subarray(at, at + msToSamples(1000, NARROWBAND))
    expect(likeness(heard, sound.subarray(0, heard.length))).toBeGreaterThan(0.95)
  })
})

describe('a caller who interrupts', () => {
  it('a caller who interrupts hears no old speech: the agent is silent within 100 ms of the decision and stays silent', async () => {
    const call = await open({ draft: greeter, answers: [speaks('Of course.')] })
    await call.pass(1500)
    call.says('please stop talking now')
    await call.until(() => call.timeline('interruption').length > 0, 2000, 'interrupted')
    const known = call.heardNow()
    await call.pass(500)
    expect(lastAudible(call.heard(), known)).toBeLessThan(known + msToSamples(100, NARROWBAND))
  })

  it('a caller who interrupts gets an answer from the agent', async () => {
    const call = await open({ draft: greeter, answers: [speaks('Of course.')] })
    await call.pass(1500)
    await call.pass(call.says('please stop talking now'))
    await call.until(() => call.voice.synthesized.includes('Of course.'), 3000, 'the answer')
    await call.pass(700)
    expect(find(call.heard(), call.voice.sound('Of course.')).likeness).toBeGreaterThan(0.95)
  })

  it('a caller who interrupts leaves only the words that were played in the transcript and the context of the model', async () => {
    const call = await open({ draft: greeter, answers: [speaks('Of course.')] })
    await call.pass(1650)
    await call.pass(call.says('please stop talking now'))
    await call.until(() => call.requests.length > 0, 3000, 'the model asked')
    // Instructions may quote the rest of the text; the agent's messages contain only what was heard.
    const context = JSON.stringify(call.requests[0]!.messages.filter(message => message.role !== 'system'))
    expect(context).toContain('Welcome to the')
    expect(context).not.toContain('interrupted by anybody')
    const [greeting] = call.timeline('utterance')
    expect(greeting).toMatchObject({ role: 'agent', interrupted: true })
    // The transcript contains only words that were heard completely.
    const { at } = find(call.heard(), call.voice.sound(GREETING))
    const words = greeting!.text.split(' ').length
    expect(words).toBeGreaterThan(2)
    const playedMs = samplesToMs(lastAudible(call.heard(), at) - at, NARROWBAND)
    expect(playedMs).toBeGreaterThanOrEqual(words * WORD_MS - 20)
    // The transcript contains all words that were heard.
    expect(playedMs).toBeLessThan((words + 1) * WORD_MS + 20)
  })

  it('a caller who interrupts hears nothing of speech that was still being synthesised', async () => {
    const call = await open({ draft: greeter, answers: [speaks('Of course.')], voiceWordMs: 250 })
    await call.pass(1500)
    call.says('please stop talking now')
    await call.until(() => call.timeline('interruption').length > 0, 2000, 'interrupted')
    const known = call.heardNow()
    await call.pass(800)
    expect(lastAudible(call.heard(), known)).toBeLessThan(known + msToSamples(100, NARROWBAND))
  })

  it('a caller who interrupts loses no word of their own speech', async () => {
    const call = await open({ draft: greeter, answers: [speaks('Of course.')] })
    await call.pass(1500)
    await call.pass(call.says('yes but I only want to know the price'))
    await call.until(() => call.timeline('utterance').length >= 2, 3000, 'the turn')
    expect(call.timeline('utterance').map(item => `${item.role}: ${item.text}`)[1]).toBe(
      'user: yes but I only want to know the price',
    )
  })

  it('a caller who interrupts is understood from the first word when speaking as soon as the call is answered', async () => {
    stage = await AudioHarness.open({ draft: greeter, answers: [speaks('Of course.')] })
    const call = stage
    await call.until(() => call.caller.state === 'active', 3000, 'answered')
    await call.pass(call.says('hello is this the pharmacy'))
    await call.until(() => call.timeline('utterance').some(item => item.role === 'user'), 5000, 'the turn')
    const users = call.timeline('utterance').filter(item => item.role === 'user')
    expect(users.map(item => item.text)).toEqual(['hello is this the pharmacy'])
  })
})

describe('a false interruption', () => {
  it.each([400, 700])('by a cough of %i ms: the agent continues at the sample where it stopped', async ms => {
    const call = await open({ draft: greeter })
    await call.pass(1500)
    call.coughs(ms)
    await call.until(() => call.timeline('interruption').length > 0, 4000, 'resumed')
    expect(call.timeline('interruption')).toMatchObject([{ resumed: true }])
    await call.pass(GREETING.split(' ').length * 300 + 2000)
    const sound = call.voice.sound(GREETING)
    const audio = call.heard()
    const { at } = find(audio, sound)
    // Silence between the two parts; no sample is lost or repeated.
    const gap = longestSilence(audio.subarray(at, at + sound.length))
    expect(gap.length).toBeGreaterThan(msToSamples(200, NARROWBAND))
    const before = at + gap.from
    const after = before + gap.length
    const played = before - at
    expect(likeness(audio.subarray(at, at + 8000), sound.subarray(0, 8000))).toBeGreaterThan(0.95)
    for (let from = played; from + 800 < sound.length; from += 4000) {
      const place = after + (from - played)
      expect(likeness(audio.subarray(place, place + 800), sound.subarray(from, from + 800))).toBeGreaterThan(0.9)
    }
    const [greeting] = call.timeline('utterance')
    expect(greeting).toMatchObject({ text: GREETING, interrupted: false })
  })

  it('a false interruption by a very short sound only lowers the volume of the agent for a moment', async () => {
    const call = await open({ draft: greeter })
    await call.pass(1500)
    call.coughs(160)
    await call.pass(GREETING.split(' ').length * WORD_MS)
    expect(call.timeline('interruption')).toEqual([])
    const sound = call.voice.sound(GREETING)
    const { at } = find(call.heard(), sound)
    const volumes: number[] = []
    for (let from = 0; from + 800 <= sound.length; from += 800)
      volumes.push(
        loudness(call.heard().subarray(at + from, at + from + 800)) / loudness(sound.subarray(from, from + 800)),
      )
    expect(Math.min(...volumes)).toBeLessThan(0.5)
    expect(Math.min(...volumes.slice(-10))).toBeGreaterThan(0.9)
  })

  it('a false interruption by a short "yeah" neither stops the agent nor asks the model', async () => {
    const call = await open({ draft: greeter })
    await call.pass(1500)
    await call.pass(call.says('yeah'))
    await call.pass(GREETING.split(' ').length * 300 + 2500)
    expect(call.requests).toEqual([])
    expect(call.timeline('utterance').map(item => [item.text, item.interrupted])).toEqual([[GREETING, false]])
  })

  it('of an agent that may not be interrupted does not change its volume', async () => {
    const call = await open({
      draft: { ...greeter, settings: { interruptionSensitivity: 0 } },
      answers: [speaks('Now I listen.')],
    })
    await call.pass(1500)
    await call.pass(call.says('let me say something'))
    await call.pass(GREETING.split(' ').length * 300)
    await call.until(() => call.timeline('utterance').length >= 3, 4000, 'the answer')
    expect(call.timeline('utterance').map(item => [item.role, item.text, item.interrupted])).toEqual([
      ['agent', GREETING, false],
      ['user', 'let me say something', false],
      ['agent', 'Now I listen.', false],
    ])
    const sound = call.voice.sound(GREETING)
    const { at } = find(call.heard(), sound)
    expect(likeness(call.heard().subarray(at, at + sound.length), sound)).toBeGreaterThan(0.95)
  })
})

describe('an order', () => {
  const shop = draftOf(
    [
      {
        id: 'hi',
        type: 'conversation',
        instruction: { type: 'static_text', text: 'Hi.' },
        always_edge: edge('a', 'order'),
      },
      {
        id: 'order',
        type: 'function',
        tool_id: 'place',
        speak_during_execution: true,
        instruction: { type: 'static_text', text: 'One moment please while I am placing your order with the kitchen.' },
        edges: [],
        else_edge: edge('b', 'done'),
      },
      { id: 'done', type: 'conversation', instruction: { type: 'prompt', text: 'Say what became of it.' } },
      { id: 'end', type: 'end' },
    ],
    {
      actions: [
        {
          action_id: 'place',
          kind: 'http',
          name: 'place_order',
          method: 'POST',
          url: 'http://127.0.0.1:1/orders',
          response_variables: { number: '$.number' },
        },
      ],
    },
  )

  it('an order is sent once and its result reported, even if the caller talks meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const call = await open({
      draft: shop,
      act: async () => {
        await promise
        return { body: { number: 'A17' } }
      },
      answers: [speaks('It is ordered.'), speaks('Yes.')],
    })
    await call.pass(1500)
    await call.pass(call.says('one pizza please'))
    await call.until(() => call.actions.length === 1, 3000, 'ordered')
    await call.pass(600)
    await call.pass(call.says('are you still there my friend'))
    await call.pass(1500)
    resolve()
    await call.until(() => call.requests.length > 0, 5000, 'the model asked')
    await call.pass(3000)
    expect(call.actions).toHaveLength(1)
    expect(call.timeline('variables').flatMap(item => item.set)).toContain('number')
    expect(call.timeline('action').map(item => item.phase)).toEqual(['started', 'succeeded'])
    const users = call.timeline('utterance').filter(item => item.role === 'user')
    expect(users.map(item => item.text)).toEqual(['one pizza please', 'are you still there my friend'])
  })
})

describe('the end of a call', () => {
  it('the end of a call comes after the last word was heard', async () => {
    const words = 'Thank you for calling and goodbye.'
    const call = await open({
      draft: draftOf([
        { id: 'bye', type: 'end', speak_during_execution: true, instruction: { type: 'static_text', text: words } },
      ]),
    })
    await call.until(() => call.report !== null, 8000, 'ended')
    expect(call.report!.run.outcome).toMatchObject({ kind: 'completed', ended_by: 'agent' })
    const sound = call.voice.sound(words)
    const { at } = find(call.heard(), sound)
    const heard = call.heard().subarray(at, at + sound.length)
    expect(heard.length).toBe(sound.length)
    expect(likeness(heard.subarray(-2000), sound.subarray(-2000))).toBeGreaterThan(0.95)
    expect(call.report!.utterances.map(line => line.text)).toEqual([words])
  })
})

describe('a transfer that the far end refuses', () => {
  it('a transfer that the far end refuses leaves no silence: the agent reports the failure at once', async () => {
    const back = 'Nobody can take your call right now.'
    const call = await open({
      draft: draftOf([
        {
          id: 'hi',
          type: 'conversation',
          instruction: { type: 'static_text', text: 'I put you through.' },
          skip_response_edge: edge('a', 'through'),
        },
        {
          id: 'through',
          type: 'transfer_call',
          transfer_destination: { type: 'predefined', number: '+12025550123' },
          edge: edge('b', 'back'),
        },
        { id: 'back', type: 'conversation', instruction: { type: 'static_text', text: back } },
      ]),
    })
    const through = 'I put you through.'
    await call.until(() => call.timeline('utterance').length === 2, 8000, 'back')
    const first = find(call.heard(), call.voice.sound(through))
    const second = find(call.heard(), call.voice.sound(back))
    expect(second.likeness).toBeGreaterThan(0.95)
    expect(second.at - first.at - call.voice.sound(through).length).toBeLessThan(msToSamples(500, NARROWBAND))
    expect(call.timeline('node').map(item => [item.node_id, item.cause])).toEqual([
      ['hi', 'start'],
      ['through', 'edge'],
      ['back', 'failure'],
    ])
  })
})

describe('the published latency', () => {
  it('the published latency equals the latency measured in the audio', async () => {
    const call = await open({
      draft: draftOf([{ id: 'ask', type: 'conversation', instruction: { type: 'static_text', text: 'Yes?' } }]),
      answers: [speaks('Fine.')],
      endpointing: { mode: 'fixed', silenceMs: 300 },
    })
    await call.pass(2000)
    const started = call.heardNow()
    const ms = call.says('how are you')
    await call.until(() => call.timeline('turn').length > 0, 5000, 'answered')
    const { at } = find(call.heard(), call.voice.sound('Fine.'), started)
    const measured = (at - started) / 8 - ms
    const [turn] = call.timeline('turn')
    expect(Math.abs(turn!.latency.e2e! - measured)).toBeLessThan(60)
    expect(turn!.latency.endpointing).toBe(300)
    expect(turn!.latency.stt).toBeGreaterThanOrEqual(145)
    expect(turn!.latency.engine).toBeLessThan(40)
  })
})

function edge(id: string, to: string) {
  return { id, transition_condition: { type: 'prompt' as const, prompt: 'Always' }, destination_node_id: to }
}

/** Length of the longest silence. */
function longestSilence(audio: Int16Array): { from: Samples; length: Samples } {
  let best = { from: 0, length: 0 }
  let from = 0
  for (let i = 0; i <= audio.length; i++) {
    if (i < audio.length && Math.abs(audio[i]!) <= 150) continue
    if (i - from > best.length) best = { from, length: i - from }
    from = i + 1
  }
  return best
}
