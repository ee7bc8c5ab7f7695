import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHandlers } from '../handlers/keys.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

let api: PipelineApi
beforeAll(async () => {
  api = await pipelineApi(keyHandlers)
})
afterAll(() => api?.close())

/** Sends the bytes on a connection of its own and returns the status and the parsed body of the answer. */
async function exchange(head: readonly string[], body = '') {
  const { hostname, port } = new URL(api.url)
  const socket = connect({ host: hostname, port: Number(port) })
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  socket.write([...head, ...length, 'Connection: close', '', body].join('\r\n'))
  let text = ''
  for await (const piece of socket) text += piece
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(text)!
  return { status: Number(status), body: JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)), text }
}

const POST = 'POST /api/v1/keys HTTP/1.1'
const HOST = 'Host: api.example'
const JSON_TYPE = 'Content-Type: application/json'
const NEW_KEY = JSON.stringify({ name: 'x', role: 'viewer' })
const key = () => `Authorization: Bearer ${api.keys.admin}`

describe('requests that HTTP or JSON does not define', () => {
  it.each([
    ['no Host header', 400, ['GET /api/v1/keys HTTP/1.1'], /Host/],
    ['two Host headers', 400, ['GET /api/v1/keys HTTP/1.1', HOST, 'Host: other.example'], /host once/],
    [
      'two Authorization headers',
      400,
      ['GET /api/v1/keys HTTP/1.1', HOST, 'Authorization: Bearer x', 'authorization: Bearer y'],
      /authorization once/,
    ],
    [
      'an expectation that is not 100-continue',
      417,
      ['GET /api/v1/keys HTTP/1.1', HOST, 'Expect: a-miracle'],
      /Expect/,
    ],
  ] as const)('a request with %s is answered %i with the error envelope', async (_, status, head, message) => {
    const answer = await exchange([...head])
    expect([answer.status, answer.body.error.code]).toEqual([status, 'invalid_request'])
    expect(answer.body.error.message).toMatch(message)
    expect(answer.text).toMatch(/^x-request-id: /im)
  })

  it('a request with two Idempotency-Key headers is answered 400', async () => {
    const answer = await exchange(
      [POST, HOST, key(), JSON_TYPE, 'Idempotency-Key: a-key-of-mine', 'Idempotency-Key: another-key'],
      NEW_KEY,
    )
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
  })

  it('a request of HTTP/1.0 needs no Host header', async () => {
    expect((await exchange(['GET /healthz HTTP/1.0'])).status).toBe(200)
  })

  it('a body whose object repeats a name is answered 400 and the name is pointed out', async () => {
    const body = '{"name":"x","role":"viewer","role":"admin"}'
    const answer = await exchange([POST, HOST, key(), JSON_TYPE, 'Idempotency-Key: repeated-name'], body)
    expect(answer.status).toBe(400)
    expect(answer.body.error.details.issues).toEqual([
      { path: '/role', message: 'body: an object has this name twice; send it once' },
    ])
  })

  it.each([
    ['latin1', 400],
    ['utf-16', 400],
    ['UTF-8', 201],
    ['"utf-8"', 201],
  ])('a body in the charset %s is answered %i', async (charset, status) => {
    const type = `${JSON_TYPE}; charset=${charset}`
    const idempotency = `Idempotency-Key: charset-${Buffer.from(charset).toString('hex')}`
    expect((await exchange([POST, HOST, key(), type, idempotency], NEW_KEY)).status).toBe(status)
  })
})
