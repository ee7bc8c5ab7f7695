import { describe, expect, it } from 'vitest'
import { CarrierLine } from './carrier-line.fixture.ts'
import type { DigestAccount } from './digest-gate.ts'
import type { NumberRuleInput } from './number-plan.ts'

const NUMBER = 'sip:+15550001@192.0.2.2;transport=udp'
const ACCOUNT: DigestAccount = {
  realm: 'carrier.test',
  username: 'engine',
  password: 'secret',
  status: 407,
  algorithm: 'MD5',
  nonceLifetimeMs: 30_000,
  matchUri: true,
  staleFirst: false,
}
const { username, password } = ACCOUNT

function lineWith(behaviour: NumberRuleInput['behaviour'], ringAfterMs: number | null = 0): CarrierLine {
  return new CarrierLine({ numbers: [{ number: '+1555*', ringAfterMs, behaviour }] })
}

describe('a call to a number that answers', () => {
  it('a call rings, is answered, receives media and ends with the BYE of the caller', async () => {
    const line = lineWith({ do: 'answer', afterMs: 1000 })
    const call = await line.caller.call({ uri: NUMBER, from: '+15559', headers: [['X-Parley-Run', 'run-1']] })
    await line.pass(5000)
    call.hangUp()
    await line.pass(1000)
    expect(line.kinds).toEqual([
      'invite',
      'ringing',
      'answered',
      'acknowledged',
      'media-first-packet',
      'bye-received',
      'ended',
      'media-last-packet',
    ])
    const [recorded] = line.carrier.ledger.query().calls()
    expect(recorded?.opening).toMatchObject({
      called: '+15550001',
      headers: { 'x-parley-run': 'run-1' },
      authenticated: false,
    })
    expect(recorded!.answeredAt! - recorded!.invitedAt!).toBeGreaterThanOrEqual(1000)
    expect(line.carrier.liveCalls).toBe(0)
  })

  it('the caller receives the media of the carrier', async () => {
    const line = lineWith({ do: 'answer', hangUpAfterMs: 2000 })
    await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(4000)
    const kinds = line.caller.ledger.entries.map(row => row.kind)
    expect(kinds).toContain('media-first-packet')
    expect(kinds).toContain('bye-received')
    expect(line.kinds).toContain('bye-sent')
  })

  it('the carrier hangs up and sends a REFER at the times of the rule', async () => {
    const line = lineWith({ do: 'answer', refer: { to: 'sip:+1777@192.0.2.9', afterMs: 500 } })
    await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(3000)
    expect(line.network.passed.some(({ text }) => text.startsWith('REFER ') && text.includes('+1777'))).toBe(true)
    expect(line.kinds).toContain('bye-sent')
  })

  it('a rule can leave every BYE unanswered', async () => {
    const line = lineWith({ do: 'answer', byes: 'unanswered' })
    const call = await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(2000)
    call.hangUp()
    await line.pass(40_000)
    expect(line.network.passed.some(({ text }) => /^SIP\/2.0 200[\s\S]*CSeq: \d+ BYE/.test(text))).toBe(false)
    expect(line.kinds).toContain('bye-received')
    expect(line.kinds).not.toContain('ended')
    expect(line.caller.ledger.entries.find(row => row.kind === 'ended')?.detail).toMatch(/^unconfirmed/)
  })

  it('the ledger records that the media of a caller stopped during the call', async () => {
    const line = lineWith({ do: 'answer' })
    await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(3000)
    const stoppedAt = line.carrier.now()
    await line.callerPlane.close()
    await line.pass(6000)
    const ledger = line.carrier.ledger.query()
    expect(ledger.deadAir(5000, line.carrier.now())).toHaveLength(1)
    expect(ledger.deadAir(5000, stoppedAt + 4000)).toHaveLength(0)
    const last = line.carrier.ledger.entries.at(-1)
    expect(last?.kind).toBe('media-last-packet')
    expect(Math.abs(last!.at_ms - stoppedAt)).toBeLessThan(100)
    expect(ledger.withoutBye(5000, line.carrier.now())).toHaveLength(1)
  })

  it('a BYE for another dialog does not end the call', async () => {
    const line = lineWith({ do: 'answer' })
    await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(1000)
    const ack = line.network.passed.find(({ text }) => text.startsWith('ACK '))!.text
    const stranger = line.network.element({ address: '192.0.2.3' })
    const bye = ack
      .replaceAll('ACK', 'BYE')
      .replace(/CSeq: \d+/, 'CSeq: 9')
      .replace(/^(To: .*;tag=).*$/m, '$1guessed')
      .replaceAll(/branch=[^;\s]+/g, 'branch=z9hG4bKother')
    const target = { transport: 'udp', address: '192.0.2.2', port: 5060, serverName: '192.0.2.2' } as const
    stranger.onInput(() => {})
    stranger.submit({ type: 'send', sendId: 1, to: { target }, bytes: Buffer.from(bye) })
    await line.pass(1000)
    expect(line.network.passed.some(({ text }) => text.startsWith('SIP/2.0 481'))).toBe(true)
    expect(line.kinds).not.toContain('bye-received')
    expect(line.carrier.ledger.query().liveAt(line.carrier.now())).toHaveLength(1)
  })

  it('a carrier that requires SRTP refuses plain RTP', async () => {
    const secure = new CarrierLine({ security: 'srtp-required' })
    await secure.caller.call({ uri: NUMBER, from: '+15559' })
    await secure.pass(1000)
    expect(secure.kinds).toContain('media-first-packet')
  })
})

