import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkCall } from './call-check.ts'
import { soundOf } from './call-recording.ts'
import { ClinicCalls } from './clinic-calls.ts'
import { FAILURE_CALLER } from './failure-rows.ts'
import { PatientCaller } from './patient-caller.ts'

/** Whole calls over TLS and SRTP with a speech-to-speech model: the stand-in of OpenAI Realtime hears and speaks. */

const REALTIME = 'openai/gpt-realtime'
const SERVICES = { stt: 'deepgram/nova-3', tts: 'simulated/tones-1', llm: REALTIME }

let calls: ClinicCalls

beforeAll(async () => {
  calls = await ClinicCalls.open(voice => PatientCaller.prepare(FAILURE_CALLER, voice), 1)
}, 60_000)
afterAll(() => calls?.close())

describe('a call with a speech-to-speech model', { timeout: 300_000 }, () => {
  it('books an appointment through the flow, and is recorded on both sides', async () => {
    const result = await calls.run(SERVICES)
    const { report } = result
    console.log(JSON.stringify(report.utterances.map(u => [u.role, u.text, u.interrupted])), report.timeline.filter(i => i.kind === 'error'), report.run)
    expect(result).toMatchObject({ gaveUp: null, effects: 1 })
    expect(report.run.outcome).toMatchObject({ kind: 'completed' })
    expect(report.timeline.filter(({ kind }) => kind === 'error')).toEqual([])
    const check = checkCall({ ...result, sound: await soundOf(report) }, FAILURE_CALLER)
    console.log(check)
  })
})
