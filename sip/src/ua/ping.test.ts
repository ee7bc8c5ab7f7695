import { beforeEach, expect, it } from 'vitest'
import type { Target } from '../transport/transport.ts'
import { Pair, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'
import type { PingOutcome } from './user-agent-options.ts'

let pair: Pair
let first: ScriptedPeer
let second: ScriptedPeer
beforeEach(() => {
  pair = new Pair()
  first = new ScriptedPeer(pair.network, '10.0.0.21', 'first.test')
  second = new ScriptedPeer(pair.network, '10.0.0.22', 'second.test')
  pair.network.name('trunk.test', [
    { address: '10.0.0.21', port: 0 },
    { address: '10.0.0.22', port: 0 },
  ])
})

const HOP = { host: 'trunk.test', port: undefined, transport: 'udp', serverName: undefined } as const
const uri = { ...sipUri('x', 'trunk.test', 'udp'), user: undefined }

async function settled<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  let value: Value | undefined
  void promise.then(found => {
    value = found
  })
  for (let left = ms; left > 0 && value === undefined; left -= 100) {
    pair.time.advance(100)
    for (let i = 0; i < 6; i++) await Promise.resolve()
  }
  return value
}

const targets = async () => (await settled(pair.a.ua.locate(HOP), 100)) ?? []
const order = async () => (await targets()).map(({ address }) => address)
const ping = (target: Target): Promise<PingOutcome | undefined> =>
  settled(
    pair.a.ua.ping(target, {
      uri,
      from: { displayName: undefined, uri: sipUri('parley', 'a.test', 'udp'), params: new Map() },
    }),
    9000,
  )
const answering = (peer: ScriptedPeer, status: number, headers: readonly (readonly [string, string])[] = []) => {
  peer.onMessage = (message, flow) => {
    if (message.kind === 'request' && message.method !== 'ACK')
      peer.reply({ request: message, flow }, status, { headers })
  }
}

it('a target that does not answer OPTIONS for 8 s is tried last until it answers', async () => {
  const [target] = await targets()
  expect(await ping(target!)).toMatchObject({ type: 'failed', code: 'timeout' })
  expect(await order()).toEqual(['10.0.0.22', '10.0.0.21'])
  pair.time.advance(60_000)
  expect(await order()).toEqual(['10.0.0.22', '10.0.0.21'])
  answering(first, 200)
  expect(await ping(target!)).toMatchObject({ type: 'answered', status: 200 })
  expect(await order()).toEqual(['10.0.0.21', '10.0.0.22'])
})

it.each([401, 404, 405, 501])('the answer %i says that the target is alive, and gets no credentials', async status => {
  answering(first, status)
  const [target] = await targets()
  expect(await ping(target!)).toMatchObject({ type: 'answered', status })
  expect(first.methods()).toEqual(['OPTIONS'])
})

it('an answer to OPTIONS does not end the time that a target asked for when it refused a call', async () => {
  answering(first, 503, [['Retry-After', '120']])
  answering(second, 486)
  pair.call({ uri: sipUri('x', 'trunk.test', 'udp') })
  pair.time.advance(500)
  expect(await order()).toEqual(['10.0.0.22', '10.0.0.21'])
  answering(first, 200)
  const target = (await targets()).find(({ address }) => address === '10.0.0.21')
  expect(await ping(target!)).toMatchObject({ status: 200 })
  expect(await order()).toEqual(['10.0.0.22', '10.0.0.21'])
})

it('nothing is left of pings that got no answer', async () => {
  for (const target of await targets()) await ping(target)
  pair.time.advance(60_000)
  expect(pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
})
