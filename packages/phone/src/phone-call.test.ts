import { ParleyError, type Samples } from '@parley/kernel'
import { type SpeechEvent, type SpeechStream, type SpeechToText, TonesRecogniser, TonesVoice } from '@parley/providers'
import { LocalFlite } from '@parley/providers/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PhoneLine, readyVoice } from './phone-line.fixture.ts'
import { PhoneVoice } from './phone-voice.ts'

const GREETING = 'Good morning. What can I do for you?'
const ORDER = 'I want two tickets for Monday.'
const ANSWER = 'Your tickets are ready.'
/** Spoken in 0.9 s; the tones of its words need 0.2 s more. */
const SHORT = 'Where are you now?'

const voice = new TonesVoice()
const renderings = new Map<string, Int16Array>()
beforeAll(async () => {
  for (const text of [GREETING, ORDER, ANSWER, SHORT])
    renderings.set(text, await new PhoneVoice(voice, 'en').render(text))
}, 60_000)
afterAll(() => voice.close())

const spoken = (text: string): Int16Array => renderings.get(text)!
const ready = readyVoice(spoken)

/** A call on which the phone understands. */
async function listening(): Promise<PhoneLine> {
  const line = await PhoneLine.answered()
  line.call.understand(new TonesRecogniser(), 'en')
  line.call.talk(ready, 'en')
  return line
}

/** A recogniser whose streams do what the test wants. */
function recogniser(stream: Partial<SpeechStream>): SpeechToText {
  return {
    id: 'test/ear',
    languages: ['en'],
    readiness: () => Promise.resolve(null),
    open: () => ({ write() {}, finalize() {}, onEvent() {}, close() {}, ...stream }),
    close: () => Promise.resolve(),
  }
}

function texts(line: PhoneLine): string[] {
  return line.call.heardLines.map(({ text }) => text)
}

