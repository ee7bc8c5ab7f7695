import { expect, it } from 'vitest'
import { AudioHarness } from '../testing/audio-harness.ts'
import { draftOf, greeter, planOf } from '../testing/drafts.ts'
import { FingerprintVoice } from '../testing/scripted-speech.ts'
import { warmVoice } from './voice-agent.ts'

it("a call prepares the agent's model before its first request", async () => {
  let warmed = 0
  const warmModel = () => {
    warmed++
  }
  const call = await AudioHarness.open({
    draft: draftOf([
      { id: 'ask', type: 'conversation', instruction: { type: 'static_text', text: 'How can I help?' } },
      { id: 'end', type: 'end' },
    ]),
    answers: [],
    agent: { warmModel },
  })
  await call.until(() => call.timeline('utterance').length === 1, 6000, 'the greeting was heard')
  expect(warmed).toBe(1)
  expect(call.requests).toEqual([])
  call.caller.hangUp()
  await call.pass(200)
})

it("texts of an agent are prepared as its voice is asked for them in a call: 'number 3' as 'number three'", () => {
  const warmed: unknown[] = []
  const voice = Object.assign(new FingerprintVoice(), { warm: (request: unknown) => warmed.push(request) })
  const plan = planOf({ ...greeter, settings: { normalizeForSpeech: true } })
  warmVoice({ plan, voice, voiceId: 'slt' }, { texts: ['This is number 3.'] })
  expect(warmed).toEqual([{ language: 'en', voice: 'slt', texts: ['This is number three.'] }])
})
