import type { Utterance } from '@parley/conversation'
import { MasterKeySealer } from '@parley/store'
import { beforeEach, expect, it } from 'vitest'
import type { JournalRecord } from './journal/protocol.ts'
import { RunJournals } from './journal/run-journals.ts'
import { MemoryDisk } from './journal/testing/memory-disk.ts'
import { RunBacklog } from './run-backlog.ts'
import type { RunBatch, RunEntry } from './run-entry.ts'

const SCOPE = {
  owner_id: '00000000-0000-4000-8000-000000000001',
  environment: 'production',
  tenant_id: '00000000-0000-4000-8000-000000000002',
} as const
const OWNED = { run_id: '00000000-0000-4000-8000-000000000003', fence: '1' }
const AT = '2026-01-01T00:00:00.000Z'
const sealed = (byte: number) => new MasterKeySealer(new Map([[1, Buffer.alloc(32, byte)]]))
const END = { ending: { state: 'completed', outcome: null, disposition: null }, transcript: undefined } as const

let disk: MemoryDisk
let problems: string[]
beforeEach(() => {
  disk = new MemoryDisk()
  problems = []
})

function processOf(mark: string, limits: { maxRunBytes?: number; maxBytes?: number } = {}, key = 7): RunJournals {
  return new RunJournals({
    disk: disk.of(mark),
    sealer: sealed(key),
    ...limits,
    wallClock: () => disk.now,
    onProblem: (what, error) => void problems.push(`${what}: ${error instanceof Error ? error.message : ''}`),
  })
}

function backlogOf(journals: RunJournals, fence = '1'): RunBacklog {
  return new RunBacklog({
    lastSeq: 4,
    journal: journals.of(SCOPE, { ...OWNED, fence }, 'engine-1'),
    now: () => AT,
    onStoreFailed: error => journals.reportWrite(error),
    onStored: () => journals.reportWrite(null),
  })
}

const digits = (value: number | string): RunEntry => ({
  type: 'item',
  item: { seq: 0, at: AT, offset_ms: 1, kind: 'digits', direction: 'in', digits: `${value}` },
})

const utterance = (index: number): Utterance => ({
  index,
  role: 'agent',
  text: `Words ${index}.`,
  segment_id: `s${index}`,
  observed_offset_ms: 1,
  interrupted: false,
  start_ms: 1,
  end_ms: 2,
  node_id: 'n',
})

const namesOf = (batch: RunBatch) =>
  batch.map(entry =>
    entry.type === 'item' && entry.item.kind === 'digits'
      ? entry.item.digits
      : entry.type === 'gap'
        ? `gap ${entry.count}`
        : entry.type,
  )

/** As the database takes it, batch by batch. */
async function drained(backlog: RunBacklog): Promise<string[]> {
  const all: string[] = []
  for (let batch = await backlog.take(); batch !== null; batch = await backlog.take()) {
    all.push(...namesOf(batch))
    backlog.written(backlog.lastSeq + batch.length)
  }
  return all
}

async function foundBy(mark: string, key = 7): Promise<{ lastSeq: number; records: readonly JournalRecord[] }[]> {
  const found: { lastSeq: number; records: readonly JournalRecord[] }[] = []
  for await (const { head, records, remove } of processOf(mark, {}, key).claimOrphans()) {
    found.push({ lastSeq: head.last_seq, records: await records() })
    await remove()
  }
  return found
}

const wordsOf = (records: readonly JournalRecord[]) =>
  records.flatMap(record => (record.type === 'batch' ? namesOf(record.batch) : ['end']))

it('a run backlog writes no file while the database accepts its items', async () => {
  const backlog = backlogOf(processOf('1'))
  for (let i = 0; i < 500; i++) backlog.add(digits(i))
  expect(await drained(backlog)).toHaveLength(500)
  await backlog.spill()
  expect(disk.files.size).toBe(0)
})

