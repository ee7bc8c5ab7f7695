import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallerStep } from './caller/caller-step.ts'
import { CallerScript } from './caller-script.ts'
import { PhoneLine } from './phone-line.fixture.ts'
import { PhoneVoice } from './phone-voice.ts'

const GREETING = 'Good morning. You have reached the ticket office. For how many people, and for which day?'
const ORDER = 'I want two tickets for Monday.'
const ANSWER = 'Your tickets are ready.'

const tones = new TonesVoice()
const voice = new PhoneVoice(tones, 'en')
const spoken = new Map<string, Int16Array>()
beforeAll(async () => {
  for (const text of [GREETING, ORDER, ANSWER]) spoken.set(text, await voice.render(text))
})
afterAll(() => tones.close())

/** Follows the script on a call whose far end greets, answers when the caller falls silent, and stops when it is interrupted. */
async function followScript(script: readonly CallerStep[]) {
  const line = await PhoneLine.answered()
  line.call.setRecogniser(new TonesRecogniser(), 'en')
  const heard: string[] = []
  line.far.detectVoice({})
  line.far.onEvent(event => {
    if (event.type === 'voice-start') {
      heard.push('speech')
      line.far.flush()
    }
    if (event.type === 'voice-end') line.far.play(spoken.get(ANSWER)!)
    if (event.type === 'digit') heard.push(event.digit)
  })
  line.far.play(spoken.get(GREETING)!)
  const steps: string[] = []
  const prepared = await CallerScript.prepare(script, voice)
  const followed = prepared.follow(line.call, { onStep: description => steps.push(description) })
  return { line, heard, steps, followed }
}

describe('a scripted caller', () => {
  it('a scripted caller hears, pauses, says, presses, waits and hangs up in order', async () => {
    const { line, heard, steps, followed } = await followScript([
      { type: 'hear', pattern: 'which day' },
      { type: 'quiet' },
      { type: 'say', text: ORDER },
      { type: 'hear', pattern: /tickets are (\w+)/ },
      { type: 'pause', forMs: 300 },
      { type: 'press', digits: '12#' },
      { type: 'wait', ms: 500 },
      { type: 'hang-up' },
      { type: 'hung-up' },
    ])
    await line.during(followed)
    expect(heard).toEqual(['speech', '1', '2', '#'])
    expect(steps[3]).toBe('hear /tickets are (\\w+)/')
    expect(steps.at(-1)).toBe('wait for the far end to hang up')
    expect((await line.call.ended).cause).toBe('bye')
  })

  it('a scripted caller interrupts the agent by voice after the given length of its speech', async () => {
    const { line, heard, followed } = await followScript([
      { type: 'interrupt', afterMs: 1500, by: { type: 'say', text: ORDER } },
      { type: 'hear', pattern: 'ready' },
    ])
    await line.during(followed)
    expect(heard).toEqual(['speech'])
    const texts = line.call.heardLines.map(({ text }) => text).join(' ')
    expect(texts).toContain('Good morning.')
    expect(texts).not.toContain('day?')
    expect(texts).toContain(ANSWER)
  })

  it('a scripted caller interrupts the agent by keys', async () => {
    const { line, heard, followed } = await followScript([
      { type: 'interrupt', afterMs: 500, by: { type: 'press', digits: '5' } },
    ])
    const before = line.time.now()
    await line.during(followed)
    expect(heard).toEqual(['5'])
    expect(line.time.now() - before).toBeLessThan(1500)
  })

  it('a "hear" step ignores what the agent said before the caller spoke', async () => {
    const { line, followed } = await followScript([
      { type: 'pause' },
      { type: 'say', text: ORDER },
      { type: 'hear', pattern: 'office', withinMs: 4000 },
    ])
    await expect(line.during(followed)).rejects.toMatchObject({ code: 'script_failed' })
  })

  it('a failed script step reports its number, the reason and what was heard', async () => {
    const { line, followed } = await followScript([
      { type: 'pause' },
      { type: 'hear', pattern: 'good evening', withinMs: 2000 },
      { type: 'hang-up' },
    ])
    const error = await line.during(followed).catch((error: unknown) => error as Error)
    expect(error).toMatchObject({ code: 'script_failed' })
    expect((error as Error).message).toMatch(
      /^step 2 of 3 \(hear "good evening"\): did not hear "good evening" within 2000 ms; heard "Good morning\. .* for which day\?" \(\d\.\d-\d\.\d s\)$/,
    )
  })

  it('a script step that fails because the far end hung up says so', async () => {
    const { line, followed } = await followScript([{ type: 'hear', pattern: 'good evening' }])
    await line.pass(2000)
    line.far.hangUp()
    await expect(line.during(followed)).rejects.toThrow(/^step 1 of 1 .*the call ended first .*heard "Good morning\./)
  })

  it('preparing a script fails with the error of the voice when it cannot say a text', async () => {
    await expect(CallerScript.prepare([{ type: 'say', text: ' ' }], voice)).rejects.toMatchObject({
      code: 'text_empty',
    })
  })
})
