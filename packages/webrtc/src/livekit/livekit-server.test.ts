import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TokenVerifier } from 'livekit-server-sdk'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LiveKitServer } from './livekit-server.ts'

const KEYS = { apiKey: 'APIkey', apiSecret: 'secret-of-a-test-with-more-than-32-characters' }

/** A server that answers every request with this status and JSON. */
async function answering(status: number, body: object) {
  const requests: { readonly path: string | undefined; readonly body: unknown }[] = []
  const http = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    requests.push({ path: request.url, body: JSON.parse(text) })
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  const close = () => new Promise(resolve => http.close(resolve))
  onTestFinished(async () => void (await close()))
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`
  return { requests, close, server: new LiveKitServer({ ...KEYS, url, publicUrl: 'wss://livekit.example' }) }
}

const verified = (token: string) => new TokenVerifier(KEYS.apiKey, KEYS.apiSecret).verify(token)

describe('tokens of rooms', () => {
  const server = new LiveKitServer({ ...KEYS, url: 'ws://127.0.0.1:7880', publicUrl: 'wss://livekit.example' })

  it('a visitor joins its own room only, publishes its microphone and data, and changes nothing of itself', async () => {
    const { url, token } = await server.visitorAccess('run-1', 120_000)
    const claims = await verified(token)
    expect(url).toBe('wss://livekit.example')
    expect(claims.sub).toBe('visitor')
    expect(claims.video).toEqual({
      room: 'parley-run-1',
      roomJoin: true,
      canPublish: true,
      canPublishSources: ['microphone'],
      canSubscribe: true,
      canPublishData: true,
      canUpdateOwnMetadata: false,
    })
    expect(claims.exp! - claims.nbf!).toBeLessThanOrEqual(121)
  })

  it('the agent joins the same room as an agent', async () => {
    const claims = await verified(await server.agentToken('run-1'))
    expect(claims).toMatchObject({ sub: 'agent', kind: 'agent', video: { room: 'parley-run-1', roomJoin: true } })
    expect(claims.video).not.toHaveProperty('roomAdmin')
  })
})

describe('rooms of a LiveKit server', () => {
  it('a room outlives the time that the visitor has to join, and its id is returned', async () => {
    const { server, requests } = await answering(200, { sid: 'RM_1', name: 'parley-run-1' })
    expect(await server.createRoom('run-1', 120_000)).toBe('RM_1')
    expect(requests).toMatchObject([
      { path: '/twirp/livekit.RoomService/CreateRoom', body: { name: 'parley-run-1', emptyTimeout: 180 } },
    ])
  })

  it('a room that is not there is deleted; a refusal and a missing answer are told apart', async () => {
    const gone = await answering(404, { code: 'not_found', msg: 'requested room does not exist' })
    expect(await gone.server.deleteRoom('run-1')).toBe('parley-run-1')
    const refusing = await answering(401, { code: 'unauthenticated', msg: 'invalid API key' })
    await expect(refusing.server.createRoom('run-1', 1)).rejects.toMatchObject({ code: 'room_refused' })
    const failing = await answering(503, { code: 'unavailable', msg: 'no' })
    await expect(failing.server.deleteRoom('run-1')).rejects.toMatchObject({ code: 'livekit_unreachable' })
    await failing.close()
    await expect(failing.server.deleteRoom('run-1')).rejects.toMatchObject({ code: 'livekit_unreachable' })
  })
})
