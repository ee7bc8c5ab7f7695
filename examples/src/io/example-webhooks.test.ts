import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MONDAY } from '../testing/walk.ts'
import { ExampleServer, type ExampleServerOptions } from './example-server.ts'

const SECRET = 'what agent and server share'
const NOW_S = Math.floor(MONDAY / 1000)

async function open(options: ExampleServerOptions = { webhookSecret: SECRET }): Promise<ExampleServer> {
  const server = await ExampleServer.open({ wallClock: () => MONDAY, ...options })
  onTestFinished(() => server.close())
  return server
}

function webhook(event: string, run_id = 'r-1'): string {
  const run = { run_id, state: 'completed', dynamic_variables: { name: 'Zoë' } }
  return JSON.stringify({ event, event_id: `${run_id} ${event}`, occurred_at: '2026-11-23T09:00:00.000Z', run })
}

function signed(body: string, secret = SECRET, t = NOW_S): string {
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}

async function send(server: ExampleServer, body: string, signature: string | null = signed(body)): Promise<number> {
  const headers = { 'content-type': 'application/json', ...(signature !== null && { 'parley-signature': signature }) }
  const response = await fetch(server.webhookUrl, { method: 'POST', body, headers, signal: AbortSignal.timeout(5000) })
  await response.body?.cancel()
  return response.status
}

describe('a webhook', () => {
  it('a webhook with a valid signature is stored once, however often it is sent, and found by its run', async () => {
    const server = await open()
    for (const body of [
      webhook('run.started'),
      webhook('run.ended'),
      webhook('run.ended'),
      webhook('run.ended', 'r-2'),
    ])
      expect(await send(server, body)).toBe(200)
    expect(server.webhooks.map(({ event, run_id }) => `${event} ${run_id}`)).toEqual([
      'run.started r-1',
      'run.ended r-1',
      'run.ended r-2',
    ])
    const found = await fetch(`${server.webhookUrl}?run_id=r-2`).then(response => response.json())
    expect(found).toMatchObject({ events: [{ event: 'run.ended', run_id: 'r-2', state: 'completed' }] })
  })

  it('a webhook of up to 1 MiB is accepted', async () => {
    const server = await open()
    const large = JSON.stringify({
      event: 'run.ended',
      event_id: 'large',
      run: { run_id: 'r', x: 'x'.repeat(200_000) },
    })
    expect(await send(server, large)).toBe(200)
    expect(await send(server, 'x'.repeat(1_100_000))).toBe(413)
  })

  it('during a rotation of the secret one valid signature is enough', async () => {
    const server = await open()
    const body = webhook('run.ended')
    const [t, other] = signed(body, 'the next secret').split(',')
    const [, ours] = signed(body).split(',')
    expect(await send(server, body, `${t},${other},${ours}`)).toBe(200)
  })

  const body = webhook('run.ended')
  it.each([
    ['without a signature', body, null],
    ['signed with another secret', body, signed(body, 'a guess')],
    ['that was changed behind its signature', body.replace('completed', 'cancelled'), signed(body)],
    ['that is played again later', body, signed(body, SECRET, NOW_S - 301)],
    ['with two times', body, `t=1,${signed(body)}`],
    ['with a signature that is none', body, 'v1=zz'],
  ])('%s is refused', async (_, content, signature) => {
    const server = await open()
    expect(await send(server, content, signature)).toBe(401)
    expect(server.webhooks).toEqual([])
  })

  it('a server without a secret refuses webhooks', async () => {
    expect(await send(await open({}), body, signed(body, ''))).toBe(401)
  })
})
