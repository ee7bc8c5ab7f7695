import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listEffects, readRun, readTranscript } from '@parley/store'
import { counted, letLeaseEnd } from '@parley/store/testing'
import { expect, it, vi } from 'vitest'
import { ENDED, JournalHarness, SPOKEN, say, upTo } from './testing/journal-harness.ts'

const PROGRAM = fileURLToPath(new URL('fixtures/tell-until-killed.ts', import.meta.url))

const stage = JournalHarness.forEachTest()

it('the timeline, transcript and inference in a killed process’s journal reach its run completely and once', async () => {
  const { run } = stage.doomed
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  say(run, 0, 10)
  await vi.waitFor(async () => expect(await stage.digitsOf(run.runId)).toEqual(upTo(10)))
  stage.goAway()
  say(run, 10, 300)
  run.checkpoint([SPOKEN])
  const infer = { id: 'model.infer', version: 1 }
  const asked = await run.ledger.intend({ kind: 'gateway_inference', action: infer, node_id: 'n', ordinal: null })
  await run.ledger.sending(asked.effect_id)
  await run.ledger.settle(asked.effect_id, { state: 'succeeded' })
  await stage.kept(run, 290, 0, 10)
  const [name] = await stage.journals()
  expect((await stat(stage.directory)).mode & 0o777).toBe(0o700)
  expect((await stat(join(stage.directory, name!))).mode & 0o777).toBe(0o600)
  stage.doomed.kill()
  await letLeaseEnd(stage.test, run.owned)
  await stage.nextProcess()
  expect(await stage.digitsOf(run.runId)).toEqual(upTo(300))
  const within = stage.test.database.within(stage.scope)
  expect(await readTranscript(within, stage.scope, run.runId)).toMatchObject({ utterances: [{ text: 'Hello.' }] })
  expect(await listEffects(within, stage.scope, run.runId)).toHaveLength(1)
  expect(await stage.journals()).toEqual([])
  expect(stage.problems).toEqual([])
})

it('nothing stored on disk is lost when a process is killed while it writes', { timeout: 60_000 }, async () => {
  const url = new URL(stage.test.owner.url)
  url.port = String(stage.relay.port)
  const runId = await stage.admitted()
  const child = spawn(process.execPath, [PROGRAM, url.href, stage.directory, JSON.stringify(stage.scope), runId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let told = 0
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      told = Number(text.trimEnd().split('\n').at(-1))
    })
    await vi.waitFor(async () => expect((await stage.digitsOf(runId)).length).toBeGreaterThan(50), { timeout: 40_000 })
    stage.goAway()
    const before = told
    await vi.waitFor(
      async () => expect((await stage.onDisk({ run_id: runId, fence: '1' })).items).toBeGreaterThan(200),
      {
        timeout: 5000,
      },
    )
    // A living process's journal is its own.
    await stage.nextProcess()
    expect(await stage.journals()).toHaveLength(1)
    const { items } = await stage.onDisk({ run_id: runId, fence: '1' })
    child.kill('SIGKILL')
    await once(child, 'exit')
    await letLeaseEnd(stage.test, { run_id: runId })
    await stage.nextProcess()
    const landed = await stage.digitsOf(runId)
    expect(landed).toEqual(upTo(landed.length))
    expect(landed.length).toBeGreaterThanOrEqual(Math.max(before, items))
    expect(stage.problems).toEqual([])
  } finally {
    child.kill('SIGKILL')
  }
})

it('journal replay ends a run whose owner was killed before it wrote the end', async () => {
  const { run } = stage.doomed
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  await vi.waitFor(async () => expect(await stage.timeline(run.runId)).toHaveLength(2))
  stage.goAway()
  run.checkpoint([SPOKEN])
  void run.finish({ ...ENDED, connected_ms: 800 })
  await stage.kept(run, 0, 1, 1)
  stage.doomed.kill()
  await stage.nextProcess()
  expect(await readRun(stage.test.database.within(stage.scope), stage.scope, run.runId)).toMatchObject({
    state: 'completed',
    connected_ms: 800,
  })
  expect(await readTranscript(stage.test.database.within(stage.scope), stage.scope, run.runId)).toMatchObject({
    state: 'complete',
  })
  expect(await counted(stage.test, stage.scope)).toMatchObject({ live: 0, permits: 0 })
})

it('journal replay logs the number of lost items when another process already owns the run', async () => {
  const { run } = stage.doomed
  stage.goAway()
  say(run, 0, 30)
  await stage.kept(run, 30)
  stage.doomed.kill()
  await letLeaseEnd(stage.test, run.owned)
  const reaped = await stage.test.database.runs.reap({ engine: 'worker', worker: 'reaper' }, 10)
  expect(reaped.map(({ run_id }) => run_id)).toContain(run.runId)
  await stage.nextProcess()
  expect(await stage.digitsOf(run.runId)).toEqual([])
  expect(stage.problems).toEqual([`30 items of run ${run.runId} are lost: the run ended before they were written`])
  expect(await stage.journals()).toEqual([])
})
