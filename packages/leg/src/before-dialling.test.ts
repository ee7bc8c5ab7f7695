import type { InviteAttempt } from '@parley/sip'
import { expect, it } from 'vitest'
import { VirtualLine } from './virtual-line.ts'

it('no INVITE is sent before its attempt is stored; then the call goes on', async () => {
  const line = new VirtualLine()
  const stored: InviteAttempt[] = []
  const storing = Promise.withResolvers<void>()
  const leg = await line.dial({
    beforeAttempt: attempt => {
      stored.push(attempt)
      return storing.promise
    },
  })
  await line.pass(5000)
  expect(line.signalling.passed).toEqual([])
  expect(leg.state).toBe('dialing')
  storing.resolve()
  await line.pass(1000)
  expect(stored).toMatchObject([{ callId: leg.callId, requestUri: 'sip:bob@192.0.2.2;transport=tls' }])
  expect(leg.state).toBe('active')
  leg.hangUp()
  await line.pass(1000)
  expect(line.a.end).toMatchObject({ cause: 'bye', inviteSent: true })
  expect(line.b.end).toMatchObject({ cause: 'bye', inviteSent: false })
})

it('an attempt that cannot be stored sends no INVITE and frees its port', async () => {
  const line = new VirtualLine()
  await line.dial({ beforeAttempt: () => Promise.reject(new Error('the run is lost')) })
  await line.pass(60_000)
  expect(line.signalling.passed).toEqual([])
  expect(line.a.end).toMatchObject({
    cause: 'withheld',
    answered: false,
    by: 'local',
    sipStatus: null,
    inviteSent: false,
  })
  expect(line.a.end!.detail).toContain('the run is lost')
  expect(line.a.context.media.describe()).toContain('0 leased')
})

it('a call that is hung up while its attempt is stored sends no INVITE', async () => {
  const line = new VirtualLine()
  const storing = Promise.withResolvers<void>()
  const leg = await line.dial({ beforeAttempt: () => storing.promise })
  await line.pass(100)
  leg.hangUp()
  await line.pass(100)
  expect(line.a.end).toMatchObject({ cause: 'cancelled', inviteSent: false, confirmed: true })
  storing.resolve()
  await line.pass(60_000)
  expect(line.signalling.passed).toEqual([])
})

it('the dialog is available outbound once answered, inbound before the answer is sent', async () => {
  const line = new VirtualLine()
  line.onOffer = leg => leg.ring()
  await line.dial()
  await line.pass(1000)
  const [caller, callee] = [line.a.leg!, line.b.leg!]
  expect(caller.dialog).toBeNull()
  const before = callee.dialog!
  expect(before).toMatchObject({ callId: callee.callId, remoteTarget: expect.stringContaining('192.0.2.1') })
  callee.answer()
  await line.pass(1000)
  expect(callee.dialog).toEqual(before)
  expect(caller.dialog).toMatchObject({
    callId: before.callId,
    localTag: before.remoteTag,
    remoteTag: before.localTag,
  })
  // A process that has only the stored dialog ends the call.
  expect(await afterASecond(line, line.b.context.userAgent.bye(JSON.parse(JSON.stringify(before))))).toMatchObject({
    confirmed: true,
    status: 200,
  })
  expect(line.a.end).toMatchObject({ cause: 'bye', by: 'remote' })
})

async function afterASecond<Outcome>(line: VirtualLine, outcome: Promise<Outcome>): Promise<Outcome> {
  await line.pass(1000)
  return outcome
}
