import { createHash } from 'node:crypto'
import { SeededRandom, VirtualTime } from '@parley/kernel'
import { parseDatagram, type SipRequest } from '@parley/sip'
import { parseChallenges } from '@parley/sip/testing'
import { describe, expect, it } from 'vitest'
import { DigestGate, digestAccount, type GateOutcome } from './digest-gate.ts'

const time = new VirtualTime()
const account = digestAccount.parse({ realm: 'r', username: 'u', password: 'p' })

function invite(credentials = ''): SipRequest {
  const lines = [
    'INVITE sip:+1@carrier SIP/2.0',
    'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1',
    'From: <sip:a@b>;tag=1',
    'To: <sip:+1@carrier>',
    'Call-ID: c',
    'CSeq: 1 INVITE',
    ...(credentials === '' ? [] : [`Proxy-Authorization: ${credentials}`]),
  ]
  const parsed = parseDatagram(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`))
  if (!parsed.ok || parsed.message.kind !== 'request') throw new Error('the INVITE cannot be read')
  return parsed.message
}

function nonceOf(outcome: GateOutcome): string {
  const line = outcome.proven ? '' : outcome.response.headers.get('Proxy-Authenticate')!
  return parseChallenges(line)![0]!.params.get('nonce')!
}

function proof(nonce: string, changes: { readonly uri?: string; readonly nc?: string } = {}): string {
  const { uri = 'sip:+1@carrier', nc = '00000001' } = changes
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  const response = md5(`${md5('u:r:p')}:${nonce}:${nc}:abc:auth:${md5(`INVITE:${uri}`)}`)
  return `Digest username="u", realm="r", nonce="${nonce}", uri="${uri}", cnonce="abc", nc=${nc}, qop=auth, response="${response}"`
}

const verdict = (outcome: GateOutcome) => (outcome.proven ? 'proven' : outcome.why)

describe('the digest check of a carrier', () => {
  it('each nonce count is accepted once', () => {
    const gate = new DigestGate(account, time, new SeededRandom(1))
    const nonce = nonceOf(gate.check(invite()))
    expect(verdict(gate.check(invite(proof(nonce))))).toBe('proven')
    expect(verdict(gate.check(invite(proof(nonce))))).toBe('stale')
    expect(verdict(gate.check(invite(proof(nonce, { nc: '00000002' }))))).toBe('proven')
  })

  it('an expired or foreign nonce with the right password gets stale=true', () => {
    const gate = new DigestGate(account, time, new SeededRandom(1))
    const foreign = nonceOf(new DigestGate(account, time, new SeededRandom(2)).check(invite()))
    expect(verdict(gate.check(invite(proof(foreign))))).toBe('stale')
    const nonce = nonceOf(gate.check(invite()))
    time.advance(30_001)
    const outcome = gate.check(invite(proof(nonce)))
    expect(verdict(outcome)).toBe('stale')
    expect(verdict(gate.check(invite(proof(nonceOf(outcome)))))).toBe('proven')
  })

  it('credentials for another URI are accepted only if the options allow it', () => {
    const strict = new DigestGate(account, time, new SeededRandom(1))
    const elsewhere = (gate: DigestGate) => proof(nonceOf(gate.check(invite())), { uri: 'sip:carrier' })
    expect(verdict(strict.check(invite(elsewhere(strict))))).toBe('wrong')
    const lax = new DigestGate({ ...account, matchUri: false }, time, new SeededRandom(1))
    expect(verdict(lax.check(invite(elsewhere(lax))))).toBe('proven')
  })

  it('malformed credentials are refused', () => {
    const gate = new DigestGate(account, time, new SeededRandom(1))
    for (const line of [
      'Digest',
      'Basic dTpw',
      'Digest realm="r"',
      'Digest realm="r", nonce="..", response="\u00e9"',
    ]) {
      expect(verdict(gate.check(invite(line)))).toBe('wrong')
    }
  })
})
