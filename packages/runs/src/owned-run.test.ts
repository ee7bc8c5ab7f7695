import { setImmediate as turn } from 'node:timers/promises'
import type { TimelineItem } from '@parley/conversation'
import { SeededRandom, VirtualTime } from '@parley/kernel'
import { type Database, MasterKeySealer, StoreError } from '@parley/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RecordReader } from './journal/journal-records.ts'
import type { JournalDisk } from './journal/protocol.ts'
import { RunJournals } from './journal/run-journals.ts'
import { MemoryDisk } from './journal/testing/memory-disk.ts'
import { OwnedRun } from './owned-run.ts'

const SCOPE = {
  owner_id: '00000000-0000-4000-8000-000000000001',
  environment: 'production',
  tenant_id: '00000000-0000-4000-8000-000000000002',
} as const
const OWNED = { run_id: '00000000-0000-4000-8000-000000000003', fence: '1' }
const SEALER = new MasterKeySealer(new Map([[1, Buffer.alloc(32, 7)]]))
const DIALOG = { callId: 'call-1' }

const STORED = () => Promise.resolve('stored')
const AWAY = () => Promise.reject(new StoreError('database_unavailable', 'it is away'))
const SILENT = () => new Promise<never>(() => {})

let time: VirtualTime
let memory: MemoryDisk
let run: OwnedRun
beforeEach(() => {
  time = new VirtualTime()
  memory = new MemoryDisk()
})
afterEach(() => run.markLost())

function runOn(transaction: () => Promise<unknown>, disk: JournalDisk | null = memory.of('1')): void {
  const journals = disk && new RunJournals({ disk, sealer: SEALER, wallClock: () => 0, onProblem: () => {} })
  run = new OwnedRun({
    // Nothing else of it is used.
    database: { transaction } as unknown as Database,
    scope: SCOPE,
    owned: OWNED,
    lastSeq: 0,
    trace: null,
    sealer: null,
    time,
    wallClock: () => 0,
    random: new SeededRandom(1),
    journal: journals?.of(SCOPE, OWNED, 'engine-1') ?? null,
    isStillOwned: () => Promise.resolve(true),
    onWritten: () => {},
    onAnnounced: () => {},
    onTrouble: () => {},
    onJournal: () => {},
    onOver: () => {},
  })
}

/** How long it took, ms; null: it is persisted by nobody yet. */
function keeping(): { readonly tookMs: number | null } {
  const result: { tookMs: number | null } = { tookMs: null }
  void run.persistDialog(DIALOG).then(() => {
    result.tookMs = time.now()
  })
  return result
}

/** Time goes by, and what is begun meanwhile is done. */
async function pass(ms: number): Promise<void> {
  for (let i = 0; i < 5; i++) await turn()
  for (let passed = 0; passed < ms; passed += 50) {
    time.advance(50)
    for (let i = 0; i < 5; i++) await turn()
  }
}

async function onDisk(): Promise<unknown[]> {
  const [name] = memory.files.keys()
  if (name === undefined) return []
  const reader = new RecordReader(await memory.of('2').open(name), SEALER, OWNED)
  await reader.head()
  const entries: unknown[] = []
  for (let record = await reader.record(); record !== null; record = await reader.record())
    if (record.type === 'batch') entries.push(...record.batch)
  return entries
}

const SIP_MESSAGE = {
  place: 1,
  at: '2026-01-02T03:04:05.678Z',
  direction: 'out',
  transport: 'tls',
  source: '192.0.2.1:5061',
  destination: '192.0.2.2:5061',
  message: 'INVITE',
} as const

it('SIP messages of a call are stored on disk while the database is away', async () => {
  runOn(AWAY)
  run.addSipMessage(SIP_MESSAGE)
  await pass(3000)
  expect(await onDisk()).toEqual([{ type: 'sip', message: SIP_MESSAGE }])
})

it('personal data is taken out of SIP messages before they are stored', async () => {
  runOn(AWAY)
  run.redact({ kinds: ['names', 'card_numbers'] })
  const key = 'INFO sip:a@b SIP/2.0\r\nContent-Type: application/dtmf-relay\r\n\r\nSignal=4\r\n'
  for (const [place, message] of [key, 'BYE sip:a@b SIP/2.0\r\nFrom: "Ida Bell" <sip:a@b>\r\n\r\n', null].entries())
    run.addSipMessage({ ...SIP_MESSAGE, place: place + 1, message })
  await pass(3000)
  const stored = JSON.stringify(await onDisk())
  expect(stored).toContain('Signal=*')
  expect(stored).toContain('[name]')
  expect(stored).not.toMatch(/Ida|Signal=4/)
})

