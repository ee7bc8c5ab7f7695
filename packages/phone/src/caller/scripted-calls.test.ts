import { scriptedCaller } from '@parley/contract'
import { SeededRandom } from '@parley/kernel'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CallerScript } from '../caller-script.ts'
import type { PhoneCallOptions } from '../phone-call.ts'
import { PhoneLine } from '../phone-line.fixture.ts'
import { PhoneVoice } from '../phone-voice.ts'
import type { CallerStep } from './caller-step.ts'
import { callerTurns, missedExpectations } from './caller-turns.ts'
import { LineDamage } from './line-damage.ts'

const GREETING = 'Good morning, this is the ticket office. For which day?'
const ANSWER = 'One ticket for Monday is ready.'
const REPLY_MS = 600

const tones = new TonesVoice()
const voice = new PhoneVoice(tones, 'en')
const spoken = new Map<string, Int16Array>()
beforeAll(async () => {
  for (const text of [GREETING, ANSWER]) spoken.set(text, await voice.render(text))
})
afterAll(() => tones.close())

type Options = PhoneCallOptions & { readonly codecs?: readonly ('PCMU' | 'G722')[] }

/** A call whose far end greets, is silent while the caller speaks, and answers 600 ms after it (or after a key). */
async function openCall(options: Options = {}) {
  const line = await PhoneLine.answered(options)
  line.call.setRecogniser(new TonesRecogniser(), 'en')
  const far = { voices: 0, digits: '', answers: true }
  const say = (text: string) => {
    const audio = spoken.get(text)!
    line.far.play(line.far.format.sampleRateHz === 8000 ? audio : twice(audio))
  }
  const answer = () =>
    line.time.at(line.time.now() + REPLY_MS, () => {
      if (far.answers) say(ANSWER)
    })
  line.far.detectVoice({})
  line.far.onEvent(event => {
    if (event.type === 'voice-start') {
      far.voices++
      line.far.flush()
    }
    if (event.type === 'voice-end') answer()
    if (event.type === 'digit') {
      far.digits += event.digit
      answer()
    }
  })
  say(GREETING)
  return { line, far }
}

/** 8 kHz as 16 kHz, roughly. */
function twice(audio: Int16Array): Int16Array {
  return Int16Array.from({ length: 2 * audio.length }, (_, i) => audio[i >> 1]!)
}

async function playScript(
  steps: readonly object[],
  options: Options = {},
  prepare = (_far: { answers: boolean }) => {},
) {
  const script = scriptedCaller.parse({ kind: 'script', steps })
  const { line, far } = await openCall(options)
  prepare(far)
  const prepared = await CallerScript.prepare(script, voice)
  const player = await line.during(prepared.follow(line.call), 90_000)
  const evidence = { script, player, segments: line.call.farVoice().segments, lines: line.call.heardLines }
  return { line, far, turns: callerTurns(evidence), missed: missedExpectations(evidence) }
}

