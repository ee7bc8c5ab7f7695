import { ParleyClient } from '@parley/client'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../usage.ts'
import { runsWork } from './runs.ts'

const RUN = {
  run_id: 'r-1',
  agent_id: 'anna',
  publication: { agent_id: 'anna', version: 3, digest: '' },
  channel: 'phone',
  mode: 'outbound',
  state: 'completed',
  phone_state: 'ended',
  outcome: { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' },
  disposition: 'booked',
  created_at: '2026-01-02T03:04:05.678Z',
  started_at: '2026-01-02T03:04:06.000Z',
  ended_at: null,
  connected_ms: 61_500,
  from_number: '+12025550100',
  to_number: '+14155552671',
  contact: 'human',
  latency: null,
}

const at = { at: '2026-01-02T03:04:05.678Z' }
const ITEMS = [
  { ...at, seq: 1, offset_ms: null, kind: 'state', state: 'running', phone_state: 'active' },
  { ...at, seq: 2, offset_ms: 1234, kind: 'utterance', role: 'agent', text: 'Hello\u001b[2J', interrupted: true },
  { ...at, seq: 3, offset_ms: 2345, kind: 'digits', direction: 'in', digits: '42' },
  { ...at, seq: 4, offset_ms: 3000, kind: 'telepathy' },
]

type Answers = Readonly<Record<string, unknown>>

/** Runs `parley runs` against an API that answers by `METHOD /path?query` (without `/api/v1`); an array is sent as server-sent events. */
async function parley(args: string[], answers: Answers) {
  const requests: { line: string; body: unknown }[] = []
  const out: string[] = []
  const client = new ParleyClient({
    baseUrl: 'https://parley.example',
    key: 'parley_live_x',
    retries: 0,
    fetch: async (url, init) => {
      const line = `${init?.method} ${String(url).slice('https://parley.example/api/v1'.length)}`
      requests.push({ line, body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined })
      const answer = answers[line]
      if (Array.isArray(answer)) return events(answer)
      const error = {
        code: 'not_found',
        message: `the test has no answer for ${line}`,
        retryable: false,
        outcome: 'none',
      }
      return Response.json(answer ?? { error }, { status: answer ? 200 : 404 })
    },
  })
  const context = { client, print: (text: string) => void out.push(text), remark: () => {} }
  const exit = await runsWork(args)(context).catch((error: unknown) => error)
  return { exit, message: exit instanceof Error ? exit.message : '', out: out.join(''), requests }
}

function events(items: readonly { seq: number; kind: string }[]): Response {
  const frames = items.map(item => `id: ${item.seq}\nevent: ${item.kind}\ndata: ${JSON.stringify(item)}\n\n`)
  return new Response(`${frames.join('')}event: end\ndata: {}\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  })
}

describe('parley runs', () => {
  it('runs create places a call with variables and follows it to its end', async () => {
    const { requests, out, exit } = await parley(
      ['create', 'anna', '--to', '+14155552671', '--from', '+12025550100', '--var', 'name=Ada=x', '--follow'],
      { 'POST /runs': RUN, 'GET /runs/r-1/events': ITEMS },
    )
    expect(requests[0]?.body).toEqual({
      agent_id: 'anna',
      channel: 'phone',
      mode: 'outbound',
      to: '+14155552671',
      from: '+12025550100',
      dynamic_variables: { name: 'Ada=x' },
    })
    expect(exit).toBe(0)
    expect(out).toContain('run          r-1\nagent        anna version 3\n')
    expect(out.split('\n').slice(-5)).toEqual([
      '       -  state running (active)',
      '   1.23s  agent: Hello·[2J —',
      '   2.35s  digits from the far end: 42',
      '   3.00s  telepathy',
      '',
    ])
  })

  it('runs create starts chat, task and background runs', async () => {
    const { requests } = await parley(['create', 'anna', '--mode', 'task', '--version', '2', '--json'], {
      'POST /runs': RUN,
    })
    expect(requests[0]?.body).toEqual({ agent_id: 'anna', channel: 'cloud', mode: 'task', version: 2 })
  })

  it('runs follow --json prints one item per line', async () => {
    const { out } = await parley(['follow', 'r-1', '--json'], { 'GET /runs/r-1/events': ITEMS })
    expect(
      out
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual(ITEMS)
  })

  it('runs list prints the filtered runs in a table, page by page', async () => {
    const { out, requests } = await parley(['list', '--agent', 'anna', '--state', 'completed', '--limit', '2'], {
      'GET /runs?limit=2&agent_id=anna&state=completed': { items: [RUN], next_cursor: 'c' },
      'GET /runs?limit=2&agent_id=anna&state=completed&cursor=c': { items: [RUN, RUN], next_cursor: 'd' },
    })
    expect(out.split('\n')).toHaveLength(4)
    expect(out).toContain('anna   phone outbound  completed (ended)  booked   +14155552671')
    expect(requests).toHaveLength(2)
    expect((await parley(['list'], { 'GET /runs?limit=50': { items: [], next_cursor: null } })).out).toBe('No runs.\n')
  })

  it('runs get, cancel and transcript print one run, or the refusal of the API', async () => {
    expect((await parley(['get', 'r-1'], { 'GET /runs/r-1': RUN })).out).toContain('connected    61.5 s')
    expect((await parley(['cancel', 'r-1'], { 'POST /runs/r-1/cancel': RUN })).exit).toBe(0)
    const partial = { state: 'partial', utterances: [{ role: 'user', text: 'Hi', interrupted: false }] }
    expect((await parley(['transcript', 'r-1'], { 'GET /runs/r-1/transcript': partial })).out).toBe('user   Hi\n')
    expect((await parley(['get', 'r-1', '--json'], { 'GET /runs/r-1': RUN })).out).toBe(
      `${JSON.stringify(RUN, null, 2)}\n`,
    )
    expect((await parley(['get', 'nobody'], {})).message).toContain('(not_found)')
    expect((await parley(['follow', 'nobody'], {})).message).toContain('(not_found)')
  })

  it('runs ladder prints a line per SIP message, and with --full the messages', async () => {
    const sip = {
      at: '2026-01-02T03:04:05.678Z',
      transport: 'tls',
      source: '192.0.2.1:5061',
      destination: '192.0.2.2:5061',
    }
    const items = [
      { ...sip, direction: 'in', message: 'BYE sip:a@b SIP/2.0\r\nCSeq: 2 BYE\r\n\r\n' },
      { ...sip, direction: 'out', message: 'SIP/2.0 200 OK\r\nCSeq: 2 BYE\r\n\r\n' },
    ]
    const answers = { 'GET /runs/r-1/ladder': { items, truncated: true } }
    expect((await parley(['ladder', 'r-1'], answers)).out.split('\n')).toEqual([
      '03:04:05.678  <-- 192.0.2.1:5061 tls  BYE sip:a@b SIP/2.0',
      '03:04:05.678  --> 192.0.2.2:5061 tls  SIP/2.0 200 OK  (CSeq: 2 BYE)',
      'Further messages were not kept.',
      '',
    ])
    expect((await parley(['ladder', 'r-1', '--full'], answers)).out).toContain('\n    CSeq: 2 BYE\n')
    const none = { 'GET /runs/r-1/ladder': { items: [], truncated: false } }
    expect((await parley(['ladder', 'r-1'], none)).out).toBe('The run has no SIP messages.\n')
  })

  it.each([
    [[], 'usage:'],
    [['toString'], 'usage:'],
    [['get'], 'usage: parley runs get'],
    [['get', 'a', 'b'], 'usage: parley runs get'],
    [['create', 'anna'], 'give --to NUMBER'],
    [['create', 'anna', '--to', '+1', '--mode', 'chat'], 'give --to NUMBER'],
    [['create', 'anna', '--mode', 'inbound'], 'give --to NUMBER'],
    [['create', 'anna', '--to', '+1', '--var', 'x'], '--var takes NAME=VALUE'],
    [['create', 'anna', '--to', '+1', '--version', 'x'], '--version takes a whole number'],
    [['list', '--state', 'asleep'], '--state takes one of'],
    [['list', '--limit', '0'], '--limit takes a whole number, 1 to'],
    [['list', 'anna'], 'usage: parley runs list'],
  ])('the arguments %j are refused before the API is called', (args, message) => {
    expect(() => runsWork(args)).toThrow(UsageError)
    expect(() => runsWork(args)).toThrow(message)
  })
})
