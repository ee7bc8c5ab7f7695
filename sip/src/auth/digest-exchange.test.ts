import { SeededRandom, VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { HeaderList } from '../message/header-list.ts'
import type { SipRequest } from '../message/message.ts'
import { createResponse } from '../message/message-factory.ts'
import { serialiseUri } from '../message/uri.ts'
import { aRequest } from '../transaction/testing/machine-trace.ts'
import { DigestClient } from './digest-client.ts'
import { type DigestOutcome, DigestServer } from './digest-server.ts'

const passwordOf = (name: string) => ({ alice: 'secret' })[name]
const realm = 'test'

function bench(options: { capacity?: number; lifetimeMs?: number } = {}) {
  const time = new VirtualTime(1000)
  const server = new DigestServer(time, new SeededRandom(1), options)
  const client = new DigestClient({ username: 'alice', password: 'secret' }, new SeededRandom(2))
  const challenge = (): DigestOutcome => server.verify(aRequest(), realm, passwordOf)
  const answer = (outcome: DigestOutcome, by = client, request = aRequest(), only?: RegExp): SipRequest => {
    if (outcome.proven) throw new Error('proven')
    const lines = outcome.challenges.filter(([, value]) => only === undefined || only.test(value))
    const response = createResponse(request, 401, { headers: new HeaderList(lines) })
    const headers = by.answer(response, { method: request.method, uri: serialiseUri(request.uri) }, new Set())
    return { ...request, headers: new HeaderList(headers ?? []) }
  }
  const verify = (request: SipRequest) => server.verify(request, realm, passwordOf)
  const stale = (outcome: DigestOutcome) =>
    !outcome.proven && outcome.challenges.every(([, value]) => value.includes('stale=true'))
  return { time, server, client, challenge, answer, verify, stale }
}

describe('digest between client and server', () => {
  it('the server offers SHA-256 before MD5, and the client uses MD5 only if nothing stronger is offered', () => {
    const { challenge, answer, verify } = bench()
    const outcome = challenge()
    expect(
      outcome.proven ? [] : outcome.challenges.map(([, value]) => /algorithm=(\S+?)(,|$)/.exec(value)?.[1]),
    ).toEqual(['SHA-256', 'MD5'])
    const strong = answer(outcome)
    expect(strong.headers.get('Authorization')).toContain('algorithm=SHA-256')
    expect(verify(strong)).toEqual({ proven: true, username: 'alice' })
    const weak = answer(challenge(), undefined, undefined, /MD5/)
    expect(weak.headers.get('Authorization')).toContain('algorithm=MD5')
    expect(verify(weak)).toEqual({ proven: true, username: 'alice' })
  })

  it('a replayed nonce count is refused, and the same nonce with a higher count is accepted', () => {
    const { challenge, answer, verify, stale } = bench()
    const outcome = challenge()
    const first = answer(outcome)
    const second = answer(outcome)
    expect(verify(second).proven).toBe(true)
    expect(verify(second).proven).toBe(false)
    expect(verify(first).proven).toBe(false)
    expect(stale(verify(first))).toBe(true)
    expect(verify(answer(outcome)).proven).toBe(true)
  })

  it('a foreign nonce, a nonce for another realm and an expired nonce are refused', () => {
    const { time, challenge, answer, verify, stale, server } = bench()
    const foreign = new DigestServer(time, new SeededRandom(99)).verify(aRequest(), realm, passwordOf)
    expect(verify(answer(foreign)).proven).toBe(false)
    const other = answer(server.verify(aRequest(), 'other', passwordOf))
    const moved = other.headers.get('Authorization')!.replace('realm="other"', 'realm="test"')
    expect(verify({ ...other, headers: HeaderList.empty.with('Authorization', moved) }).proven).toBe(false)
    const late = answer(challenge())
    time.advance(60_001)
    const outcome = verify(late)
    expect(outcome.proven).toBe(false)
    expect(stale(outcome)).toBe(true)
    expect(verify(answer(outcome)).proven).toBe(true)
  })

  it('stale=true is sent only to a client that knows the password', () => {
    const { time, challenge, answer, verify, stale } = bench()
    const wrong = new DigestClient({ username: 'alice', password: 'guess' }, new SeededRandom(3))
    const nobody = new DigestClient({ username: 'nobody', password: '' }, new SeededRandom(3))
    const outcome = challenge()
    const guesses = [answer(outcome, wrong), answer(outcome, nobody)]
    expect(guesses.map(guess => stale(verify(guess)))).toEqual([false, false])
    time.advance(60_001)
    expect(guesses.map(guess => stale(verify(guess)))).toEqual([false, false])
  })

  it('credentials for another method or another resource are refused', () => {
    const { challenge, answer, verify } = bench()
    const proven = answer(challenge())
    expect(verify({ ...proven, method: 'BYE' }).proven).toBe(false)
    const elsewhere = { ...aRequest().uri, host: 'elsewhere' } as SipRequest['uri']
    expect(verify({ ...proven, uri: elsewhere }).proven).toBe(false)
    expect(verify(proven).proven).toBe(true)
  })

  it('a client without qop is accepted once per nonce', () => {
    const { challenge, answer, verify } = bench()
    const outcome = challenge()
    if (outcome.proven) throw new Error('proven')
    const bare = outcome.challenges.map(([name, value]) => [name, value.replace(', qop="auth"', '')] as const)
    const old = answer({ proven: false, challenges: bare }, undefined, undefined, /MD5/)
    expect(old.headers.get('Authorization')).not.toContain('qop')
    expect(verify(old).proven).toBe(true)
    expect(verify(old).proven).toBe(false)
  })

  it('the number of remembered nonces is limited, and an evicted nonce is stale', () => {
    const { time, challenge, answer, verify, stale } = bench({ capacity: 5 })
    const challenges = Array.from({ length: 20 }, () => {
      time.advance(10)
      const outcome = challenge()
      expect(verify(answer(outcome)).proven).toBe(true)
      return outcome
    })
    // The next nonce count of each: only the five newest nonces are remembered.
    const again = challenges.map(outcome => verify(answer(outcome)))
    expect(again.map(({ proven }) => proven)).toEqual([...Array(15).fill(false), ...Array(5).fill(true)])
    expect(again.slice(0, 15).map(stale)).toEqual(Array(15).fill(true))
  })

  it('malformed credentials of any shape are refused without an exception', () => {
    const { verify, answer, challenge } = bench()
    const good = answer(challenge()).headers.get('Authorization')!
    const bad = [
      '',
      'Digest',
      'Basic YTpi',
      'Digest nonce',
      good.replace(/nc=\w+/, 'nc=zz'),
      good.replace(/nc=\w+/, 'nc=0'),
      good.replace(/qop=auth/, 'qop=auth-int'),
      good.replace(/response="\w+"/, 'response=""'),
      good.replace(/nonce="[^"]*"/, 'nonce="...."'),
      good.replace(/algorithm=SHA-256/, 'algorithm=MD5-sess'),
      good.replace(/uri="[^"]*"/, 'uri="::"'),
    ]
    for (const value of bad) {
      expect(verify({ ...aRequest(), headers: HeaderList.empty.with('Authorization', value) }).proven, value).toBe(
        false,
      )
    }
  })
})

describe('digest client', () => {
  const client = () => new DigestClient({ username: 'alice', password: 'secret' }, new SeededRandom(2))
  const challengedBy = (...lines: string[]) =>
    createResponse(aRequest(), 401, { headers: new HeaderList(lines.map(line => ['WWW-Authenticate', line] as const)) })
  const request = { method: 'INVITE', uri: 'sip:b@x' }

  it('the client answers the strongest supported challenge of each realm', () => {
    const answers = client().answer(
      challengedBy(
        'Digest realm="a", nonce="1", algorithm=MD5',
        'Digest realm="a", nonce="2", algorithm=SHA-256, qop="auth,auth-int"',
        'Digest realm="b", nonce="3", opaque="o"',
        'Digest realm="c", nonce="4", algorithm=SHA-512-256',
        'Digest realm="d", nonce="5", qop="auth-int"',
        'Bearer realm="e"',
      ),
      request,
      new Set(),
    )
    const lines = answers?.map(([, value]) => value) ?? []
    expect(lines.map(line => /nonce="(\d)"/.exec(line)?.[1])).toEqual(['2', '3'])
    expect(lines[0]).toMatch(/qop=auth, nc=00000001/)
    expect(lines[1]).toContain('opaque="o"')
    expect(lines[1]).not.toMatch(/qop|cnonce|algorithm/)
  })

  it('the client does not answer a malformed challenge or one that it already answered', () => {
    const answered = new Set<string>()
    expect(client().answer(challengedBy('Digest realm="a", nonce="1"'), request, answered)).toBeDefined()
    expect(client().answer(challengedBy('Digest realm="a", nonce="1"'), request, answered)).toBeUndefined()
    expect(client().answer(challengedBy('Digest realm="a", nonce="2"'), request, answered)).toBeUndefined()
    expect(client().answer(challengedBy('Digest realm="a", nonce="3", stale=TRUE'), request, answered)).toBeDefined()
    expect(client().answer(challengedBy('Basic realm="a"'), request, new Set())).toBeUndefined()
    expect(client().answer(challengedBy(), request, new Set())).toBeUndefined()
  })
})
