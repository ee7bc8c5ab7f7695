import { describe, expect, it } from 'vitest'
import type { WebhookEntry } from './webhook-entry.ts'
import { WebhookQueries } from './webhook-queries.ts'

let at = 0

function request(event: string, event_id: string, changes: Partial<WebhookEntry> = {}): WebhookEntry {
  at++
  return {
    at_ms: at,
    wall_ms: at,
    method: 'POST',
    path: '/hook',
    headers: {},
    body: '',
    encoding: 'utf8',
    signature: 'valid',
    secret: 0,
    event,
    event_id,
    run_id: 'run-1',
    occurred_at: '2026-01-01T00:00:00Z',
    answer: 200,
    ...changes,
  }
}

describe('queries over received webhooks', () => {
  it('no fault is found if every event came once and in order, with retries of failed deliveries', () => {
    const got = new WebhookQueries([
      request('run.started', 'a', { answer: 500 }),
      request('run.started', 'a'),
      request('run.transfer', 'b'),
      request('run.ended', 'c', { answer: null }),
      request('run.ended', 'c'),
      request('run.analyzed', 'd'),
    ])
    expect(got.misordered()).toEqual([])
    expect(got.duplicates().size).toBe(0)
    expect(got.undelivered().size).toBe(0)
  })

  it('an event that is delivered again after its 200 is found', () => {
    const got = new WebhookQueries([
      request('run.started', 'a'),
      request('run.started', 'a'),
      request('run.ended', 'b'),
    ])
    expect([...got.duplicates()].map(([id, requests]) => [id, requests.length])).toEqual([['a', 2]])
  })

  it('events of one run in the wrong order are found', () => {
    const got = new WebhookQueries([
      request('run.ended', 'b'),
      request('run.started', 'other', { run_id: 'run-2' }),
      request('run.started', 'a'),
      request('run.transfer', 'c', { occurred_at: '2025-12-31T23:59:59Z' }),
    ])
    expect(got.misordered().map(({ earlier, later }) => [earlier.event_id, later.event_id])).toEqual([
      ['b', 'a'],
      ['b', 'c'],
    ])
  })

  it('events that were never accepted and requests without a valid signature are found', () => {
    const got = new WebhookQueries([
      request('run.started', 'a', { answer: 500 }),
      request('run.ended', 'b', { signature: 'invalid' }),
      request('run.analyzed', 'c', { signature: 'missing' }),
    ])
    expect([...got.undelivered().keys()]).toEqual(['a'])
    expect(got.invalidSignatures().map(({ event_id }) => event_id)).toEqual(['b', 'c'])
  })
})
