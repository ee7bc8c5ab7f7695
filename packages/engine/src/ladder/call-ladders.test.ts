import type { ObservedMessage } from '@parley/leg'
import { beforeEach, expect, it } from 'vitest'
import { CallLadders, type LadderMessage, type RunLadderEntry } from './call-ladders.ts'

const FLOW = {
  id: 'flow',
  transport: 'tls',
  local: { address: '192.0.2.1', port: 5061 },
  remote: { address: '2001:db8::1', port: 40_000 },
  origin: 'accepted',
  serverName: undefined,
} as const

let ladders: CallLadders
let exported: LadderMessage[]
let kept: RunLadderEntry[]
let now: number
beforeEach(() => {
  exported = []
  kept = []
  now = 1000
  ladders = new CallLadders({ wallClock: () => now, onMessage: message => exported.push(message) })
})

function message(callId: string, text: string, direction: 'in' | 'out' = 'in'): ObservedMessage {
  return { direction, callId, flow: FLOW, text: () => text }
}

const attach = (callId: string, secrets: readonly string[] = []) =>
  ladders.attach(callId, secrets, entry => kept.push(entry))

it('the ladder of an inbound call begins with its INVITE, which arrived before the run existed', () => {
  ladders.observe(message('a', 'INVITE'))
  ladders.expect('a')
  ladders.observe(message('a', '100', 'out'))
  now = 2000
  attach('a')
  ladders.observe(message('a', '180', 'out'))
  expect(kept).toEqual([
    {
      place: 1,
      at: 1000,
      direction: 'in',
      transport: 'tls',
      source: '[2001:db8::1]:40000',
      destination: '192.0.2.1:5061',
      message: 'INVITE',
    },
    expect.objectContaining({ place: 2, at: 1000, source: '192.0.2.1:5061', message: '100' }),
    expect.objectContaining({ place: 3, at: 2000, message: '180' }),
  ])
})

it('messages of other calls, and those after the end of the run, are not in its ladder', () => {
  const detach = attach('a')
  ladders.observe(message('b', 'INVITE'))
  ladders.observe(message('a', 'INVITE', 'out'))
  detach()
  ladders.observe(message('a', 'BYE'))
  expect(kept.map(entry => entry.message)).toEqual(['INVITE'])
  expect(exported.map(entry => [entry.callId, entry.message])).toEqual([['a', 'INVITE']])
})

it('an INVITE that no trunk has sent is not kept', () => {
  ladders.observe(message('scanner', 'INVITE'))
  ladders.observe(message('a', 'INVITE'))
  ladders.expect('a')
  attach('scanner')
  expect(kept).toEqual([])
})

it('the token of a trunk is in no message', () => {
  attach('a', ['token7890'])
  ladders.observe(message('a', 'INVITE sip:token7890@parley.example SIP/2.0'))
  expect(kept.map(entry => entry.message)).toEqual(['INVITE sip:[redacted]@parley.example SIP/2.0'])
})

it('a run keeps 200 messages, says that there were more, and all are exported', () => {
  attach('a')
  for (let place = 1; place <= 300; place++) ladders.observe(message('a', `INFO ${place}`))
  expect(kept).toHaveLength(201)
  expect(kept.slice(198).map(entry => entry.message)).toEqual(['INFO 199', 'INFO 200', null])
  expect(exported).toHaveLength(300)
})

it('a run keeps at most 256 KiB of messages', () => {
  attach('a')
  for (let place = 1; place <= 20; place++) ladders.observe(message('a', 'x'.repeat(64 * 1024)))
  expect(kept.map(entry => entry.message?.length ?? null)).toEqual([65_536, 65_536, 65_536, 65_536, null])
})

it('of a flood of expected calls only the newest 64 are kept', () => {
  for (let call = 0; call < 100; call++) {
    ladders.observe(message(`call-${call}`, 'INVITE'))
    ladders.expect(`call-${call}`)
  }
  attach('call-35')
  expect(kept).toEqual([])
  attach('call-36')
  expect(kept).toHaveLength(1)
})

it('the ladder of a call that got a second Call-ID has the messages of both, and ends for both', () => {
  const detach = attach('a')
  ladders.observe(message('a', 'INVITE', 'out'))
  ladders.follow('a', 'b')
  ladders.observe(message('b', 'INVITE again', 'out'))
  ladders.observe(message('a', '200'))
  detach()
  ladders.observe(message('a', 'BYE'))
  ladders.observe(message('b', 'BYE'))
  expect(kept.map(entry => entry.message)).toEqual(['INVITE', 'INVITE again', '200'])
  expect(kept.map(entry => entry.place)).toEqual([1, 2, 3])
})
