import { describe, expect, it } from 'vitest'
import { ConnectionTable } from './connection-table.ts'
import type { Flow, Target } from './transport.ts'

const LIMITS = { maxDialled: 2, maxQueuedSends: 3, maxQueuedBytes: 1000 }
const trunk: Target = { transport: 'tls', address: '192.0.2.1', port: 5061, serverName: 'trunk.example' }
const flow = (id: string) => ({ id }) as Flow
const send = (sendId: number, length = 10) => ({ sendId, bytes: new Uint8Array(length) })
const ids = (sends: readonly { readonly sendId: number }[]) => sends.map(queued => queued.sendId)

function dialledKey(table: ConnectionTable, target: Target): string {
  const route = table.route(target, send(0))
  if (route.kind !== 'dial') throw new Error(`expected a dial, got ${route.kind}`)
  return route.key
}

describe('connection reuse', () => {
  it('sends to one target share a single dial, keep their order and reuse the connection', () => {
    const table = new ConnectionTable(LIMITS)
    const key = dialledKey(table, trunk)
    expect(table.route(trunk, send(1)).kind).toBe('queued')
    expect(table.route(trunk, send(2)).kind).toBe('queued')
    expect(ids(table.established(key, flow('a')))).toEqual([0, 1, 2])
    expect(table.route(trunk, send(3))).toEqual({ kind: 'reuse', flow: flow('a') })
  })

  it('a connection verified for one certificate name is not reused for another', () => {
    const table = new ConnectionTable(LIMITS)
    table.established(dialledKey(table, trunk), flow('a'))
    expect(table.route({ ...trunk, serverName: 'other.example' }, send(1)).kind).toBe('dial')
    expect(table.route({ ...trunk, serverName: 'TRUNK.example' }, send(2)).kind).toBe('reuse')
  })

  it('a failed or closed connection is dialled again', () => {
    const table = new ConnectionTable(LIMITS)
    const key = dialledKey(table, trunk)
    table.route(trunk, send(1))
    expect(ids(table.failed(key))).toEqual([0, 1])
    table.established(dialledKey(table, trunk), flow('a'))
    table.remove(flow('a'))
    expect(table.route(trunk, send(2)).kind).toBe('dial')
  })

  it('the number of connections and of queued sends is limited', () => {
    const table = new ConnectionTable(LIMITS)
    dialledKey(table, trunk)
    expect(table.route(trunk, send(1, 991))).toEqual({ kind: 'refused', code: 'queue_full' })
    table.route(trunk, send(2))
    table.route(trunk, send(3))
    expect(table.route(trunk, send(4))).toEqual({ kind: 'refused', code: 'queue_full' })
    dialledKey(table, { ...trunk, port: 5063 })
    expect(table.route({ ...trunk, port: 5065 }, send(5))).toEqual({ kind: 'refused', code: 'too_many_connections' })
    expect(table.size).toBe(2)
  })

  it('the end of an old flow does not affect the dial that replaced it', () => {
    const table = new ConnectionTable(LIMITS)
    table.established(dialledKey(table, trunk), flow('a'))
    table.remove(flow('a'))
    const key = dialledKey(table, trunk)
    table.remove(flow('a'))
    expect(ids(table.established(key, flow('b')))).toEqual([0])
  })
})