describe('a caller that follows the script of a test case', () => {
  it('a caller lets the far end finish before each step, and its turns say what it heard and how soon', async () => {
    const { line, far, turns, missed } = await playScript([
      {
        says: 'One ticket for Monday, please.',
        pause_before_ms: 700,
        expect: { hears: ['ticket for monday', 'ready'] },
      },
      { presses: '12#' },
    ])
    expect(far).toMatchObject({ voices: 1, digits: '12#' })
    expect(turns.map(turn => turn.step)).toEqual([0, 1])
    expect(turns[0]).toMatchObject({ heard: ANSWER })
    expect(turns[0]!.startMs).toBeGreaterThan(spoken.get(GREETING)!.length / 8 + 500)
    // The far end's own detection of the pause comes on top.
    expect(turns[0]!.replyMs! - REPLY_MS).toBeGreaterThan(150)
    expect(turns[0]!.replyMs! - REPLY_MS).toBeLessThan(400)
    expect(missed).toEqual([])
    expect((await line.during(line.call.ended)).by).toBe('local')
  })

  it('a caller interrupts an answer after the given time, by voice and keys at once', async () => {
    const { far, turns } = await playScript([
      { interrupt_at_ms: 1200, says: 'Monday, please.', presses: '5', expect: { hears: ['ready'] } },
    ])
    expect(far).toMatchObject({ voices: 1, digits: '5' })
    expect(turns).toHaveLength(2)
    expect(turns[0]!.startMs).toBeLessThan(spoken.get(GREETING)!.length / 8)
    expect(turns[0]!.startMs).toBeGreaterThan(1200)
  })

  it('a caller who pauses inside a turn speaks on after its own silence, whatever the far end does', async () => {
    const { turns } = await playScript([
      { says: 'My name is', pause_before_ms: 500 },
      { silence_ms: 1500, says: 'John Smith.' },
    ])
    expect(turns[1]!.startMs - turns[0]!.endMs).toBeGreaterThan(1400)
    expect(turns[1]!.startMs - turns[0]!.endMs).toBeLessThan(1700)
  })

  it('words that do not come and a far end that does not hang up are missed expectations', async () => {
    const { line, missed } = await playScript([
      { says: 'Tuesday, please.', pause_before_ms: 500, expect: { hears: ['ticket for tuesday'], hung_up: true } },
    ])
    expect(missed).toEqual([
      { step: 0, expected: 'ticket for tuesday' },
      { step: 0, expected: null },
    ])
    expect((await line.during(line.call.ended)).by).toBe('local')
  })

  it('a caller to whom nobody answers goes on after ten seconds', async () => {
    const { turns } = await playScript([{ says: 'Monday.' }, { says: 'Hello?' }], {}, far => {
      far.answers = false
    })
    expect(turns.map(({ replyMs }) => replyMs)).toEqual([null, null])
    expect(turns[1]!.startMs - turns[0]!.endMs).toBeGreaterThan(9500)
  })

  it('a played message ends with a beep, and the caller hangs up after it', async () => {
    const { line, turns } = await playScript([
      { plays: { kind: 'voicemail_greeting', text: 'Nobody is here.' }, hangs_up: true },
    ])
    const speech = await voice.render('Nobody is here.')
    expect(turns[0]!.endMs - turns[0]!.startMs).toBeCloseTo(speech.length / 8 + 750, -1)
    expect((await line.during(line.call.ended)).by).toBe('local')
  })

  it('noise, echo, loss and a second codec on the line do not keep a far end from hearing the words', async () => {
    const damage = new LineDamage(
      { background: { kind: 'street', snrDb: 25 }, echo: { levelDb: -30, delayMs: 120 }, loss: 0.01, transcoded: true },
      new SeededRandom(2),
    )
    const { line, far } = await openCall({ damage })
    const heard: string[] = []
    const stream = new TonesRecogniser().open({ language: 'en' })
    stream.onEvent(event => event.type === 'final' && heard.push(event.text))
    const audio = new Int16Array(8000)
    const prepared = await CallerScript.prepare(
      scriptedCaller.parse({
        kind: 'script',
        steps: [{ pause_before_ms: 700, says: 'One ticket for Monday, please.' }],
      }),
      voice,
    )
    const followed = prepared.follow(line.call)
    const read = () => {
      const at = line.far.heardPosition()
      const count = line.far.readHeard(audio)
      if (count > 0) stream.write(audio.subarray(0, count), at)
      line.time.at(line.time.now() + 20, read)
    }
    read()
    await line.during(followed, 60_000)
    expect(far.voices).toBeGreaterThan(0)
    expect(heard.join(' ')).toContain('ticket for Monday')
  })

  it('a caller with a wideband codec hears and says the same', async () => {
    const { line, turns } = await playScript(
      [{ says: 'One ticket, please.', pause_before_ms: 700, expect: { hears: ['ready'] } }],
      {
        codecs: ['G722'],
      },
    )
    expect(line.call.leg.format.sampleRateHz).toBe(16_000)
    expect(turns[0]!.heard).toBe(ANSWER)
    expect(turns[0]!.replyMs! - REPLY_MS).toBeGreaterThan(150)
    expect(turns[0]!.replyMs! - REPLY_MS).toBeLessThan(400)
  })

  it('a caller that decides in the call hears each answer before its next steps, until it has none', async () => {
    const { line } = await openCall()
    const heard: string[][] = []
    const answers: CallerStep[] = [{ type: 'reply', pauseMs: 700, withinMs: 10_000, optional: true }]
    const script = await CallerScript.improvised(
      {
        begin: answers,
        next: async lines => {
          heard.push(lines.map(({ text }) => text))
          if (heard.length === 3) return []
          return [{ type: 'say', text: 'Monday, please.' }, ...answers]
        },
      },
      voice,
    )
    await line.during(script.follow(line.call), 60_000)
    expect(heard).toEqual([[GREETING], [GREETING, ANSWER], [GREETING, ANSWER, ANSWER]])
  })

  it('a script begins again when the far end says the given words, as often as it may', async () => {
    const { line, far } = await openCall()
    const steps: readonly CallerStep[] = [
      { type: 'pause' },
      { type: 'begin-again', pattern: 'is ready', times: 2 },
      { type: 'press', digits: '1' },
      { type: 'hear', pattern: 'a word that never comes', withinMs: 5000, optional: true },
      { type: 'hang-up' },
    ]
    const script = await CallerScript.prepare(steps, voice)
    await line.during(script.follow(line.call), 60_000)
    expect(far.digits).toBe('111')
  })
})
