import { describe, expect, it } from 'vitest'
import type { CarrierLedgerEntry, CarrierLedgerKind } from './ledger-entry.ts'
import { byCalled, LedgerQueries, runInHeader } from './ledger-queries.ts'

/** Rows of one call, "invite 0, answered 5, bye-received 20", which belongs to `run`. */
function call(name: string, rows: string, run = name): CarrierLedgerEntry[] {
  return rows.split(', ').map(text => {
    const [kind, at] = text.split(' ')
    return {
      at_ms: Number(at),
      wall_ms: Number(at),
      kind: kind as CarrierLedgerKind,
      direction: 'to-carrier',
      call: name,
      call_id: name,
      from: 'sip:a@engine',
      to: 'sip:b@carrier',
      called: 'b',
      cseq: 1,
      branch: 'z9hG4bK1',
      source: 'udp 127.0.0.1:5060',
      authenticated: true,
      ...(kind === 'invite' || kind === 'challenged' ? { headers: { 'x-parley-run': run } } : {}),
    }
  })
}

function ask(...calls: readonly (readonly CarrierLedgerEntry[])[]): LedgerQueries {
  return new LedgerQueries(calls.flat().sort((a, b) => a.at_ms - b.at_ms))
}

const GOOD = 'challenged 0, invite 10, ringing 20, answered 30, bye-received 100, ended 101'
const names = (calls: readonly { readonly call: string }[]) => calls.map(({ call }) => call)

describe('calls at once', () => {
  it('a call is live from the accepted INVITE to the BYE, CANCEL or refusal', () => {
    const ledger = ask(
      call('a', GOOD),
      call('b', 'invite 50, ringing 60, cancel 70, refused 75, ended 75'),
      call('c', 'invite 60, refused 65, ended 65'),
      call('d', 'challenged 62'),
    )
    expect(names(ledger.liveAt(9))).toEqual([])
    expect(names(ledger.liveAt(64))).toEqual(['a', 'b', 'c'])
    expect(names(ledger.liveAt(70))).toEqual(['a'])
    expect(ledger.liveAt(100)).toEqual([])
    expect(ledger.maxConcurrent()).toEqual({ calls: 3, atMs: 60 })
    expect(ledger.concurrency().at(-1)).toEqual({ atMs: 100, calls: 0 })
  })

  it('a call is held until its end was confirmed, so more calls may be held than are live', () => {
    const ledger = ask(
      call('a', 'invite 0, answered 5, bye-received 10, ended 30'),
      call('b', 'invite 20, refused 25, ended 25'),
      call('c', 'invite 22, cancel 24, refused 40, ended 40'),
      call('d', 'challenged 0'),
    )
    expect(ledger.maxConcurrent()).toEqual({ calls: 2, atMs: 22 })
    expect(ledger.maxConcurrent(undefined, 'confirmed')).toEqual({ calls: 3, atMs: 22 })
    expect(ledger.over(2, undefined, 'confirmed').map(({ atMs, calls }) => [atMs, names(calls)])).toEqual([
      [22, ['a', 'b', 'c']],
    ])
    expect(names(ledger.liveAt(29, undefined, 'confirmed'))).toEqual(['a', 'c'])
    expect(ledger.liveAt(40, undefined, 'confirmed')).toEqual([])
  })

  it('a call above the limit is reported only while it is above', () => {
    const ledger = ask(
      call('a', GOOD),
      call('b', GOOD.replace('invite 10', 'invite 15')),
      call('c', 'invite 99, refused 120'),
    )
    expect(ledger.over(3)).toEqual([])
    expect(ledger.over(2).map(({ atMs, calls }) => [atMs, names(calls)])).toEqual([[99, ['a', 'b', 'c']]])
  })

  it('a call that ends in the instant in which another begins does not exceed the limit', () => {
    expect(ask(call('a', 'invite 0, refused 10'), call('b', 'invite 10, refused 20')).maxConcurrent().calls).toBe(1)
  })

  it('a call whose CANCEL came too late counts as live', () => {
    const ledger = ask(
      call('late', 'invite 0, answered 50, cancel 51, bye-received 90'),
      call('crossed', 'invite 0, cancel 40, answered 50, bye-sent 90'),
    )
    expect(names(ledger.liveAt(60))).toEqual(['late', 'crossed'])
    expect(names(ledger.liveAt(45))).toEqual(['late'])
  })
})

describe('planted faults', () => {
  it('a second INVITE for a run is found, a challenged one sent again is not', () => {
    const ledger = ask(call('a', GOOD, 'run-1'), call('b', GOOD, 'run-2'), call('c', 'challenged 200', 'run-2'))
    const found = ledger.duplicates(runInHeader('X-Parley-Run'))
    expect([...found].map(([run, calls]) => [run, names(calls)])).toEqual([['run-2', ['b', 'c']]])
  })

  it('an answered call without BYE is found after the time limit', () => {
    const ledger = ask(
      call('good', GOOD),
      call('zombie', 'invite 0, answered 10'),
      call('slow', 'invite 0, answered 10, bye-received 900'),
    )
    expect(ledger.withoutBye(500, 509)).toEqual([])
    expect(names(ledger.withoutBye(500, 1000))).toEqual(['zombie', 'slow'])
    expect(names(ledger.withoutBye(990, 1000))).toEqual(['zombie'])
  })

  it('a call whose media stopped is found while it is live', () => {
    const media = 'invite 0, answered 1, media-first-packet 2, media-last-packet 10'
    const ledger = ask(
      call('dead', media),
      call('back', `${media}, media-first-packet 20`),
      call('over', `${media}, bye-received 11`),
    )
    expect(names(ledger.deadAir(50, 100))).toEqual(['dead'])
  })

  it('a call without confirmed end is found, except one that was never accepted', () => {
    const ledger = ask(
      call('good', GOOD),
      call('hanging', 'invite 0, answered 10, bye-received 20'),
      call('ringing', 'invite 0, ringing 10'),
      call('stranger', 'challenged 0'),
    )
    expect(names(ledger.withoutEnd())).toEqual(['hanging', 'ringing'])
  })

  it('a call to a number outside the allowed list is found, also if it was only challenged', () => {
    const to = (called: string, rows: string) => call(called, rows).map(row => ({ ...row, called }))
    const ledger = ask(to('+491', GOOD), to('+900', GOOD), to('112', 'challenged 0'))
    expect(names(ledger.outside(new Set(['+491'])))).toEqual(['+900', '112'])
    expect(ledger.outside(new Set(['+491', '+900', '112']))).toEqual([])
    const twice = ask(
      to('+491', GOOD),
      call('again', GOOD).map(row => ({ ...row, called: '+491' })),
      to('+492', GOOD),
    )
    expect([...twice.duplicates(byCalled)].map(([number, calls]) => [number, names(calls)])).toEqual([
      ['+491', ['+491', 'again']],
    ])
  })
})