it('the journal of a killed process passes to the next one with its attempted items, waiting items and end', async () => {
  const backlog = backlogOf(processOf('1'))
  backlog.add(digits('a'))
  expect(await backlog.take()).toHaveLength(1)
  for (let i = 0; i < 450; i++) backlog.add(digits(i))
  await backlog.spill()
  backlog.add(digits('z'))
  backlog.end(END)
  await backlog.spill()
  disk.living.delete('1')
  const [found, ...others] = await foundBy('2')
  expect(others).toEqual([])
  expect(found?.lastSeq).toBe(4)
  expect(wordsOf(found?.records ?? [])).toEqual(['a', ...Array.from({ length: 450 }, (_, i) => `${i}`), 'z', 'end'])
  expect(disk.files.size).toBe(0)
})

it('a run backlog writes its items in order once the database is back, and removes the file', async () => {
  const journals = processOf('1')
  const backlog = backlogOf(journals)
  for (let i = 0; i < 3; i++) backlog.add(digits(i))
  await backlog.take()
  for (let i = 3; i < 700; i++) backlog.add(digits(i))
  await backlog.spill()
  for (let i = 700; i < 900; i++) backlog.add(digits(i))
  expect(journals.bytes).toBeGreaterThan(0)
  expect(await drained(backlog)).toEqual(Array.from({ length: 900 }, (_, i) => `${i}`))
  expect(disk.files.size).toBe(0)
  expect(journals.bytes).toBe(0)
})

it('a run backlog writes many batches in one transaction when the database is back', async () => {
  const backlog = backlogOf(processOf('1'))
  for (let i = 0; i < 450; i++) {
    backlog.add(digits(i))
    if (i % 3 === 2) await backlog.spill()
  }
  const sizes: number[] = []
  for (let batch = await backlog.take(); batch !== null; batch = await backlog.take()) {
    expect(namesOf(batch)[0]).toBe(`${backlog.lastSeq - 4}`)
    sizes.push(batch.length)
    backlog.written(backlog.lastSeq + batch.length)
  }
  expect(sizes).toEqual([198, 198, 54])
  expect(disk.files.size).toBe(0)
})

it('a killed process leaves every unwritten batch to the next process', async () => {
  const backlog = backlogOf(processOf('1'))
  for (let i = 0; i < 30; i++) {
    backlog.add(digits(i))
    await backlog.spill()
  }
  const tried = await backlog.take()
  expect(tried).toHaveLength(30)
  backlog.add(digits('z'))
  await backlog.spill()
  disk.living.delete('1')
  const [found] = await foundBy('2')
  expect(found?.lastSeq).toBe(4)
  expect(wordsOf(found?.records ?? [])).toEqual([...Array.from({ length: 30 }, (_, i) => `${i}`), 'z'])
})

it('the journal file stays until the end of the run is in the database too', async () => {
  const backlog = backlogOf(processOf('1'))
  backlog.add(digits('a'))
  backlog.end(END)
  await backlog.spill()
  expect(await drained(backlog)).toEqual(['a'])
  expect(disk.files.size).toBe(1)
  await backlog.close()
  expect(disk.files.size).toBe(0)
})

it('a full run backlog drops its oldest items, logs the loss and continues', async () => {
  const journals = processOf('1', { maxRunBytes: 40_000 })
  const backlog = backlogOf(journals)
  backlog.add(digits('tried'))
  await backlog.take()
  for (let i = 0; i < 3000; i++) {
    backlog.add(digits(i))
    if (i % 50 === 0) await backlog.spill()
  }
  await backlog.spill()
  expect(journals.bytes).toBeLessThanOrEqual(40_000)
  const all = await drained(backlog)
  const stored = all.length - 2
  expect(stored).toBeGreaterThan(50)
  expect(all).toEqual([
    'tried',
    `gap ${3000 - stored}`,
    ...Array.from({ length: stored }, (_, i) => `${3000 - stored + i}`),
  ])
  expect(backlog.dropped).toBe(3000 - stored)
  expect(problems).toEqual([])
})

it('the backlogs of all runs stay within their shared limit', async () => {
  const journals = processOf('1', { maxBytes: 60_000 })
  const backlogs = [backlogOf(journals), backlogOf(journals, '2')]
  for (let i = 0; i < 1000; i++) {
    for (const backlog of backlogs) backlog.add(digits(i))
    if (i % 50 === 0) for (const backlog of backlogs) await backlog.spill()
    expect(journals.bytes).toBeLessThanOrEqual(60_000)
  }
  for (const backlog of backlogs) expect((await drained(backlog)).at(-1)).toBe('999')
})

