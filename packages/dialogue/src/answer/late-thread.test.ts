import { describe, expect, it } from 'vitest'
import { type AnswerStep, classesOf, detect } from '../testing/scripted-answer.ts'

const SENTENCE: AnswerStep = { says: 'the small green house on the hill is where', wordMs: 250 }
const WISH: AnswerStep = { says: 'I would like to book an appointment please', wordMs: 250 }
const HELLO: AnswerStep = { says: 'hello', wordMs: 600 }

/** Moments after the answer at which a thread stops, each for several times. */
const STALLS = [500, 1000, 1500, 2000].flatMap(ms =>
  Array.from({ length: 40 }, (_, i) => ({ fromMs: 50 + 100 * i, untilMs: 50 + 100 * i + ms })),
)

const called = (...steps: AnswerStep[]): AnswerStep[] => [{ pauses: 600 }, ...steps, { pauses: 1500 }]

describe('a thread that stands still for up to 2 s, and then hears all that waits', () => {
  it.each([
    ['after the first word', 980],
    ['in the pause of the question', 3300],
  ])('a screener is found, and its question heard to its end, by a thread that stands still %s', (_when, fromMs) => {
    const steps: AnswerStep[] = [
      { pauses: 600 },
      { says: 'hi' },
      { pauses: 300 },
      { says: 'if you record your name and reason' },
      { pauses: 600 },
      { says: 'for calling I will see if this person is available' },
    ]
    const end = 600 + 300 + 300 + 7 * 300 + 600 + 10 * 300
    for (const stallMs of [0, 500, 1000, 2000]) {
      const outputs = detect(steps, { stall: { fromMs, untilMs: fromMs + stallMs } })
      expect(classesOf(outputs)).toEqual(['screener'])
      expect(outputs.filter(({ type }) => type === 'greeting-over')).toMatchObject([{ at: end + 700 }])
    }
  })

  it.each<[string, AnswerStep[]]>([
    ['who says hello, waits and then talks at length', called(HELLO, { pauses: 800 }, SENTENCE)],
    ['who says hello, waits and then says what they want', called(HELLO, { pauses: 800 }, WISH)],
    ['who says at once what they want', called(WISH)],
    ['whose words are half of what a menu says', called({ says: 'they are going to book it there', wordMs: 250 })],
  ])('finds a person %s', (_who, steps) => {
    const wrong = STALLS.filter(stall => classesOf(detect(steps, { stall })).join() !== 'human')
    expect(classesOf(detect(steps))).toEqual(['human'])
    expect(wrong).toEqual([])
  })

  it.each<[string, string, AnswerStep[]]>([
    ['mailbox', 'voicemail', called({ says: 'I am not at home leave a message after the tone' })],
    ['menu', 'ivr', called({ says: 'thank you for calling press one to book an appointment' })],
  ])('finds a %s', (_what, name, steps) => {
    const wrong = STALLS.filter(stall => classesOf(detect(steps, { stall })).at(-1) !== name)
    expect(wrong).toEqual([])
  })
})
