import type { Samples } from '@parley/kernel'
import { type SpeechEvent, type SpeechStream, type SpeechToText, TonesRecogniser, TonesVoice } from '@parley/providers'
import { LocalFlite, ProviderError } from '@parley/providers/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PhoneLine, readyVoice } from './phone-line.fixture.ts'
import { PhoneVoice } from './phone-voice.ts'

const GREETING = 'Good morning. What can I do for you?'
const ORDER = 'I want two tickets for Monday.'
const ANSWER = 'Your tickets are ready.'
/** Takes 0.9 s to say; the tones that carry its words take 0.2 s more. */
const SHORT = 'Where are you now?'

const voice = new TonesVoice()
const renderings = new Map<string, Int16Array>()
beforeAll(async () => {
  for (const text of [GREETING, ORDER, ANSWER, SHORT])
    renderings.set(text, await new PhoneVoice(voice, 'en').render(text))
})
afterAll(() => voice.close())

const spoken = (text: string): Int16Array => renderings.get(text)!
const ready = readyVoice(spoken)

/** A call whose phone has a recogniser. */
async function callWithRecogniser(): Promise<PhoneLine> {
  const line = await PhoneLine.answered()
  line.call.setRecogniser(new TonesRecogniser(), 'en')
  line.call.setVoice(ready, 'en')
  return line
}

/** A recogniser whose streams have the given methods. */
function recogniser(stream: Partial<SpeechStream>): SpeechToText {
  return {
    id: 'test/recogniser',
    languages: ['en'],
    readiness: () => Promise.resolve(null),
    open: () => ({ write() {}, finalize() {}, onEvent() {}, close() {}, ...stream }),
    close: () => Promise.resolve(),
  }
}

function texts(line: PhoneLine): string[] {
  return line.call.heardLines.map(({ text }) => text)
}

describe('a phone with a recogniser', () => {
  it('a phone with a recogniser transcribes the far end with times on its own clock', async () => {
    const line = await callWithRecogniser()
    await line.pass(500)
    const from = line.far.played()
    line.far.play(spoken(GREETING))
    await line.pass(6000)
    expect(texts(line)).toEqual([GREETING])
    const [greeting] = line.call.heardLines
    // The expected times come from the position of the greeting in the stored audio.
    const stored = line.call.heard()
    const loud = stored.findIndex(sample => Math.abs(sample) > 500) / 8
    expect(from).toBe(0)
    expect(greeting!.final).toBe(true)
    expect(Math.abs(greeting!.startMs - loud)).toBeLessThan(120)
    expect(greeting!.endMs - greeting!.startMs).toBeGreaterThan(1500)
  })

  it('a wait for words resolves before the sentence ends', async () => {
    const line = await callWithRecogniser()
    line.far.play(spoken(GREETING))
    const match = await line.during(line.call.untilHears('good MORNING', 5000))
    expect(match.text).toBe('Good morning.')
    expect(texts(line)[0]).not.toContain('you?')
    await line.during(line.call.untilHears(/can I .* you\?/, 5000, match.endMs))
    await expect(line.during(line.call.untilHears('morning', 1000, match.endMs))).rejects.toMatchObject({
      code: 'wait_timeout',
      message: 'did not hear "morning" within 1000 ms',
    })
  })

  it('a phone with a recogniser transcribes the last words of a far end that hangs up at once', async () => {
    const line = await callWithRecogniser()
    line.far.play(spoken(ANSWER))
    await line.during(line.call.untilHears('ready', 5000))
    expect(line.call.heardLines).toMatchObject([{ text: ANSWER, final: false }])
    line.far.hangUp()
    await line.during(line.call.ended)
    expect(line.call.heardLines).toMatchObject([{ text: ANSWER, final: true }])
  })

  it.each([
    [1500, 'are transcribed'],
    [2500, 'are abandoned after 2 s'],
  ])('last words that the recogniser delivers %i ms after the call %s', async (ms, outcome) => {
    const line = await PhoneLine.answered()
    let report: (event: SpeechEvent) => void = () => {}
    const words = [{ text: 'Goodbye.', startSample: 9000, endSample: 12_000 }]
    const slow = recogniser({
      onEvent: listener => {
        report = listener
      },
      finalize: () => {
        const answer = () => report({ type: 'final', text: 'Goodbye.', words, fromFinalize: true })
        line.time.at(line.time.now() + ms, answer)
      },
    })
    line.call.setRecogniser(slow, 'en')
    const waiting = line.call.untilHears('goodbye', 20_000)
    line.far.hangUp()
    await line.during(line.call.ended, 1000)
    if (outcome === 'are transcribed')
      expect(await line.during(waiting)).toEqual({ text: 'Goodbye.', startMs: 1125, endMs: 1500 })
    else await expect(line.during(waiting)).rejects.toMatchObject({ code: 'call_ended' })
  })

  it('the recogniser of a phone gets every received sample once and in order', async () => {
    const line = await PhoneLine.answered()
    const given: { audio: Int16Array; at: Samples }[] = []
    line.call.setRecogniser(recogniser({ write: (audio, at) => given.push({ audio: audio.slice(), at }) }), 'en')
    const skipped = line.call.heard().length
    line.far.play(spoken(GREETING))
    await line.pass(5000)
    line.call.heard()
    for (const [i, { audio, at }] of given.entries())
      expect(given[i + 1]?.at ?? at + audio.length).toBe(at + audio.length)
    const all = given.flatMap(({ audio }) => [...audio])
    expect(all.length).toBeGreaterThan(4900 * 8)
    expect(Int16Array.from(all)).toEqual(line.call.heard().slice(skipped))
  })

  it('speech without words is a line with empty text', async () => {
    const line = await callWithRecogniser()
    const person = new LocalFlite()
    line.far.play(await new PhoneVoice(person, 'en').render(ORDER))
    await person.close()
    await line.pass(6000)
    expect(new Set(texts(line))).toEqual(new Set(['']))
    expect(line.call.heardLines[0]!.endMs).toBeGreaterThan(line.call.heardLines[0]!.startMs + 500)
  })

  it('a phone call throws errors for a missing voice, a missing or second recogniser, and a pattern without words', async () => {
    const line = await PhoneLine.answered()
    await expect(line.call.say('Hello.')).rejects.toMatchObject({ code: 'no_voice' })
    await expect(line.call.untilHears('x', 10)).rejects.toMatchObject({ code: 'not_listening' })
    line.call.setRecogniser(new TonesRecogniser(), 'en')
    expect(() => line.call.setRecogniser(new TonesRecogniser(), 'en')).toThrow(
      expect.objectContaining({ code: 'already_listening' }),
    )
    await expect(line.call.untilHears('?!', 10)).rejects.toMatchObject({ code: 'bad_pattern' })
  })

  it('a wait for words fails with the error of a recogniser that fails for good', async () => {
    const line = await PhoneLine.answered()
    let report: (event: SpeechEvent) => void = () => {}
    const failing = recogniser({
      onEvent: listener => {
        report = listener
      },
    })
    line.call.setRecogniser(failing, 'en')
    const waiting = line.call.untilHears('hello', 5000)
    report({ type: 'error', error: new ProviderError('recogniser_busy', 'try later', { retryable: true }) })
    report({ type: 'error', error: new ProviderError('recogniser_failed', 'gone', { retryable: false }) })
    await expect(waiting).rejects.toMatchObject({ code: 'recogniser_failed' })
  })
})

