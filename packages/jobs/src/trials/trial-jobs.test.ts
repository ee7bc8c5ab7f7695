import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { audioTrialRunner } from '@parley/evaluation'
import { TonesVoice } from '@parley/providers'
import { cancelTestRuns, listEvents, listRuns, readTranscript } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { SOON } from '../testing/jobs-harness.ts'
import { BOOKED, bookingCase, hotelAgent, TrialHarness } from './trials.fixture.ts'

let test: TestDatabase
let harness: TrialHarness
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  harness = await TrialHarness.open(test)
})

const round = (options = {}) => harness.worker(options).round(harness.jobs.scope)

describe('a test run', () => {
  it('a case whose assertions hold passes, and its trial is a run of kind test that is not billed', async () => {
    const id = await harness.testRun([bookingCase()])
    await round()
    expect(await harness.read(id)).toMatchObject({
      state: 'completed',
      verdict: 'passed',
      progress: { trials: 1, admitted: 1, settled: 1 },
      summary: { cases: 1, passed: 1, failed: 0, trials: 1, guard_events: 0 },
    })
    const [result] = await harness.results(id)
    expect(result).toMatchObject({ case_id: 'books', verdict: 'passed', flaky: false, change: null })
    const { scope, test } = harness.jobs
    const db = test.database.within(scope)
    const { rows } = await listRuns(db, scope, { test_run_id: id, cursor: null, limit: 10 })
    expect(rows).toMatchObject([
      {
        run_id: result!.trials[0]!.run_id,
        channel: 'cloud',
        mode: 'chat',
        state: 'completed',
        test: true,
        outcome: { kind: 'completed', ended_by: 'agent' },
        trigger: { kind: 'test', test_run_id: id, case_id: 'books', trial: 1 },
      },
    ])
    const runId = rows[0]!.run_id
    expect((await readTranscript(db, scope, runId))?.utterances).toMatchObject([
      { role: 'agent', text: 'Hello Ada, what can I do for you?' },
      { role: 'user', text: 'I want to book a room, please.' },
      { role: 'agent', text: 'Room 12 is yours.' },
    ])
    const events = await listEvents(db, scope, runId, { cursor: null, limit: 100 })
    expect(events.rows.map(({ seq }) => seq)).toEqual(events.rows.map((_, index) => index + 1))
    expect(events.rows.at(-1)).toMatchObject({ kind: 'state', fields: { state: 'completed' } })
    const counters = await test.owner.query('select live from parley.run_counters where tenant_id = $1', [
      scope.tenant_id,
    ])
    expect(counters.rows).toEqual([])
    expect(harness.jobs.problems).toEqual([])
  })

  it('a failed assertion fails its case and the test run, and says why', async () => {
    const id = await harness.testRun([
      bookingCase({ assertions: [{ type: 'said', id: 'says', role: 'agent', contains: 'Room 13' }] }),
      bookingCase({ case_id: 'other' }),
    ])
    await round()
    expect(await harness.read(id)).toMatchObject({ verdict: 'failed', summary: { passed: 1, failed: 1 } })
    const [failed] = await harness.results(id)
    expect(failed).toMatchObject({ verdict: 'failed', trials: [{ failed_assertions: ['says'] }] })
    const trial = await harness.trial(id, failed!.trials[0]!.trial_id)
    expect(trial.assertions).toEqual([{ id: 'says', type: 'said', passed: false, message: 'the agent did not say it' }])
  })

  it('an action without a mock gets a network error and a guard event', async () => {
    const id = await harness.testRun([
      bookingCase({ mocks: [], assertions: [{ type: 'tool_called', id: 'a', action_id: 'book' }] }),
    ])
    await round()
    const [result] = await harness.results(id)
    const trial = await harness.trial(id, result!.trials[0]!.trial_id)
    expect(trial.guard_events).toMatchObject([{ kind: 'unmocked_action', action_id: 'book' }])
    expect((await harness.read(id)).summary).toMatchObject({ guard_events: 1, passed: 1 })
  })

  it('a case that names a node or an action that the agent does not have is invalid and gets no trial', async () => {
    const id = await harness.testRun([
      bookingCase({ assertions: [{ type: 'final_node', id: 'a', node_ids: ['nowhere'] }] }),
      bookingCase({ case_id: 'two', mocks: [{ ...BOOKED, action_id: 'none' }] }),
    ])
    await round()
    expect(await harness.read(id)).toMatchObject({
      state: 'completed',
      verdict: 'failed',
      progress: { trials: 0 },
      summary: { invalid: 2 },
    })
    expect((await harness.results(id)).map(({ fault }) => fault)).toEqual([
      'the agent has no node "nowhere"',
      'the agent has no action "none"',
    ])
  })

  it('pass_policy decides how many trials must pass, and trials of the request replace those of the case', async () => {
    const flaky = { mocks: [{ ...BOOKED, times: 1 }], pass_policy: 'all', trials: 2 }
    const id = await harness.testRun([bookingCase(flaky)], { trials: 3 })
    await round()
    const [result] = await harness.results(id)
    expect(result).toMatchObject({ verdict: 'passed', trials: { length: 3 } })
  })

  it('a trial with mode audio is a phone call in virtual time, whose run has the latencies of its turns', async () => {
    const voice = new TonesVoice()
    const id = await harness.testRun([bookingCase({ mode: 'audio' })])
    await round({ audio: audioTrialRunner(voice) }).finally(() => voice.close())
    const [result] = await harness.results(id)
    expect((await harness.trial(id, result!.trials[0]!.trial_id)).error).toBeNull()
    expect(await harness.read(id)).toMatchObject({ verdict: 'passed' })
    const { scope, test } = harness.jobs
    const page = { test_run_id: id, cursor: null, limit: 10 }
    const { rows } = await listRuns(test.database.within(scope), scope, page)
    expect(rows).toMatchObject([{ channel: 'phone', mode: 'inbound', state: 'completed', test: true }])
    expect(rows[0]!.latency).toMatchObject({ e2e: { p50: expect.any(Number) } })
  })

  it('a trial with mode audio is errored where the worker has no audio', async () => {
    const id = await harness.testRun([bookingCase({ mode: 'audio' })])
    await round()
    expect(await harness.read(id)).toMatchObject({ verdict: 'errored', summary: { errored: 1 } })
    const [result] = await harness.results(id)
    expect((await harness.trial(id, result!.trials[0]!.trial_id)).error).toContain('mode_not_supported')
  })

  it('a case that does not block leaves the verdict of the test run alone', async () => {
    const wrong = { blocking: false, assertions: [{ type: 'final_node', id: 'a', node_ids: ['end'] }] }
    const id = await harness.testRun([bookingCase(), bookingCase({ case_id: 'two', ...wrong })])
    await round()
    expect(await harness.read(id)).toMatchObject({ verdict: 'passed', summary: { failed: 1 } })
  })

  it('changes are judged against the same cases of the baseline', async () => {
    const wrong = { assertions: [{ type: 'final_node', id: 'a', node_ids: ['end'] }] }
    const baseline = await harness.testRun([bookingCase(), bookingCase({ case_id: 'two', ...wrong })])
    await round()
    const cases = [bookingCase(wrong), bookingCase({ case_id: 'two' }), bookingCase({ case_id: 'three' })]
    const id = await harness.testRun(cases, { baseline })
    await round()
    expect((await harness.results(id)).map(({ change }) => change)).toEqual(['regressed', 'fixed', 'new'])
    expect((await harness.read(id)).summary).toMatchObject({ regressed: 1, fixed: 1 })
  })

  it('a cancelled test run starts no more trials, and the result of a trial in progress is not stored', async () => {
    const id = await harness.testRun([bookingCase({ trials: 9 })])
    const { promise, resolve } = Promise.withResolvers<void>()
    const { scope } = harness.jobs
    const plain = harness.worker()
    let begun = 0
    const worker = harness.worker({
      agents: async () => {
        begun++
        await promise
        throw new Error('cancelled meanwhile')
      },
    })
    const under = worker.round(scope)
    await vi.waitFor(() => expect(begun).toBe(4), SOON)
    await harness.jobs.write(tx => cancelTestRuns(tx, scope, { test_run_id: id }))
    resolve()
    await under
    await plain.round(scope)
    expect(await harness.read(id)).toMatchObject({ state: 'cancelled', verdict: null, summary: null })
    const [result] = await harness.results(id)
    expect(new Set(result!.trials.map(({ state }) => state))).toEqual(new Set(['cancelled']))
  })
})

