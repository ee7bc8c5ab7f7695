import type { LegEvent } from '@parley/leg'
import { expect } from 'vitest'
import type { AtTestEnd } from './clean-up.ts'
import { dialling, type EngineChanges, type EngineUnderTest, startEngine, TOKEN } from './engine.ts'
import { runSipp, type SippOptions, type SippResult, type SippRun, startSipp } from './sipp.ts'

/** An engine that takes calls without SRTP, and SIPp calling it to the scenario's end: each test has its own of both. */
export async function sippCalls(
  sipp: Omit<SippOptions, 'target' | 'service'>,
  atTestEnd: AtTestEnd,
  engine: EngineChanges = {},
): Promise<{ readonly under: EngineUnderTest; readonly result: SippResult }> {
  const under = await startEngine({ routes: [{ token: TOKEN, security: 'rtp-only' }], ...engine }, atTestEnd)
  const result = await runSipp({
    ...sipp,
    target: `127.0.0.1:${under.engine.endpoint.port(sipp.transport ?? 'udp')}`,
    service: TOKEN,
    atTestEnd,
  })
  return { under, result }
}

/** SIPp waiting for a call, and an engine that calls it without SRTP: each test has its own of both. */
export async function callsSipp(
  sipp: SippOptions,
  atTestEnd: AtTestEnd,
  engine: EngineChanges = hangingUpSoon,
): Promise<{ readonly under: EngineUnderTest; readonly run: SippRun }> {
  const run = await startSipp({ ...sipp, atTestEnd })
  const under = await startEngine(engine, atTestEnd)
  const transport = sipp.transport === 'tcp' ? ';transport=tcp' : ''
  await under.dial(dialling(`sip:+15557654321@${run.address}${transport}`, { security: 'rtp-only' }))
  return { under, run }
}

/** One second after the answer: long enough for a peer that reacts to the ACK. */
const hangingUpSoon: EngineChanges = {
  onCall: call =>
    call.leg.onEvent(event => {
      if (event.type === 'answered') setTimeout(() => call.leg.hangUp(), 1000)
    }),
}

/** The result of a run in which every call followed the scenario. */
export async function passed(run: SippRun): Promise<SippResult> {
  const result = await run.finished
  expect(result.exitCode, result.output).toBe(0)
  return result
}

/** The events of the legs of all calls. */
export function legEvents(under: EngineUnderTest): LegEvent[] {
  return under.events.flatMap(event => (event.type === 'leg' ? [event.event] : []))
}
