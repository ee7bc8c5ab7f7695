import { type EffectRecord, InMemoryEffectLedger } from '@parley/conversation'
import type { VoiceAgent } from '@parley/engine'
import type { CallReport } from '@parley/engine/testing'
import { SeededRandom } from '@parley/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkCall } from './call-check.ts'
import { soundOf } from './call-recording.ts'
import { ClinicCalls } from './clinic-calls.ts'
import { FAILURE_CALLER } from './failure-rows.ts'
import { PatientCaller } from './patient-caller.ts'

/** Calls to the clinic over TLS and SRTP with a speech-to-speech model: the stand-in of OpenAI Realtime hears and speaks. */

const REALTIME = 'openai/gpt-realtime'
const SERVICES = { stt: 'deepgram/nova-3', tts: 'simulated/tones-1', llm: REALTIME }
/** The sentence of the caller after which the session fails. */
const DAY = 'The second one, please.'

let calls: ClinicCalls

beforeAll(async () => {
  calls = await ClinicCalls.open(voice => PatientCaller.prepare(FAILURE_CALLER, voice), 2)
}, 60_000)
afterAll(() => calls?.close())

/** Collects the effects of the agent's calls. */
function withLedger(ledger: InMemoryEffectLedger) {
  return (agent: VoiceAgent): VoiceAgent => ({ ...agent, ledger: () => ledger })
}

function newLedger(): InMemoryEffectLedger {
  return new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: Date.now })
}

const kindsOf = (records: readonly EffectRecord[]) => new Set(records.map(({ effect_kind }) => effect_kind))

/** Codes of failures; on a busy machine a service may be late without having failed. */
function failures({ timeline }: CallReport): string[] {
  return timeline.flatMap(item => (item.kind === 'error' && !item.code.endsWith('_late') ? [item.code] : []))
}

describe('a call with a speech-to-speech model', { timeout: 400_000 }, () => {
  it('books an appointment through the flow, with barge-in, recording and effects as with any model', async () => {
    const ledger = newLedger()
    const result = await calls.run({ ...SERVICES, alter: withLedger(ledger) })
    const { report } = result
    expect(result, JSON.stringify(report.timeline)).toMatchObject({ gaveUp: null, effects: 1 })
    expect(report.run.outcome).toMatchObject({ kind: 'completed' })
    expect(failures(report)).toEqual([])
    expect(report.timeline.some(({ kind }) => kind === 'interruption')).toBe(true)
    const { hang, doubles, lost, stale_ms } = checkCall({ ...result, sound: await soundOf(report) }, FAILURE_CALLER)
    expect({ hang, doubles, lost, stale_ms }).toEqual({ hang: null, doubles: 0, lost: 0, stale_ms: 0 })
    expect(kindsOf(ledger.records)).toEqual(new Set(['http', 'gateway_inference']))
  })

  it('goes on with recogniser, model and voice when the session breaks while the caller speaks', async () => {
    const result = await calls.run({
      ...SERVICES,
      onAct: (act, standIns) => {
        if (act === DAY) standIns.service(REALTIME).breakOff()
      },
    })
    const { report } = result
    expect(result, JSON.stringify(report.timeline)).toMatchObject({ gaveUp: null, effects: 1 })
    expect(report.run.outcome).toMatchObject({ kind: 'completed' })
    expect(failures(report)).toContain('recogniser_failed')
    const { doubles, lost } = checkCall({ ...result, sound: await soundOf(report) }, FAILURE_CALLER)
    expect({ doubles, lost }).toEqual({ doubles: 0, lost: 0 })
  })
})