describe('a phone that understands', () => {
  it('writes down what the far end says, when it was said on its own clock', async () => {
    const line = await listening()
    await line.pass(500)
    const from = line.far.played()
    line.far.play(spoken(GREETING))
    await line.pass(6000)
    expect(texts(line)).toEqual([GREETING])
    const [greeting] = line.call.heardLines
    // The audio says when: where the greeting lies in what the phone kept.
    const kept = line.call.heard()
    const loud = kept.findIndex(sample => Math.abs(sample) > 500) / 8
    expect(from).toBe(0)
    expect(greeting!.final).toBe(true)
    expect(Math.abs(greeting!.startMs - loud)).toBeLessThan(120)
    expect(greeting!.endMs - greeting!.startMs).toBeGreaterThan(1500)
  })

  it('hears a word while the sentence goes on', async () => {
    const line = await listening()
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

  it('keeps the last words of a far end that hangs up at once', async () => {
    const line = await listening()
    line.far.play(spoken(ANSWER))
    await line.during(line.call.untilHears('ready', 5000))
    expect(line.call.heardLines).toMatchObject([{ text: ANSWER, final: false }])
    line.far.hangUp()
    await line.during(line.call.ended)
    expect(line.call.heardLines).toMatchObject([{ text: ANSWER, final: true }])
  })

  it.each([
    [1500, 'are heard'],
    [2500, 'are waited for no longer than 2 s'],
  ])('last words that its recogniser needs %i ms for %s', async (ms, outcome) => {
    const line = await PhoneLine.answered()
    let tell: (event: SpeechEvent) => void = () => {}
    const words = [{ text: 'Goodbye.', startSample: 9000, endSample: 12_000 }]
    const slow = recogniser({
      onEvent: listener => {
        tell = listener
      },
      finalize: () => {
        const answer = () => tell({ type: 'final', text: 'Goodbye.', words, fromFinalize: true })
        line.time.at(line.time.now() + ms, answer)
      },
    })
    line.call.understand(slow, 'en')
    const waiting = line.call.untilHears('goodbye', 20_000)
    line.far.hangUp()
    await line.during(line.call.ended, 1000)
    if (outcome === 'are heard')
      expect(await line.during(waiting)).toEqual({ text: 'Goodbye.', startMs: 1125, endMs: 1500 })
    else await expect(line.during(waiting)).rejects.toMatchObject({ code: 'call_ended' })
  })

  it('gives its recogniser every sample that it heard, once and in order', async () => {
    const line = await PhoneLine.answered()
    const given: { audio: Int16Array; at: Samples }[] = []
    line.call.understand(recogniser({ write: (audio, at) => given.push({ audio: audio.slice(), at }) }), 'en')
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

  it('tells of speech without words', async () => {
    const line = await listening()
    const person = new LocalFlite()
    line.far.play(await new PhoneVoice(person, 'en').render(ORDER))
    await person.close()
    await line.pass(6000)
    expect(new Set(texts(line))).toEqual(new Set(['']))
    expect(line.call.heardLines[0]!.endMs).toBeGreaterThan(line.call.heardLines[0]!.startMs + 500)
  })

  it('says what is missing: no voice, no recogniser, a second recogniser, a pattern without words', async () => {
    const line = await PhoneLine.answered()
    await expect(line.call.say('Hello.')).rejects.toMatchObject({ code: 'no_voice' })
    await expect(line.call.untilHears('x', 10)).rejects.toMatchObject({ code: 'not_listening' })
    line.call.understand(new TonesRecogniser(), 'en')
    expect(() => line.call.understand(new TonesRecogniser(), 'en')).toThrow(
      expect.objectContaining({ code: 'already_listening' }),
    )
    await expect(line.call.untilHears('?!', 10)).rejects.toMatchObject({ code: 'bad_pattern' })
  })

  it('hands on the error of a recogniser that fails', async () => {
    const line = await PhoneLine.answered()
    let tell: (event: SpeechEvent) => void = () => {}
    const failing = recogniser({
      onEvent: listener => {
        tell = listener
      },
    })
    line.call.understand(failing, 'en')
    const waiting = line.call.untilHears('hello', 5000)
    tell({ type: 'error', error: new ParleyError('recogniser_busy', 'try later', { retryable: true }) })
    tell({ type: 'error', error: new ParleyError('recogniser_failed', 'gone') })
    await expect(waiting).rejects.toMatchObject({ code: 'recogniser_failed' })
  })
})

describe('a phone that talks', () => {
  it('says a sentence, and knows when it has left', async () => {
    const line = await listening()
    const before = line.time.now()
    const said = await line.during(line.call.say(ORDER))
    const lasted = spoken(ORDER).length / 8
    expect(said.endMs - said.startMs).toBeCloseTo(lasted, 0)
    expect(line.time.now() - before).toBeGreaterThan(lasted)
    expect(line.time.now() - before).toBeLessThan(lasted + 400)
  })

  it('is told when nobody can hear it', async () => {
    const line = await listening()
    const speaking = line.call.say(ORDER)
    await line.pass(500)
    line.far.hangUp()
    await expect(line.during(speaking)).rejects.toMatchObject({ code: 'call_ended' })
    await line.pass(1000)
    await expect(line.call.say(ORDER)).rejects.toMatchObject({ code: 'call_ended' })
  })
})

describe('a phone that waits', () => {
  it('knows when the far end is silent: the tones of its words are no speech', async () => {
    const line = await listening()
    const before = line.time.now()
    line.far.play(spoken(SHORT))
    await line.during(line.call.untilAgentTalks(200))
    await expect(line.during(line.call.untilAgentQuiet(500, 200))).rejects.toMatchObject({ code: 'wait_timeout' })
    await line.during(line.call.untilAgentQuiet(1000))
    const silentFrom = line.time.now() - 1000 - before
    expect(silentFrom).toBeGreaterThan(850)
    // With the way to here and the steps in which it looks.
    expect(silentFrom).toBeLessThan(1000)
    await line.during(line.call.untilAgentQuiet(1000), 100)
  })

  it('takes a pause for a pause only behind speech that came since', async () => {
    const line = await listening()
    line.far.play(spoken(ANSWER))
    await line.during(line.call.untilPause(700, 10_000))
    const second = line.call.untilPause(700, 10_000)
    await line.pass(3000)
    line.far.play(spoken(ANSWER))
    const before = line.time.now()
    await line.during(second)
    expect(line.time.now() - before).toBeGreaterThan(700 + 800)
  })

  it('knows of the silence, and of the talk, that was before it was asked', async () => {
    const line = await listening()
    line.far.play(spoken(GREETING))
    await line.pass(1000)
    await line.during(line.call.untilAgentTalks(700), 60)
    const other = await listening()
    await other.pass(4000)
    await other.during(other.call.untilAgentQuiet(4000), 20)
    await expect(other.during(other.call.untilAgentQuiet(9000, 100))).rejects.toMatchObject({ code: 'wait_timeout' })
  })

  it('lets time pass, unless the call ends', async () => {
    const line = await listening()
    const before = line.time.now()
    await line.during(line.call.wait(1500))
    expect(line.time.now() - before).toBe(1500)
    const waiting = line.call.wait(5000)
    line.far.hangUp()
    await expect(line.during(waiting)).rejects.toMatchObject({ code: 'call_ended' })
  })
})
