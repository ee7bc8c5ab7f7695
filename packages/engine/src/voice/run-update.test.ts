import { afterEach, expect, it } from 'vitest'
import { AudioHarness, speaks } from '../testing/audio-harness.ts'
import { draftOf } from '../testing/drafts.ts'

/** Updates of variables during a call. */

let stage: AudioHarness | null = null

const draft = draftOf([
  { id: 'hello', type: 'conversation', instruction: { type: 'prompt', text: 'You speak with {{name}}.' } },
  { id: 'end', type: 'end' },
])

afterEach(async () => {
  stage?.caller.hangUp()
  await stage?.pass(200)
  stage = null
})

const askedWith = (call: AudioHarness, index: number) => JSON.stringify(call.requests[index]?.messages)

it('an update during a speech of the agent is used in its next turn', async () => {
  stage = await AudioHarness.open({ draft, answers: [speaks('Hello there.'), speaks('Hello Ana.')] })
  const call = stage
  await call.until(() => call.requests.length === 1, 3000, 'asked')
  expect(askedWith(call, 0)).toContain('You speak with .')
  call.handler!.updateVariables({ name: 'Ana' })
  await call.until(() => call.timeline('utterance').length === 1, 5000, 'greeted')
  call.says('who am I')
  await call.until(() => call.requests.length === 2, 5000, 'asked again')
  expect(askedWith(call, 1)).toContain('You speak with Ana.')
})

it('a preemptive answer requested before an update is discarded and requested again', async () => {
  stage = await AudioHarness.open({
    draft,
    answers: [speaks('Hello.'), speaks('You are you.'), speaks('You are Ana.')],
  })
  const call = stage
  await call.until(() => call.timeline('utterance').length === 1, 5000, 'greeted')
  call.says('tell me who I am')
  await call.until(() => call.requests.length === 2, 5000, 'asked ahead')
  expect(call.timeline('utterance')).toHaveLength(1)
  call.handler!.updateVariables({ name: 'Ana' })
  await call.until(() => call.timeline('utterance').length === 3, 5000, 'answered')
  expect(askedWith(call, 1)).toContain('You speak with .')
  expect(askedWith(call, 2)).toContain('You speak with Ana.')
  expect(call.timeline('utterance')[2]!.text).toBe('You are Ana.')
  expect(call.voice.synthesized).not.toContain('You are you.')
})
