import { type EffectRecord, InMemoryEffectLedger } from '@parley/conversation'
import type { VoiceAgent } from '@parley/engine'
import type { CallReport } from '@parley/engine/testing'
import { SeededRandom } from '@parley/kernel'
import type { GenerationEvent, RealtimeModel } from '@parley/providers'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { checkCall } from './call-check.ts'
import { soundOf } from './call-recording.ts'
import { ClinicCalls } from './clinic-calls.ts'
import { FAILURE_CALLER } from './failure-rows.ts'
import { type CallerTurn, PatientCaller } from './patient-caller.ts'

/** Calls to the clinic over TLS and SRTP with a speech-to-speech model: the stand-in of OpenAI Realtime hears and speaks. */

const REALTIME = 'openai/gpt-realtime'
const SERVICES = { stt: 'deepgram/nova-3', tts: 'simulated/tones-1', llm: REALTIME }
/** The sentence of the caller after which the session fails. */
const DAY = 'The second one, please.'
/** Nothing in the flow answers this, so that the model speaks: all else that the clinic says is static text. */
const UNRELATED = 'Purple bananas.'
/** The caller of the failures, who says something unrelated before the day. */
const CALLER: readonly CallerTurn[] = FAILURE_CALLER.flatMap(turn =>
  turn.act.type === 'say' && turn.act.text === DAY
    ? [
        { ...turn, act: { type: 'say', text: UNRELATED } },
        // Whatever the model says.
        { after: /[a-z]{2}/i, waitMs: 2500, act: turn.act },
      ]
    : [turn],
)

let calls: ClinicCalls

beforeAll(async () => {
  calls = await ClinicCalls.open(voice => PatientCaller.prepare(CALLER, voice), 2)
})
afterAll(() => calls?.close())

/** What a call's agent did beside its report. */
interface Observed {
  readonly ledger: InMemoryEffectLedger
  /** Answers that the speech-to-speech model spoke itself. */
  spoken: number
}

function observed(): Observed {
  return { ledger: new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: Date.now }), spoken: 0 }
}

/** The agent, observed: its effects, and which answers its speech-to-speech model spoke. */
function observing(seen: Observed) {
  return (agent: VoiceAgent): VoiceAgent => {
    const realtime = agent.realtime!
    const open: RealtimeModel['open'] = options => {
      const session = realtime.open(options)
      const { model } = session
      return {
        recogniser: session.recogniser,
        model: { ...model, generate: (request, signal) => counted(model.generate(request, signal), seen) },
        get isOver() {
          return session.isOver
        },
        close: () => session.close(),
      }
    }
    const { identity, languages, voices } = realtime
    const port = { identity, languages, voices, open }
    return {
      ...agent,
      ledger: () => seen.ledger,
      realtime: { ...port, readiness: () => realtime.readiness(), close: () => realtime.close() },
    }
  }
}

async function* counted(answer: AsyncIterable<GenerationEvent>, seen: Observed): AsyncGenerator<GenerationEvent> {
  let hasSpoken = false
  for await (const event of answer) {
    if (event.type === 'speech' && !hasSpoken) seen.spoken++
    hasSpoken ||= event.type === 'speech'
    yield event
  }
}

const kindsOf = (records: readonly EffectRecord[]) => new Set(records.map(({ effect_kind }) => effect_kind))

/** Codes of failures; on a busy machine a service may be late without having failed. */
function failures({ timeline }: CallReport): string[] {
  return timeline.flatMap(item => (item.kind === 'error' && !item.code.endsWith('_late') ? [item.code] : []))
}

describe.concurrent('a call with a speech-to-speech model', { timeout: 400_000 }, () => {
  it('books an appointment through the flow, with barge-in, recording and effects as with any model', async ({
    expect,
  }) => {
    const seen = observed()
    const result = await calls.run({ ...SERVICES, alter: observing(seen) })
    const { report } = result
    expect(result, JSON.stringify(report.timeline)).toMatchObject({ gaveUp: null, effects: 1 })
    expect(report.run.outcome).toMatchObject({ kind: 'completed' })
    expect(failures(report)).not.toContain('recogniser_failed')
    expect(report.timeline.some(({ kind }) => kind === 'interruption')).toBe(true)
    expect(seen.spoken).toBeGreaterThan(0)
    expect(kindsOf(seen.ledger.records)).toEqual(new Set(['http', 'gateway_inference']))
    const { doubles, dead_air_ms } = checkCall({ ...result, sound: await soundOf(report) }, CALLER)
    expect(doubles).toBe(0)
    // The recording has both sides.
    expect(dead_air_ms).not.toBe(null)
  })

  it('a call with a speech-to-speech model goes on with recogniser, model and voice when the session breaks while the caller speaks', async ({
    expect,
  }) => {
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
    expect(checkCall({ ...result, sound: await soundOf(report) }, CALLER).doubles).toBe(0)
  })
})
