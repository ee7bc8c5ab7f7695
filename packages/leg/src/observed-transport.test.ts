import { SeededRandom, VirtualTime } from '@parley/kernel'
import { type InviteSession, parseNameAddr, parseUri, type SipUri, UserAgent, VirtualNetwork } from '@parley/sip'
import { beforeEach, expect, it } from 'vitest'
import { type ObservedMessage, ObservedTransport } from './observed-transport.ts'

let time: VirtualTime
let observed: ObservedMessage[]
let caller: UserAgent
beforeEach(() => {
  time = new VirtualTime()
  observed = []
  const random = new SeededRandom(1)
  const network = new VirtualNetwork({ time, random })
  const guard = () => ({ action: 'accept' }) as const
  const element = (address: string) => network.element({ address })
  caller = new UserAgent({
    time,
    random,
    transport: new ObservedTransport(element('192.0.2.1'), message => observed.push(message)),
    guard,
    onInvite: () => {},
  })
  const onInvite = (session: InviteSession) => session.reject(486)
  void new UserAgent({ time, random, transport: element('192.0.2.2'), guard, onInvite })
})

async function call(): Promise<string> {
  const { callId } = caller.invite({
    uri: parseUri('sip:bob@192.0.2.2;transport=tls') as SipUri,
    from: parseNameAddr('<sip:alice@192.0.2.1>')!,
  })
  for (let passed = 0; passed < 1000; passed += 20) {
    time.advance(20)
    for (let i = 0; i < 8; i++) await Promise.resolve()
  }
  return callId
}

it('every message of a call is observed once, in order, with its addresses', async () => {
  const callId = await call()
  expect(observed.map(({ direction, text }) => [direction, text().split(' SIP/2.0')[0]!.split('\r')[0]])).toEqual([
    ['out', 'INVITE sip:bob@192.0.2.2;transport=tls'],
    ['in', 'SIP/2.0 486 Busy Here'],
    ['out', 'ACK sip:bob@192.0.2.2;transport=tls'],
  ])
  expect(new Set(observed.map(message => message.callId))).toEqual(new Set([callId]))
  expect(observed[0]!.flow).toMatchObject({ transport: 'tls', remote: { address: '192.0.2.2' } })
})

it('an observer that throws does not affect the call', async () => {
  let count = 0
  observed.push = () => {
    count++
    throw new Error('the observer fails')
  }
  await call()
  expect(count).toBe(3)
})
