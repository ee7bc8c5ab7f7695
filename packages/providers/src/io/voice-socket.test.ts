import type { AddressInfo, Socket } from 'node:net'
import { VirtualTime } from '@parley/kernel'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocketServer } from 'ws'
import { CartesiaVoice } from '../cartesia/io/cartesia-voice.ts'

const LONG = '😀a'.repeat(2000)

it('an utterance on a connection that stopped reading moves to a fresh connection, and can be cancelled there', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  const heard: string[] = []
  let connections = 0
  server.on('connection', (socket, request) => {
    // The first takes nothing; the second begins to speak, and no more.
    if (++connections === 1) return (request.socket as Socket).pause()
    socket.on('message', data => {
      const { context_id, cancel } = JSON.parse(String(data)) as { context_id: string; cancel?: boolean }
      heard.push(cancel === true ? 'cancel' : 'begin')
      const chunk = { type: 'chunk', context_id, data: Buffer.alloc(800, 0x55).toString('base64') }
      if (cancel !== true) socket.send(JSON.stringify(chunk))
    })
  })
  await new Promise<void>(resolve => server.on('listening', resolve))
  const time = new VirtualTime()
  const baseUrl = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const voice = new CartesiaVoice({ apiKey: 'k', time, baseUrl })
  onTestFinished(async () => {
    await voice.close()
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  voice.warm({ language: 'en' })
  await expect.poll(() => connections).toBe(1)
  const begun = async () => {
    const cancel = new AbortController()
    let sent = 0
    const onSent = () => {
      sent++
    }
    const chunks = voice.synthesize({ text: LONG, language: 'en', onSent }, cancel.signal)
    const first = chunks.next()
    first.catch(() => {})
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
    return { cancel, chunks, first, wasTaken: sent > 0 && connections === 1 }
  }
  // What the machine holds for a connection fills up first.
  let speaking = await begun()
  for (let i = 0; i < 4000 && speaking.wasTaken; i++) {
    speaking.cancel.abort()
    speaking = await begun()
  }
  expect((await speaking.first).done).toBe(false)
  expect(connections).toBe(2)
  // Nobody waits for a sign of life of the first one any more.
  time.advance(3000)
  const next = speaking.chunks.next()
  next.catch(() => {})
  await new Promise(setImmediate)
  speaking.cancel.abort()
  expect(await next).toEqual({ done: true, value: undefined })
  await expect.poll(() => heard).toEqual(['begin', 'cancel'])
})
