import { setImmediate as turn } from 'node:timers/promises'
import { VirtualTime } from '@parley/kernel'
import { type Database, MasterKeySealer, StoreError } from '@parley/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RecordReader } from './journal/journal-records.ts'
import { RunJournals } from './journal/run-journals.ts'
import { MemoryDisk } from './journal/testing/memory-disk.ts'
import { itemsIn } from './run-entry.ts'
import { RunWriter } from './run-writer.ts'

const SCOPE = {
  owner_id: '00000000-0000-4000-8000-000000000001',
  environment: 'production',
  tenant_id: '00000000-0000-4000-8000-000000000002',
} as const
const OWNED = { run_id: '00000000-0000-4000-8000-000000000003', fence: '1' }
const AT = '2026-01-01T00:00:00.000Z'
const SEALER = new MasterKeySealer(new Map([[1, Buffer.alloc(32, 7)]]))

let time: VirtualTime
let disk: MemoryDisk
let writer: RunWriter
beforeEach(() => {
  time = new VirtualTime()
  disk = new MemoryDisk()
})
afterEach(() => writer.abandon())

function writerOn(transaction: () => Promise<never>): RunWriter {
  const journals = new RunJournals({ disk: disk.of('1'), sealer: SEALER, wallClock: () => 0, onProblem: () => {} })
  return new RunWriter({
    // Nothing else of it is used.
    database: { transaction } as unknown as Database,
    scope: SCOPE,
    owned: OWNED,
    lastSeq: 0,
    time,
    wallClock: () => 0,
    journal: journals.of(SCOPE, OWNED, 'engine-1'),
    isStillOwned: () => Promise.resolve(true),
    onWritten: () => {},
    onAnnounced: () => {},
    onLost: () => {},
    onTrouble: () => {},
    onJournal: () => {},
  })
}

const tell = (count: number) =>
  writer.add({
    type: 'item',
    item: { seq: 0, at: AT, offset_ms: 1, kind: 'digits', direction: 'in', digits: `${count}` },
  })

/** Time goes by, and what is begun meanwhile is done. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    time.advance(10)
    for (let i = 0; i < 5; i++) await turn()
  }
}

/** Items of the timeline in the run's file; null: there is none. */
async function onDisk(): Promise<number | null> {
  const [name] = disk.files.keys()
  if (name === undefined) return null
  const reader = new RecordReader(await disk.of('2').open(name), SEALER, OWNED)
  await reader.head()
  let items = 0
  for (let record = await reader.record(); record !== null; record = await reader.record())
    if (record.type === 'batch') items += itemsIn(record.batch)
  return items
}

it('while the database is away, entries are on disk within half a second', async () => {
  writer = writerOn(() => Promise.reject(new StoreError('database_unavailable', 'it is away')))
  const missing: string[] = []
  for (let item = 1; item <= 50; item++) {
    tell(item)
    await pass(100)
    // Told half a second ago, or before that.
    const due = item - 4
    const stored = (await onDisk()) ?? 0
    if (stored < due) missing.push(`${stored} of ${due}`)
  }
  expect(missing).toEqual([])
})

describe('a SIP message of a run', () => {
  const message = {
    place: 1,
    at: AT,
    direction: 'in',
    transport: 'tls',
    source: '192.0.2.1:5061',
    destination: '192.0.2.2:5061',
    message: 'BYE',
  } as const
  /** Adds the message; the number of writes from then on. */
  const addMessage = (): (() => number) => {
    let writes = 0
    writer = writerOn(() => {
      writes++
      return Promise.reject(new StoreError('run_lost'))
    })
    writer.add({ type: 'sip', message })
    return () => writes
  }

  it('a SIP message is written together with the next other entry of its run', async () => {
    const writes = addMessage()
    await pass(1000)
    expect(writes()).toBe(0)
    tell(1)
    await pass(110)
    expect(writes()).toBe(1)
  })

  it('a SIP message that no other entry follows is written after 2 s', async () => {
    const writes = addMessage()
    await pass(1980)
    expect(writes()).toBe(0)
    await pass(30)
    expect(writes()).toBe(1)
  })
})

it('a database that has not answered for a second counts as away', async () => {
  writer = writerOn(() => new Promise<never>(() => {}))
  tell(1)
  await pass(900)
  tell(2)
  expect(await onDisk()).toBeNull()
  await pass(200)
  expect(await onDisk()).toBe(2)
  tell(3)
  await pass(500)
  expect(await onDisk()).toBe(3)
})
