import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listEffects, readRun, readTranscript } from '@parley/store'
import { counted, letLeaseEnd } from '@parley/store/testing'
import { expect, it, vi } from 'vitest'
import { ENDED, JournalHarness, noteDigits, SPOKEN, upTo } from './testing/journal-harness.ts'

const PROGRAM = fileURLToPath(new URL('fixtures/tell-until-killed.ts', import.meta.url))

const harness = JournalHarness.forEachTest()

it('the timeline, transcript and inference in a killed process’s journal reach its run completely and once', async () => {
  const { run } = harness.killable
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  noteDigits(run, 0, 10)
  await vi.waitFor(async () => expect(await harness.digitsOf(run.runId)).toEqual(upTo(10)))
  harness.disconnect()
  noteDigits(run, 10, 300)
  run.checkpoint([SPOKEN])
  const infer = { id: 'model.infer', version: 1 }
  const inference = await run.ledger.intend({ kind: 'gateway_inference', action: infer, node_id: 'n', ordinal: null })
  await run.ledger.sending(inference.effect_id)
  await run.ledger.settle(inference.effect_id, { state: 'succeeded' })
  await harness.waitForRecords(run, 290, 0, 10)
  const [name] = await harness.journals()
  expect((await stat(harness.directory)).mode & 0o777).toBe(0o700)
  expect((await stat(join(harness.directory, name!))).mode & 0o777).toBe(0o600)
  harness.killable.kill()
  await letLeaseEnd(harness.test, run.owned)
  await harness.nextProcess()
  expect(await harness.digitsOf(run.runId)).toEqual(upTo(300))
  const within = harness.test.database.within(harness.scope)
  expect(await readTranscript(within, harness.scope, run.runId)).toMatchObject({ utterances: [{ text: 'Hello.' }] })
  expect(await listEffects(within, harness.scope, run.runId)).toHaveLength(1)
  expect(await harness.journals()).toEqual([])
  expect(harness.problems).toEqual([])
})

it('nothing stored on disk is lost when a process is killed while it writes', async () => {
  const url = new URL(harness.test.owner.url)
  url.port = String(harness.relay.port)
  const runId = await harness.admitted()
  const child = spawn(process.execPath, [PROGRAM, url.href, harness.directory, JSON.stringify(harness.scope), runId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let noted = 0
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      noted = Number(text.trimEnd().split('\n').at(-1))
    })
    await vi.waitFor(async () => expect((await harness.digitsOf(runId)).length).toBeGreaterThan(50), {
      timeout: 40_000,
    })
    harness.disconnect()
    const before = noted
    await vi.waitFor(async () =>
      expect((await harness.onDisk({ run_id: runId, fence: '1' })).items).toBeGreaterThan(200),
    )
    // A living process's journal is its own.
    await harness.nextProcess()
    expect(await harness.journals()).toHaveLength(1)
    const { items } = await harness.onDisk({ run_id: runId, fence: '1' })
    child.kill('SIGKILL')
    await once(child, 'exit')
    await letLeaseEnd(harness.test, { run_id: runId })
    await harness.nextProcess()
    const landed = await harness.digitsOf(runId)
    expect(landed).toEqual(upTo(landed.length))
    expect(landed.length).toBeGreaterThanOrEqual(Math.max(before, items))
    expect(harness.problems).toEqual([])
  } finally {
    child.kill('SIGKILL')
  }
})

it('journal replay ends a run whose owner was killed before it wrote the end', async () => {
  const { run } = harness.killable
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  await vi.waitFor(async () => expect(await harness.timeline(run.runId)).toHaveLength(2))
  harness.disconnect()
  run.checkpoint([SPOKEN])
  void run.finish({ ...ENDED, connected_ms: 800 })
  await harness.waitForRecords(run, 0, 1, 1)
  harness.killable.kill()
  await harness.nextProcess()
  expect(await readRun(harness.test.database.within(harness.scope), harness.scope, run.runId)).toMatchObject({
    state: 'completed',
    connected_ms: 800,
  })
  expect(await readTranscript(harness.test.database.within(harness.scope), harness.scope, run.runId)).toMatchObject({
    state: 'complete',
  })
  expect(await counted(harness.test, harness.scope)).toMatchObject({ live: 0, permits: 0 })
})

it('journal replay logs the number of lost items when another process already owns the run', async () => {
  const { run } = harness.killable
  harness.disconnect()
  noteDigits(run, 0, 30)
  await harness.waitForRecords(run, 30)
  harness.killable.kill()
  await letLeaseEnd(harness.test, run.owned)
  const reaped = await harness.test.database.runs.reap({ engine: 'worker', worker: 'reaper' }, 10)
  expect(reaped.map(({ run_id }) => run_id)).toContain(run.runId)
  await harness.nextProcess()
  expect(await harness.digitsOf(run.runId)).toEqual([])
  expect(harness.problems).toEqual([`30 items of run ${run.runId} are lost: the run ended before they were written`])
  expect(await harness.journals()).toEqual([])
})