describe('a call that is not answered', () => {
  it.each([486, 603, 503, 404])('a call is refused with %i', async status => {
    const line = lineWith({ do: 'refuse', status })
    await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(1000)
    expect(line.kinds).toEqual(['invite', 'ringing', 'refused', 'ended'])
    expect(line.carrier.ledger.entries[2]?.status).toBe(status)
  })

  it('a call to an unknown number gets 404', async () => {
    const line = lineWith({ do: 'answer' })
    await line.caller.call({ uri: 'sip:+44@192.0.2.2;transport=udp', from: '+15559' })
    await line.pass(1000)
    expect(line.carrier.ledger.entries.find(row => row.kind === 'refused')?.status).toBe(404)
  })

  it('a call is redirected by a 302 with its Contact', async () => {
    const line = lineWith({ do: 'redirect', contact: 'sip:+1888@192.0.2.77' })
    await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(1000)
    const moved = line.network.passed.find(({ text }) => text.startsWith('SIP/2.0 302'))
    expect(moved?.text).toContain('Contact: <sip:+1888@192.0.2.77>')
  })

  it('a call rings until the caller cancels', async () => {
    const line = lineWith({ do: 'ring' })
    const call = await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(2000)
    call.hangUp()
    await line.pass(1000)
    expect(line.kinds).toEqual(['invite', 'ringing', 'cancel', 'refused', 'ended'])
  })

  it('a number that ignores calls sends no response, and its calls do not stay live for ever', async () => {
    const line = lineWith({ do: 'ignore' })
    await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(40_000)
    expect(line.network.passed.every(({ text }) => text.startsWith('INVITE'))).toBe(true)
    expect(line.kinds).toEqual(['invite', 'ended'])
  })
})

describe('digest', () => {
  it.each([401, 407] as const)('a caller with the right password is accepted after a %i', async status => {
    const line = new CarrierLine({ digest: { ...ACCOUNT, status } })
    await line.caller.call({ uri: NUMBER, from: '+15559', credentials: { username, password } })
    await line.pass(1000)
    expect(line.kinds.slice(0, 4)).toEqual(['challenged', 'invite', 'ringing', 'answered'])
    expect(line.carrier.ledger.entries[1]?.authenticated).toBe(true)
    expect(line.carrier.ledger.query().calls()).toHaveLength(1)
  })

  it('credentials with SHA-256 are accepted', async () => {
    const line = new CarrierLine({ digest: { ...ACCOUNT, algorithm: 'SHA-256' } })
    await line.caller.call({ uri: NUMBER, from: '+15559', credentials: { username, password } })
    await line.pass(1000)
    expect(line.kinds).toContain('answered')
  })

  it('a second challenge has stale=true, and its answer is accepted', async () => {
    const line = new CarrierLine({ digest: { ...ACCOUNT, staleFirst: true } })
    await line.caller.call({ uri: NUMBER, from: '+15559', credentials: { username, password } })
    await line.pass(2000)
    expect(line.kinds.slice(0, 3)).toEqual(['challenged', 'challenged', 'invite'])
    expect(line.network.passed.some(({ text }) => text.includes('stale=true'))).toBe(true)
  })

  it('a caller with a wrong password or none is refused', async () => {
    const line = new CarrierLine({ digest: ACCOUNT })
    await line.caller.call({ uri: NUMBER, from: '+15559', credentials: { username, password: 'guess' } })
    await line.caller.call({ uri: NUMBER, from: '+15558' })
    await line.pass(2000)
    expect(new Set(line.kinds)).toEqual(new Set(['challenged']))
    expect(line.carrier.ledger.query().maxConcurrent().calls).toBe(0)
  })

  it('calls succeed over a network that loses a third of all datagrams', async () => {
    const line = new CarrierLine({ digest: ACCOUNT })
    line.network.loss = 0.33
    for (let i = 0; i < 20; i++) {
      await line.caller.call({
        uri: NUMBER,
        from: `+1555${i}`,
        credentials: { username, password },
        hangUpAfterMs: 5000,
      })
    }
    await line.pass(60_000)
    line.network.loss = 0
    await line.pass(60_000)
    const calls = line.carrier.ledger.query().calls()
    expect(calls).toHaveLength(20)
    expect(
      calls.every(call => call.invitedAt !== null && call.rows.filter(row => row.kind === 'invite').length === 1),
    ).toBe(true)
    expect(line.carrier.liveCalls).toBe(0)
  })
})

describe('a call from the carrier', () => {
  it('a call from the carrier is recorded as such and not counted as a call of the engine', async () => {
    const line = new CarrierLine()
    await line.carrier.call({
      uri: 'sip:token123@192.0.2.1;transport=tcp',
      from: '+4930',
      called: '+15551',
      headers: [['X-Parley-Run', 'r']],
      hangUpAfterMs: 1000,
    })
    await line.pass(3000)
    expect(line.kinds).toEqual([
      'invite',
      'ringing',
      'answered',
      'acknowledged',
      'media-first-packet',
      'bye-sent',
      'ended',
      'media-last-packet',
    ])
    expect(line.carrier.ledger.entries[0]).toMatchObject({
      direction: 'from-carrier',
      to: 'sip:+15551@192.0.2.1',
      called: 'token123',
    })
    expect(line.carrier.ledger.query().calls()).toHaveLength(0)
    expect(line.carrier.ledger.query().calls(() => true)).toHaveLength(1)
  })

  it('an invalid address is rejected', async () => {
    await expect(new CarrierLine().carrier.call({ uri: 'tel:+1', from: '1' })).rejects.toMatchObject({
      code: 'bad_uri',
    })
  })
})
