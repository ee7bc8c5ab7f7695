import { systemTime } from '@parley/kernel'
import type { LanguageModel } from '@parley/providers'
import { AnthropicMessages, OpenAiChat } from '@parley/providers/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { StandIns } from '../stand-ins/stand-ins.ts'
import { ExampleSession } from './example-session.ts'

let standIns: StandIns
beforeAll(async () => {
  standIns = await StandIns.open()
})
afterAll(() => standIns.close())

const MODELS: readonly [id: string, open: () => LanguageModel][] = [
  [
    'openai/gpt-4.1-mini',
    () => {
      const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl } = standIns.environment
      return new OpenAiChat({ apiKey: apiKey!, baseUrl: baseUrl!, model: 'gpt-4.1-mini', time: systemTime })
    },
  ],
  [
    'anthropic/claude-haiku-4-5',
    () => {
      const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl } = standIns.environment
      return new AnthropicMessages({ apiKey: apiKey!, baseUrl: baseUrl!, model: 'claude-haiku-4-5', time: systemTime })
    },
  ],
]

describe.each(MODELS)('the example clinic on the stand-in of %s', (_id, open) => {
  it('a caller books an appointment as on rules-1: the request survives the translation to the protocol of the vendor', async () => {
    const model = open()
    onTestFinished(() => model.close())
    const session = await ExampleSession.open('clinic', {}, model)
    onTestFinished(() => session.close())
    await session.start()
    expect(await session.say('Hi, I would like to book an appointment, please.')).toBe(
      'Please key in your four digit patient number. If you are new here, press 0.',
    )
    await session.say('It is one zero four two.')
    expect(await session.say('Wednesday would be good.')).toBe(
      'On Wednesday I have ten fifteen or four thirty. Which time? Or press 1 or 2.',
    )
    await session.say('Four thirty, please.')
    expect(await session.say('Yes, please.')).toBe('You are booked for Wednesday at four thirty. Goodbye.')
    expect(session.server.bookings).toEqual([{ slot: '2026-11-25T16:30', patient: '1042' }])
  })
})
