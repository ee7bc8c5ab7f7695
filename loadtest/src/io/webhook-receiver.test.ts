import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readWebhookLedger, WebhookReceiver, type WebhookReceiverOptions } from './webhook-receiver.ts'

async function open(options: Partial<WebhookReceiverOptions> = {}): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.open({ secrets: ['old', 'new'], ...options })
  onTestFinished(() => receiver.close())
  return receiver
}

function signed(body: string, secrets: readonly string[], ageS = 0): string {
  const t = Math.floor(Date.now() / 1000) - ageS
  const values = secrets.map(secret => `v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`)
  return [`t=${t}`, ...values].join(',')
}

function post(receiver: WebhookReceiver, body: string, signature?: string, path = '/hook'): Promise<number> {
  const headers = signature === undefined ? {} : { 'parley-signature': signature }
  return fetch(receiver.url + path, { method: 'POST', body, headers }).then(({ status }) => status)
}

const BODY = JSON.stringify({
  event: 'run.ended',
  event_id: 'e1',
  occurred_at: '2026-01-01T00:00:00Z',
  run: { run_id: 'r1' },
})

describe('a webhook receiver', () => {
  it('every request is recorded with the facts of its body', async () => {
    const receiver = await open()
    expect(await post(receiver, BODY, signed(BODY, ['new']))).toBe(200)
    expect(receiver.entries[0]).toMatchObject({
      method: 'POST',
      path: '/hook',
      body: BODY,
      signature: 'valid',
      secret: 1,
      event: 'run.ended',
      event_id: 'e1',
      run_id: 'r1',
      answer: 200,
    })
  })

  it('during a rotation any signature value under any secret is valid', async () => {
    const receiver = await open()
    await post(receiver, BODY, signed(BODY, ['unknown', 'old']))
    receiver.rotate(['next'])
    await post(receiver, BODY, signed(BODY, ['new', 'next']))
    await post(receiver, BODY, signed(BODY, ['old']))
    expect(receiver.entries.map(({ signature }) => signature)).toEqual(['valid', 'valid', 'invalid'])
  })

  it('missing, malformed, invalid and expired signatures are told apart', async () => {
    const receiver = await open()
    await post(receiver, BODY)
    await post(receiver, `${BODY} `, signed(BODY, ['old']))
    await post(receiver, BODY, signed(BODY, ['old'], 400))
    await post(receiver, BODY, 'v1=zz')
    await post(receiver, BODY, `t=1,t=2,v1=${'0'.repeat(64)}`)
    expect(receiver.entries.map(({ signature }) => signature)).toEqual([
      'missing',
      'invalid',
      'expired',
      'malformed',
      'malformed',
    ])
    expect(receiver.query().invalidSignatures()).toHaveLength(5)
  })

  it('requests are answered by the script of their path', async () => {
    const receiver = await open({
      answers: { '/flaky': [{ answer: 500, times: 2 }, { answer: 'drop' }, { answer: 204 }] },
    })
    expect(await post(receiver, BODY, undefined, '/flaky')).toBe(500)
    expect(await post(receiver, BODY, undefined, '/flaky')).toBe(500)
    await expect(post(receiver, BODY, undefined, '/flaky')).rejects.toThrow()
    expect(await post(receiver, BODY, undefined, '/flaky')).toBe(204)
    expect(await post(receiver, BODY, undefined, '/flaky?n=2')).toBe(204)
    expect(await post(receiver, BODY, undefined, '/other')).toBe(200)
    expect(receiver.entries.map(({ answer }) => answer)).toEqual([500, 500, null, 204, 204, 200])
  })

  it('an answer can be delayed, and the sender may disconnect meanwhile', async () => {
    const receiver = await open({ answers: { '*': [{ answer: 200, afterMs: 60_000 }] } })
    const sender = new AbortController()
    const sent = fetch(receiver.url, { method: 'POST', body: BODY, signal: sender.signal })
    await expect.poll(() => receiver.entries).toHaveLength(1)
    sender.abort()
    await expect(sent).rejects.toThrow()
    expect(receiver.entries).toHaveLength(1)
  })

  it('binary bodies are recorded, and the ledger file is readable by other processes', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'webhooks-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const ledgerFile = join(directory, 'ledger.jsonl')
    const receiver = await open({ ledgerFile, keepRows: 0 })
    await fetch(receiver.url, { method: 'POST', body: new Uint8Array([0xff, 0x00]) })
    await post(receiver, BODY, signed(BODY, ['old']))
    expect(() => receiver.query()).toThrow(RangeError)
    const { entries } = await readWebhookLedger(ledgerFile)
    expect(entries.map(({ encoding, body }) => [encoding, body])).toEqual([
      ['base64', '/wA='],
      ['utf8', BODY],
    ])
  })

  it('the receiver survives bytes that are not an HTTP request', async () => {
    const receiver = await open()
    for (const bytes of [
      '\0\0\0\0',
      `GET / HTTP/1.1\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`,
      'POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n',
    ]) {
      const socket = connect(receiver.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.end(bytes)
      socket.resume()
      await new Promise(resolve => socket.on('close', resolve))
    }
    expect(await post(receiver, '{}')).toBe(200)
    expect(receiver.entries).toHaveLength(1)
  })

  it('the receiver refuses a body of 5 MiB with 413 or by closing the connection, and records nothing', async () => {
    const receiver = await open()
    expect(
      await fetch(receiver.url, { method: 'POST', body: 'x'.repeat(5 << 20) }).then(
        r => r.status,
        () => 413,
      ),
    ).toBe(413)
    expect(receiver.entries).toEqual([])
  })

  it('the receiver records bodies that are not a webhook', async () => {
    const receiver = await open()
    for (const body of ['[]', 'null', '{"run":7,"event_id":{}}', '"']) expect(await post(receiver, body)).toBe(200)
    expect(receiver.entries).toHaveLength(4)
  })
})