describe('a phone that speaks', () => {
  it('a phone that says a sentence resolves when all of it was sent', async () => {
    const line = await callWithRecogniser()
    const before = line.time.now()
    const sent = await line.during(line.call.say(ORDER))
    const lasted = spoken(ORDER).length / 8
    expect(sent.endMs - sent.startMs).toBeCloseTo(lasted, 0)
    expect(line.time.now() - before).toBeGreaterThan(lasted)
    expect(line.time.now() - before).toBeLessThan(lasted + 400)
  })

  it('a phone that speaks after the end of the call gets the error call_ended', async () => {
    const line = await callWithRecogniser()
    const speaking = line.call.say(ORDER)
    await line.pass(500)
    line.far.hangUp()
    await expect(line.during(speaking)).rejects.toMatchObject({ code: 'call_ended' })
    await line.pass(1000)
    await expect(line.call.say(ORDER)).rejects.toMatchObject({ code: 'call_ended' })
  })
})

describe('a phone that waits for speech or silence', () => {
  it('a phone detects silence of the far end although data tones go on', async () => {
    const line = await callWithRecogniser()
    const before = line.time.now()
    line.far.play(spoken(SHORT))
    await line.during(line.call.untilAgentTalks(200))
    await expect(line.during(line.call.untilAgentQuiet(500, 200))).rejects.toMatchObject({ code: 'wait_timeout' })
    await line.during(line.call.untilAgentQuiet(1000))
    const silentFrom = line.time.now() - 1000 - before
    expect(silentFrom).toBeGreaterThan(850)
    // The tolerance covers network delay and the polling interval.
    expect(silentFrom).toBeLessThan(1000)
    await line.during(line.call.untilAgentQuiet(1000), 100)
  })

  it('a wait for a pause resolves only after new speech', async () => {
    const line = await callWithRecogniser()
    line.far.play(spoken(ANSWER))
    await line.during(line.call.untilPause(700, 10_000))
    const second = line.call.untilPause(700, 10_000)
    await line.pass(3000)
    line.far.play(spoken(ANSWER))
    const before = line.time.now()
    await line.during(second)
    expect(line.time.now() - before).toBeGreaterThan(700 + 800)
  })

  it('a wait for silence or speech counts what came before the wait', async () => {
    const line = await callWithRecogniser()
    line.far.play(spoken(GREETING))
    await line.pass(1000)
    await line.during(line.call.untilAgentTalks(700), 60)
    const other = await callWithRecogniser()
    await other.pass(4000)
    await other.during(other.call.untilAgentQuiet(4000), 20)
    await expect(other.during(other.call.untilAgentQuiet(9000, 100))).rejects.toMatchObject({ code: 'wait_timeout' })
  })

  it('a wait for a duration resolves after it, and fails when the call ends first', async () => {
    const line = await callWithRecogniser()
    const before = line.time.now()
    await line.during(line.call.wait(1500))
    expect(line.time.now() - before).toBe(1500)
    const waiting = line.call.wait(5000)
    line.far.hangUp()
    await expect(line.during(waiting)).rejects.toMatchObject({ code: 'call_ended' })
  })
})
