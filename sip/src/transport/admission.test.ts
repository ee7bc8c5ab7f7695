import { describe, expect, it } from 'vitest'
import { Admission } from './admission.ts'

describe('admission of connections', () => {
  it('connections are limited in total, per peer and in TLS handshake, and a closed connection frees its place', () => {
    const admission = new Admission({ maxAccepted: 3, maxPerPeer: 2, maxHandshakes: 2, maxHandshakesPerPeer: 2 })
    const first = admission.admit('192.0.2.1', true)!
    const second = admission.admit('192.0.2.1', true)!
    expect(admission.admit('192.0.2.2', true)).toBeUndefined()
    first.handshakeDone()
    expect(admission.admit('192.0.2.1', false)).toBeUndefined()
    expect(admission.admit('192.0.2.2', true)).toBeDefined()
    expect(admission.admit('192.0.2.3', false)).toBeUndefined()
    second.release()
    second.release()
    expect(admission).toMatchObject({ accepted: 2, handshakes: 1, refused: 3 })
    expect(admission.admit('192.0.2.1', false)).toBeDefined()
  })

  it('one peer cannot occupy all places for handshakes', () => {
    const admission = new Admission({ maxAccepted: 100, maxPerPeer: 50, maxHandshakes: 6, maxHandshakesPerPeer: 2 })
    const first = admission.admit('192.0.2.1', true)!
    expect(admission.admit('192.0.2.1', true)).toBeDefined()
    expect(admission.admit('192.0.2.1', true)).toBeUndefined()
    expect(admission.admit('192.0.2.1', false)).toBeDefined()
    expect(admission.admit('192.0.2.2', true)).toBeDefined()
    first.handshakeDone()
    expect(admission.admit('192.0.2.1', true)).toBeDefined()
    expect(admission.admit('192.0.2.1', true)).toBeUndefined()
  })

  it('all addresses of one IPv6 /64 count as one peer', () => {
    const admission = new Admission({ maxAccepted: 10, maxPerPeer: 1, maxHandshakes: 10, maxHandshakesPerPeer: 10 })
    expect(admission.admit('2001:db8:1:2::1', false)).toBeDefined()
    expect(admission.admit('2001:db8:1:2:ffff::9', false)).toBeUndefined()
    expect(admission.admit('2001:db8:1:3::1', false)).toBeDefined()
    expect(admission.admit('::ffff:192.0.2.1', false)).toBeDefined()
    expect(admission.admit('192.0.2.1', false)).toBeUndefined()
  })
})
