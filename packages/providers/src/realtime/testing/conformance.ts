import { type Ms, msToSamples, NARROWBAND, samplesToMs } from '@parley/kernel'
import { describe, expect, it, onTestFinished } from 'vitest'
import type {
  ChatMessage,
  GenerationEvent,
  GenerationRequest,
  ModelSpeech,
} from '../../language-model/language-model.ts'
import type { SpeechEvent } from '../../speech-to-text/speech-to-text.ts'
import type { RealtimeModel } from '../realtime-model.ts'

interface RealtimeUnderTest {
  readonly model: RealtimeModel
  /** 8 kHz audio in which `text` is spoken. */
  speak(text: string): Promise<Int16Array>
  /** What the service says next, or the tool that its model calls. */
  answer(next: {
    readonly text?: string
    readonly call?: { readonly name: string; readonly argumentsText: string }
  }): void
  /** The next answer begins with `text` and never ends. */
  stall(text: string): void
  /** What the service's model heard and read with the last request for an answer, without instructions. */
  memory(): readonly { readonly role: string; readonly content: string }[]
  /** Breaks the connections of the service. */
  breakOff(): void
  /** Releases the service. */
  close(): Promise<void>
}

const SYSTEM: ChatMessage = { role: 'system', content: 'You work at a clinic.' }
const user = (content: string): ChatMessage => ({ role: 'user', content })
const TOOLS = [{ name: 'book', description: 'Books.', parameters: { type: 'object', properties: {} } }]

/** What every implementation of `RealtimeModel` must do. `make` returns a fresh model with a fresh service. */
export function realtimeConformance(name: string, make: () => Promise<RealtimeUnderTest>): void {
  describe(`the speech-to-speech model ${name}`, () => {
    hears(make)
    speaks(make)
    remembers(make)
    fails(make)
  })
}

/** A session, and what the test does with it. */
async function open(make: () => Promise<RealtimeUnderTest>) {
  const tested = await make()
  onTestFinished(async () => {
    await tested.model.close()
    await tested.close()
  })
  const session = tested.model.open({ language: 'en-US', keywords: ['Hillside'] })
  const events: SpeechEvent[] = []
  const stream = session.recogniser.open({ language: 'en-US' })
  stream.onEvent(event => events.push(event))
  let position = 0
  const write = (audio: Int16Array) => {
    const packet = msToSamples(20, NARROWBAND)
    for (let at = 0; at < audio.length; at += packet) stream.write(audio.subarray(at, at + packet), position + at)
    position += audio.length
  }
  const final = async (count: number) => {
    const finals = () => events.filter(event => event.type === 'final' && event.text !== '')
    await expect.poll(() => finals().length).toBe(count)
    return finals()[count - 1] as SpeechEvent & { type: 'final' }
  }
  let turns = 0
  return {
    tested,
    session,
    events,
    stream,
    silence: (ms: Ms) => write(new Int16Array(msToSamples(ms, NARROWBAND))),
    /** The caller says `text`; resolves with the transcript. */
    says: async (text: string) => {
      write(await tested.speak(text))
      write(new Int16Array(msToSamples(1000, NARROWBAND)))
      return final(++turns)
    },
    generate: (messages: readonly ChatMessage[], more: Partial<GenerationRequest> = {}) =>
      collect(
        session.model.generate(
          { messages: [SYSTEM, ...messages], spoken: true, ...more },
          new AbortController().signal,
        ),
      ),
  }
}

async function collect(answer: AsyncIterable<GenerationEvent>): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = []
  for await (const event of answer) events.push(event)
  return events
}

function spoken(events: readonly GenerationEvent[]) {
  const pieces = events.filter(event => event.type === 'speech')
  return {
    text: pieces.map(({ delta }) => delta).join(''),
    ms: pieces.reduce((sum, { samples }) => sum + samplesToMs(samples.length, NARROWBAND), 0),
    speech: pieces[0]?.speech as ModelSpeech,
  }
}

function hears(make: () => Promise<RealtimeUnderTest>): void {
  it("transcribes the caller's phrases with times on the call's clock", async () => {
    const { says, silence, events } = await open(make)
    silence(500)
    const first = await says('the garden is behind the house')
    expect(first.text.toLowerCase()).toContain('garden')
    expect(first.words[0]!.startSample).toBeGreaterThan(msToSamples(300, NARROWBAND))
    const second = await says('one two three')
    expect(second.words[0]!.startSample).toBeGreaterThan(first.words.at(-1)!.startSample)
    expect(events.filter(({ type }) => type === 'error')).toEqual([])
  })

  it('answers finalize at once when nothing was said', async () => {
    const { stream, events, silence } = await open(make)
    silence(300)
    stream.finalize()
    expect(events).toEqual([{ type: 'final', text: '', words: [], fromFinalize: true }])
  })
}

