import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { InMemoryEffectLedger } from './in-memory-effect-ledger.ts'
import { effectLedgerConformance } from './ledger/conformance.ts'
import type { EffectIntent } from './ledger.ts'

const INTENT: EffectIntent = { kind: 'http', action: { id: 'book', version: 1 }, node_id: 'booking', ordinal: 0 }

effectLedgerConformance('in memory', () => {
  const ledger = new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: () => Date.UTC(2026, 2, 4) })
  return { ledger, list: async () => ledger.records, close: async () => {} }
})

describe('the in-memory ledger', () => {
  it('a full in-memory ledger refuses new effects, and existing ones can still be settled', async () => {
    const ledger = new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: () => 0, maxRows: 2 })
    const first = await ledger.intend(INTENT)
    await ledger.intend(INTENT)
    await expect(ledger.intend(INTENT)).rejects.toMatchObject({
      code: 'ledger_unavailable',
      message:
        'the in-memory ledger is full: it holds its maximum of 2 effects; raise maxRows or use the ledger of a run',
    })
    await expect(ledger.settle(first.effect_id, { state: 'failed' })).resolves.toMatchObject({ state: 'failed' })
    expect(ledger.records).toHaveLength(2)
  })

  it('the in-memory ledger takes timestamps from its clock', async () => {
    let now = Date.UTC(2026, 2, 4, 12)
    const ledger = new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: () => now })
    const { effect_id, created_at } = await ledger.intend(INTENT)
    now += 1500
    const { settled_at } = await ledger.settle(effect_id, { state: 'failed' })
    expect([created_at, settled_at]).toEqual(['2026-03-04T12:00:00.000Z', '2026-03-04T12:00:01.500Z'])
  })

  it('a record returned by the in-memory ledger never changes', async () => {
    const ledger = new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: () => 0 })
    const intended = await ledger.intend(INTENT)
    await ledger.settle(intended.effect_id, { state: 'failed' })
    expect(intended.state).toBe('intended')
  })
})
