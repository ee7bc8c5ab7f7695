import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'
import { CONNECTIONS } from './connections.ts'

let api: PipelineApi

beforeAll(async () => {
  const connections = { ...CONNECTIONS, headMs: 300, requestMs: 600, keepAliveMs: 1000, max: 4 }
  api = await pipelineApi({}, { limits: { connections } })
})
afterAll(() => api?.close())

/** Sends the text over a new connection and resolves with everything received, once the connection is closed. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1', () => socket.write(text, 'latin1'))
    socket.setEncoding('latin1').on('data', piece => {
      received += piece
    })
    socket.on('close', () => resolve(received)).on('error', reject)
    socket.setTimeout(8000, () => socket.destroy(new Error('the server did not close the connection')))
  })
}

describe('connection limits', () => {
  it('a connection that does not finish its headers is closed', async () =>
    expect(await exchange('GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ')).toMatch(
      /^HTTP\/1.1 408 [\s\S]*invalid_request/,
    ))

  it('a connection that does not finish its body is closed', async () =>
    expect(
      await exchange(
        `POST /mcp HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.keys.admin}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      ),
    ).toMatch(/^HTTP\/1.1 (408|400) /))

  it('an idle connection is closed', async () =>
    expect(await exchange('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /))

  it('a connection that sends no HTTP, or too large headers, is answered and closed', async () => {
    expect(await exchange('nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*invalid_request/)
    expect(await exchange(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /)
  })

  it('connections above the maximum are closed', async () => {
    const all = await Promise.all(
      Array.from({ length: 12 }, () => exchange('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n').catch(() => '')),
    )
    const answered = all.filter(received => received.startsWith('HTTP/1.1 200'))
    expect(answered.length).toBeGreaterThan(0)
    expect(answered.length).toBeLessThanOrEqual(4)
  })
})