describe('the trials of an environment', () => {
  it('at most four are under way at once, in all processes', async () => {
    const id = await harness.testRun([bookingCase({ trials: 12 })])
    let [running, most] = [0, 0]
    const gate = Promise.withResolvers<void>()
    const agents: typeof hotelAgent = async () => {
      most = Math.max(most, ++running)
      await gate.promise
      running--
      throw new Error('the test ends here')
    }
    const workers = [harness.worker({ agents }), harness.worker({ agents })]
    const rounds = workers.map(worker => worker.round(harness.jobs.scope))
    await vi.waitFor(() => expect(running).toBe(4), SOON)
    for (const worker of workers) worker.abort()
    gate.resolve()
    await Promise.all(rounds.map(one => one.catch(() => {})))
    expect(most).toBe(4)
    expect((await harness.read(id)).progress.settled).toBe(0)
  })

  it('a process that is killed loses no trial and none is stored twice', async () => {
    const id = await harness.testRun([bookingCase({ trials: 6 })])
    const { test, scope } = harness.jobs
    const script = fileURLToPath(new URL('trial-worker.fixture.ts', import.meta.url))
    const child = spawn(process.execPath, [script, test.owner.url, JSON.stringify(scope)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await vi.waitFor(async () => expect((await harness.read(id)).progress.admitted).toBe(4), SOON)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await vi.waitFor(async () => {
      await round()
      expect((await harness.read(id)).state).toBe('completed')
    }, SOON)
    expect(await harness.read(id)).toMatchObject({ verdict: 'passed', progress: { trials: 6, settled: 6 } })
    const db = test.database.within(scope)
    const { rows } = await listRuns(db, scope, { test_run_id: id, cursor: null, limit: 100 })
    expect(rows.map(({ trigger }) => (trigger as { trial: number }).trial).sort()).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('a trial that never ends is begun five times, and is errored then', async () => {
    const id = await harness.testRun([bookingCase()])
    let begun = 0
    const agents: typeof hotelAgent = async () => {
      begun++
      throw new Error('a defect of this process')
    }
    for (let attempt = 1; attempt <= 6; attempt++) {
      expect((await harness.read(id)).state).not.toBe('completed')
      await round({ agents })
      await test.owner.query(
        "update parley.test_trials set lease_until = now() - interval '1 s' where test_run_id = $1 and state = 'running'",
        [id],
      )
    }
    expect(begun).toBe(5)
    expect(await harness.read(id)).toMatchObject({ state: 'completed', verdict: 'errored' })
    const [result] = await harness.results(id)
    expect((await harness.trial(id, result!.trials[0]!.trial_id)).error).toContain('begun 5 times')
  })

  it('a trial whose process died is carried out by another, once, and the late result of the first is not stored', async () => {
    const id = await harness.testRun([bookingCase()])
    const gate = Promise.withResolvers<void>()
    const { test, scope } = harness.jobs
    let begun = false
    const slow = harness.worker({
      leaseMs: 600_000,
      agents: async (plan, facts) => {
        begun = true
        await gate.promise
        return hotelAgent(plan, facts)
      },
    })
    const first = slow.round(scope)
    await vi.waitFor(() => expect(begun).toBe(true), SOON)
    await test.owner.query(
      "update parley.test_trials set lease_until = now() - interval '1 s' where test_run_id = $1",
      [id],
    )
    await round()
    expect((await harness.read(id)).verdict).toBe('passed')
    gate.resolve()
    await first
    const db = test.database.within(scope)
    expect((await listRuns(db, scope, { test_run_id: id, cursor: null, limit: 10 })).rows).toHaveLength(1)
    expect(harness.jobs.counters.read()).toMatchObject({ trials_settled: 1, trials_lost: 1 })
  })
})