function speaks(make: () => Promise<RealtimeUnderTest>): void {
  it('speaks an answer with its transcript, from what it has heard', async () => {
    const { tested, says, generate } = await open(make)
    const { text } = await says('one two three')
    tested.answer({ text: 'Good morning, how can I help?' })
    const events = await generate([user(text)])
    expect(spoken(events).text.trim()).toBe('Good morning, how can I help?')
    expect(spoken(events).ms).toBeGreaterThan(500)
    expect(events.filter(({ type }) => type === 'text')).toEqual([])
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'stop' })
    expect(tested.memory()).toMatchObject([{ role: 'user', content: text }])
  })

  it('writes an answer that is not to be spoken, and forgets it', async () => {
    const { tested, generate } = await open(make)
    tested.answer({ text: 'A thought.' })
    const events = await generate([user('Hello')], { spoken: false })
    expect(
      events
        .flatMap(event => (event.type === 'text' ? [event.delta] : []))
        .join('')
        .trim(),
    ).toBe('A thought.')
    tested.answer({ text: 'Hello.' })
    await generate([user('Hello')])
    expect(tested.memory()).toMatchObject([{ role: 'user', content: 'Hello' }])
  })

  it('calls tools, and reads their results', async () => {
    const { tested, generate } = await open(make)
    tested.answer({ call: { name: 'book', argumentsText: '{"day":"Monday"}' } })
    const events = await generate([user('Book it')], { tools: TOOLS })
    const call = events.find(event => event.type === 'tool-call')
    expect(call).toMatchObject({ call: { name: 'book' }, arguments: { day: 'Monday' } })
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'tool-calls' })
    tested.answer({ text: 'It is booked.' })
    const toolCalls = [{ id: 'call_1', name: 'book', argumentsText: '{"day":"Monday"}' }]
    await generate([
      user('Book it'),
      { role: 'assistant', content: '', toolCalls },
      { role: 'tool', toolCallId: 'call_1', content: '{"booked":true}' },
    ])
    expect(tested.memory().map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Book it'],
      ['assistant', ''],
      ['tool', '{"booked":true}'],
    ])
  })

  it('an answer that is stopped ends at once, and the next one follows it', async () => {
    const { tested, session, generate } = await open(make)
    tested.stall('Once upon a time')
    const controller = new AbortController()
    const seen: GenerationEvent[] = []
    for await (const event of session.model.generate(
      { messages: [SYSTEM, user('Tell me')], spoken: true },
      controller.signal,
    )) {
      seen.push(event)
      if (event.type === 'speech') controller.abort()
    }
    expect(seen.filter(({ type }) => type === 'finished')).toEqual([])
    tested.answer({ text: 'Well.' })
    expect(spoken(await generate([user('Stop')])).text.trim()).toBe('Well.')
  })
}

function remembers(make: () => Promise<RealtimeUnderTest>): void {
  it('remembers of an interrupted answer only what was heard', async () => {
    const { tested, says, generate } = await open(make)
    const { text } = await says('one two three')
    tested.answer({ text: 'We have Monday and Tuesday and Wednesday and Friday.' })
    const { speech, ms } = spoken(await generate([user(text)]))
    speech.heard(ms * 0.4, 'We have Monday')
    tested.answer({ text: 'Monday it is.' })
    await generate([user(text), { role: 'assistant', content: 'We have Monday —' }, user('Monday')])
    const [first, second, third] = tested.memory()
    expect([first, third]).toMatchObject([
      { role: 'user', content: text },
      { role: 'user', content: 'Monday' },
    ])
    expect(second!.content).toContain('We have Monday')
    expect(second!.content).not.toContain('Friday')
  })

  it('remembers nothing of an answer that was never played', async () => {
    const { tested, generate } = await open(make)
    tested.answer({ text: 'Nobody hears this.' })
    const { speech } = spoken(await generate([user('Hello')]))
    speech.heard(0, '')
    tested.answer({ text: 'Hello.' })
    await generate([user('Hello'), user('Hello?')])
    expect(tested.memory().map(({ content }) => content)).toEqual(['Hello', 'Hello?'])
  })

  it('remembers what another voice has said', async () => {
    const { tested, says, generate } = await open(make)
    const { text } = await says('one two three')
    tested.answer({ text: 'Yes.' })
    await generate([{ role: 'assistant', content: 'Welcome to Hillside.' }, user(text)])
    expect(tested.memory()).toMatchObject([
      { role: 'assistant', content: 'Welcome to Hillside.' },
      { role: 'user', content: text },
    ])
  })
}

function fails(make: () => Promise<RealtimeUnderTest>): void {
  it('a broken connection ends the session: its stream for good, its model with a retryable error', async () => {
    const { tested, session, says, events, generate } = await open(make)
    await says('one two three')
    tested.breakOff()
    await expect.poll(() => session.isOver).toBe(true)
    await expect(generate([user('Hello')])).rejects.toMatchObject({ code: 'model_unreachable', retryable: true })
    expect(() => session.recogniser.open({ language: 'en' })).toThrow(
      expect.objectContaining({ code: 'recogniser_closed' }),
    )
    expect(events.flatMap(event => (event.type === 'error' ? [event.error.retryable] : []))).toEqual([false])
  })

  it('is closed with the model', async () => {
    const { tested, session } = await open(make)
    await tested.model.close()
    expect(session.isOver).toBe(true)
    expect(() => tested.model.open({ language: 'en' })).toThrow(expect.objectContaining({ name: 'ParleyError' }))
  })

  it('refuses a language that it does not speak', async () => {
    const { tested } = await open(make)
    expect(() => tested.model.open({ language: 'tlh' })).toThrow(
      expect.objectContaining({ code: 'language_not_supported' }),
    )
  })
}
