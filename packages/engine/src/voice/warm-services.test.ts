import { expect, it } from 'vitest'
import { AudioHarness } from '../testing/audio-harness.ts'
import { draftOf } from '../testing/drafts.ts'

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
