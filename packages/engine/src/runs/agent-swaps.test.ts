import { SeededRandom, systemTime } from '@parley/kernel'
import { type OwnedRun, RunLeases } from '@parley/runs'
import { admitRun, listEvents, readRun } from '@parley/store'
import { counted, localBus, OUTBOUND, type TestDatabase, testDatabase, workspace } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Call } from '../call.ts'
import type { VoiceAgent } from '../voice/voice-agent.ts'
import { AgentSwaps } from './agent-swaps.ts'
import type { CallRecord } from './call-record.ts'
import type { Recordings } from './recordings.ts'
import type { ReadyRun } from './run-plan.ts'

let test: TestDatabase
let leases: RunLeases
let source: OwnedRun
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())
beforeEach(async () => {
  const scope = await workspace(test, { capacity: 1 })
  await test.owner.query(`update parley.publications set plan = '{"settings": {}}' where tenant_id = $1`, [
    scope.tenant_id,
  ])
  await test.owner.query('update parley.agents set head_version = 1 where tenant_id = $1', [scope.tenant_id])
  leases = new RunLeases({
    database: test.database,
    bus: localBus(),
    time: systemTime,
    wallClock: Date.now,
    random: new SeededRandom(7),
    owner: { engine: 'engine-1', worker: null },
  })
  const admission = await test.database.transaction(scope, tx => admitRun(tx, scope, OUTBOUND))
  if (admission.kind === 'refused') throw new Error(admission.reason)
  source = (await leases.claim(scope, admission.run_id))!
})
afterEach(() => leases.close())

const plan = { settings: { voicemail: {}, ivr: {}, callScreening: {} } }
const AGENT = { plan, voice: null, voiceId: null } as unknown as VoiceAgent
const CALL = { leg: { direction: 'outbound', callId: 'call-1' }, variables: {} } as unknown as Call

/** Asks for the agent "other" on the call of `source`. */
async function swapped(recordings: Recordings) {
  const over: string[] = []
  const swaps = new AgentSwaps({
    database: test.database,
    leases,
    agents: { create: async request => ({ ...AGENT, plan: request.plan }) },
    recordings,
    time: systemTime,
    onOver: (run, end) => over.push(`${run.runId} ${end.state}`),
    onProblem: () => {},
  })
  const ready: ReadyRun = {
    run: source,
    start: { ...OUTBOUND, run_id: source.runId, plan, destinations: null, own_numbers: [] } as never,
    trunk: { details: {}, first_number: null } as never,
    agent: AGENT,
    record: {} as CallRecord,
    time: systemTime,
  }
  const request = {
    type: 'swap_agent',
    agent_id: 'other',
    agent_version: null,
    keep_current_voice: false,
    keep_current_language: false,
  } as const
  return { successor: await swaps.prepare(ready, request, 'effect_1', CALL), over }
}

const errorsOf = async (runId: string) => {
  const { rows } = await listEvents(test.database.within(source.scope), source.scope, runId, {
    cursor: null,
    limit: 50,
  })
  return rows.filter(({ kind }) => kind === 'error').map(({ fields }) => fields.code)
}

describe('the recording of a call that another agent is to continue', () => {
  it('an agent whose recording cannot begin gets no call: its run fails, and the call stays where it is', async () => {
    const closed: string[] = []
    const { successor, over } = await swapped({
      open: async () => {
        throw new Error('the disk is full')
      },
      close: async runId => void closed.push(runId),
    })
    expect(successor).toBeNull()
    const { rows } = await test.owner.query("select run_id from parley.runs where trigger ->> 'source_run_id' = $1", [
      source.runId,
    ])
    const failed: string = rows[0].run_id
    expect(over).toEqual([`${failed} failed`])
    expect(closed).toEqual([failed])
    expect(await readRun(test.database.within(source.scope), source.scope, failed)).toMatchObject({
      state: 'failed',
      outcome: { kind: 'error', detail: 'recording_unavailable' },
    })
    expect(await errorsOf(failed)).toEqual(['recording_unavailable'])
    await source.written()
    expect(await errorsOf(source.runId)).toEqual(['internal'])
    // The call has its permit back.
    expect(await counted(test, source.scope)).toMatchObject({ live: 1, permits: 1 })
  })

  it('a successor that is abandoned closes its recording and returns the permit', async () => {
    const recordings = { open: async () => ({ path: '/nowhere' }), close: vi.fn(async () => {}) }
    const { successor } = await swapped(recordings as unknown as Recordings)
    successor?.onAbandoned()
    await vi.waitFor(async () => expect(await counted(test, source.scope)).toMatchObject({ live: 1, permits: 1 }), {
      timeout: 10_000,
    })
    expect(recordings.close).toHaveBeenCalledWith(successor?.run.runId, 0)
  })
})