it('a run backlog holds its items in memory while the disk is full, logs one line and loses nothing', async () => {
  const backlog = backlogOf(processOf('1'))
  const all: string[] = []
  for (let i = 0; i < 400; i++) {
    if (i === 100) disk.freeBytes = 50
    if (i === 300) disk.freeBytes = Number.POSITIVE_INFINITY
    all.push(`${i}`)
    backlog.add(digits(i))
    if (i % 10 === 9) await backlog.spill()
  }
  expect(problems).toEqual([
    'run journals cannot be written to disk: entries wait in memory only: no space left on device',
    'run journals are written to disk again: ',
  ])
  disk.living.delete('1')
  const [found] = await foundBy('2')
  expect(wordsOf(found?.records ?? [])).toEqual(all)
})

it('an item that the database refuses for good is dropped, from disk too', async () => {
  const backlog = backlogOf(processOf('1'))
  for (let i = 0; i < 3; i++) backlog.add(digits(i))
  await backlog.take()
  backlog.add(digits('next'))
  await backlog.spill()
  await backlog.skip()
  expect(backlog.dropped).toBe(3)
  disk.living.delete('1')
  const [found] = await foundBy('2')
  expect(found?.lastSeq).toBe(4)
  expect(wordsOf(found?.records ?? [])).toEqual(['next'])
})

it('a record cut short by a kill is truncated from the journal', async () => {
  const backlog = backlogOf(processOf('1'))
  backlog.add(digits('a'))
  await backlog.spill()
  backlog.add(digits('b'))
  await backlog.spill()
  const [file] = [...disk.files.values()]
  file!.bytes = file!.bytes.subarray(0, -3)
  disk.living.delete('1')
  expect((await foundBy('2')).map(({ records }) => wordsOf(records))).toEqual([['a']])
})

it('the journal holds the whole transcript although each checkpoint contains only new entries', async () => {
  const backlog = backlogOf(processOf('1'))
  for (let i = 0; i < 100; i++) {
    backlog.add({ type: 'checkpoint', utterances: Array.from({ length: i + 1 }, (_, index) => utterance(index)) })
    await backlog.spill()
  }
  const [file] = [...disk.files.values()]
  expect(file!.bytes.length).toBeLessThan(40_000)
  disk.living.delete('1')
  const [found] = await foundBy('2')
  const last = found?.records.at(-1)
  expect(last).toMatchObject({
    batch: [{ type: 'checkpoint', utterances: Array.from({ length: 100 }, (_, index) => utterance(index)) }],
  })
})

it('the journal of a live process is left alone, and that of a dead one is taken by one process', async () => {
  const backlog = backlogOf(processOf('1'))
  backlog.add(digits('a'))
  await backlog.spill()
  expect(await foundBy('2')).toEqual([])
  disk.living.delete('1')
  const found = await Promise.all(['2', '3', '4'].map(mark => foundBy(mark)))
  expect(found.flat()).toHaveLength(1)
})

it('journals older than a day or unreadable are removed with a log line', async () => {
  for (const [hours, key] of [
    [25, 7],
    [0, 8],
  ] as const) {
    const backlog = backlogOf(processOf('1'))
    backlog.add(digits('a'))
    await backlog.spill()
    disk.living.delete('1')
    disk.now += hours * 3_600_000
    expect(await foundBy('2', key)).toEqual([])
    expect(disk.files.size).toBe(0)
  }
  expect(problems).toEqual([
    `the journal of run ${OWNED.run_id} is removed: it is a day old`,
    `the journal of run ${OWNED.run_id} is removed: it cannot be read`,
  ])
})

it('a journal file reveals no speech without the master key', async () => {
  const backlog = backlogOf(processOf('1'))
  backlog.add({ type: 'checkpoint', utterances: [utterance(1)] })
  await backlog.spill()
  const [file] = [...disk.files.values()]
  expect(file!.bytes.toString('latin1')).not.toMatch(/Words|checkpoint/)
})
