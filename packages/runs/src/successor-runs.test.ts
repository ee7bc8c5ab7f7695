import { SeededRandom, systemTime } from '@parley/kernel'
import { admitRun, type Database, listEvents, StoreError } from '@parley/store'
import { localBus, OUTBOUND, type TestDatabase, testDatabase, workspace } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { OwnedRun } from './owned-run.ts'
import { RunLeases } from './run-leases.ts'
import { SuccessorRuns } from './successor-runs.ts'

let test: TestDatabase
let leases: RunLeases
let source: OwnedRun
/** Transactions of the next admissions that are committed, and whose answer is lost. */
let lostCommits = 0
/** Transactions of the next admissions that are rolled back, and whose answer is lost. */
let lostRequests = 0
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())
beforeEach(async () => {
  lostCommits = 0
  lostRequests = 0
  const scope = await workspace(test, { capacity: 1 })
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

/** The database, on which the connection is lost at the commit of an admission. */
function lossy(): Database {
  const transaction: Database['transaction'] = async (scope, work) => {
    const gone = new StoreError('outcome_unknown', 'the connection was lost')
    if (lostRequests-- > 0) throw gone
    const result = await test.database.transaction(scope, work)
    if (lostCommits-- > 0) throw gone
    return result
  }
  return new Proxy(test.database, {
    get: (target, name) => {
      if (name === 'transaction') return transaction
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

async function prepared(handOvers = 0): Promise<OwnedRun | null> {
  const successors = new SuccessorRuns({ database: lossy(), leases, time: systemTime, onProblem: () => {} })
  const request = {
    type: 'swap_agent',
    agent_id: 'other',
    agent_version: null,
    keep_current_voice: false,
    keep_current_language: false,
  } as const
  return successors.prepare({ run: source, channel: 'phone', handOvers }, request, 'effect_1', {
    agent: async () => 'ready',
    variables: () => ({ topic: 'bills' }),
    begin: run => run,
  })
}

async function successors(): Promise<readonly { readonly run_id: string }[]> {
  const { rows } = await test.owner.query("select run_id from parley.runs where trigger ->> 'source_run_id' = $1", [
    source.runId,
  ])
  return rows
}

async function refusals(): Promise<readonly unknown[]> {
  await source.written()
  const { scope, runId } = source
  const { rows } = await listEvents(test.database.within(scope), scope, runId, { cursor: null, limit: 100 })
  return rows.filter(({ kind }) => kind === 'error').map(({ fields }) => fields.code)
}

describe('the admission of a run that continues a conversation', () => {
  it('an admission whose commit was not answered is found again: one run is admitted, and it is the one that continues', async () => {
    lostCommits = 1
    const run = await prepared()
    expect(await successors()).toEqual([{ run_id: run?.runId }])
    expect(await refusals()).toEqual([])
    run?.note({ kind: 'digits', direction: 'in', digits: '1' })
    await run?.written()
    const { rows } = await test.owner.query('select kind from parley.run_events where run_id = $1 order by seq', [
      run?.runId,
    ])
    expect(rows.map(({ kind }) => kind)).toEqual(['state', 'digits'])
  })

  it('an admission that was lost before its commit is repeated', async () => {
    lostRequests = 1
    const run = await prepared()
    expect(await successors()).toEqual([{ run_id: run?.runId }])
  })

  it('a source that another process took in the meantime has no successor', async () => {
    lostRequests = 1
    await test.owner.query('update parley.run_ownership set fence = fence + 1 where run_id = $1', [source.runId])
    expect(await prepared()).toBeNull()
    expect(await successors()).toEqual([])
  })

  it('a database that is away refuses the hand-over, and the conversation stays where it is', async () => {
    lostRequests = 2
    expect(await prepared()).toBeNull()
    expect(await successors()).toEqual([])
    expect(await refusals()).toEqual(['outcome_unknown'])
  })

  it('a conversation changes hands ten times at most', async () => {
    expect(await prepared(10)).toBeNull()
    expect(await refusals()).toEqual(['too_many_swaps'])
    expect(await successors()).toEqual([])
    expect(await prepared(9)).not.toBeNull()
  })
})

describe('an agent that cannot continue a conversation', () => {
  it('an agent that takes no conversations of the channel is refused by name', async () => {
    await test.owner.query("update parley.publications set channels = '{cloud}' where tenant_id = $1", [
      source.scope.tenant_id,
    ])
    expect(await prepared()).toBeNull()
    await vi.waitFor(async () => expect(await refusals()).toEqual(['channel_not_supported']))
  })
})