it('personal data is taken out of timeline and transcript before anything is stored', async () => {
  runOn(AWAY)
  run.redact({ kinds: ['names', 'phone_numbers', 'card_numbers', 'emails'] })
  const times = { start_ms: null, end_ms: null, interrupted: false, node_id: null }
  const lines = [
    { index: 0, role: 'agent', text: 'Who is calling, please?', ...times },
    { index: 1, role: 'user', text: 'Ida Bell, 415 555 0100, ida@example.com', ...times },
    { index: 2, role: 'agent', text: 'Thank you, Ida.', ...times },
    { index: 3, role: 'user', text: 'My name is Bell, it is one', ...times },
  ] as const
  const utterances = lines.map(line => ({ ...line, segment_id: null, observed_offset_ms: null }))
  for (const line of lines) run.note({ kind: 'utterance', ...line })
  run.note({ kind: 'digits', direction: 'in', digits: '4111111111111111' })
  run.checkpoint(utterances)
  expect(run.isRedacted).toBe(true)
  const { text } = run.asStored({ seq: 1, at: '', offset_ms: null, kind: 'utterance', ...lines[1] }) as { text: string }
  expect(text).toBe('[name], [phone number], [e-mail]')
  await pass(3000)
  const stored = JSON.stringify(await onDisk())
  expect(stored).toContain('[phone number], [e-mail]')
  expect(stored).toContain('****************')
  expect(stored).toContain('My name is [name], it is one')
  expect(stored).not.toMatch(/Ida|Bell|0100|example\.com|4111/i)
})

it('a name that was given in the run before is taken out of the run that continues it', async () => {
  runOn(AWAY)
  run.redact({ kinds: ['names'] }, {}, [
    { role: 'assistant', content: 'Who is calling, please?' },
    { role: 'user', content: 'Ida Bell.' },
  ])
  const item = {
    kind: 'utterance',
    index: 0,
    role: 'agent',
    text: 'How can I help you, Ida?',
    start_ms: null,
    end_ms: null,
  }
  expect(
    run.asStored({ seq: 1, at: '', offset_ms: null, interrupted: false, node_id: null, ...item } as TimelineItem),
  ).toMatchObject({ text: 'How can I help you, [name]?' })
})

describe('the dialog facts that a later BYE needs', () => {
  it('dialog facts are stored once the database has them, without a file', async () => {
    runOn(STORED)
    const persisted = keeping()
    await pass(0)
    expect(persisted.tookMs).toBe(0)
    expect(await onDisk()).toEqual([])
  })

  it.each([
    ['is away', AWAY],
    ['wants the lease renewed first', () => Promise.resolve('lost')],
  ])('dialog facts are stored once they are on disk, at once, when the database %s', async (_, transaction) => {
    runOn(transaction)
    const persisted = keeping()
    await pass(0)
    expect(persisted.tookMs).toBe(0)
    expect(await onDisk()).toEqual([{ type: 'dialog', dialog: DIALOG }])
  })

  it('dialog facts go to disk when the database has not answered for half a second, and not before', async () => {
    runOn(SILENT)
    const persisted = keeping()
    await pass(450)
    expect(persisted.tookMs).toBeNull()
    expect(await onDisk()).toEqual([])
    await pass(50)
    expect(persisted.tookMs).toBe(500)
    expect(await onDisk()).toEqual([{ type: 'dialog', dialog: DIALOG }])
  })

  it.each([
    ['there is no journal', () => null],
    ['the disk is silent too', () => ({ ...memory.of('1'), create: SILENT })],
  ])('storing dialog facts takes at most 2 s when the database is silent and %s', async (_, disk) => {
    runOn(SILENT, disk() as JournalDisk | null)
    const persisted = keeping()
    await pass(1950)
    expect(persisted.tookMs).toBeNull()
    await pass(50)
    expect(persisted.tookMs).toBe(2000)
  })
})
