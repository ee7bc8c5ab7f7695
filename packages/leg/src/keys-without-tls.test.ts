import { parseUri, type SipUri } from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { VirtualLine } from './virtual-line.ts'

const uriOver = (transport: string) => parseUri(`sip:bob@192.0.2.2;transport=${transport}`) as SipUri

describe.each(['udp', 'tcp'])('SRTP keys in SDP over %s (RFC 4568 section 8.3)', transport => {
  it('a call to a leg that requires SRTP gets 488 with a Warning and allocates no port', async () => {
    const line = new VirtualLine()
    await line.dial({ uri: uriOver(transport), security: 'srtp-without-tls' })
    await line.pass(1000)
    expect(line.a.end).toMatchObject({ answered: false, by: 'remote', cause: 'rejected', sipStatus: 488 })
    expect(line.signalling.passed.some(({ text }) => /Warning: 399 parley "SRTP .* TLS"/.test(text))).toBe(true)
    expect(line.b.context.media.describe()).toContain('0 leased')
  })

  it('a call is connected with SRTP when both sides allow it on purpose', async () => {
    const line = new VirtualLine({ answering: { security: 'srtp-without-tls' } })
    await line.dial({ uri: uriOver(transport), security: 'srtp-without-tls' })
    await line.pass(1000)
    expect(line.a.leg!.transport).toEqual({ signalling: transport, media: 'srtp' })
    expect(line.b.leg!.state).toBe('active')
  })

  it('a leg that requires SRTP is not dialled, and allocates no port', async () => {
    const line = new VirtualLine()
    await expect(line.dial({ uri: uriOver(transport) })).rejects.toMatchObject({ code: 'srtp_needs_tls' })
    expect(line.signalling.passed).toEqual([])
    expect(line.a.context.media.describe()).toContain('0 leased')
  })
})

it('a leg that requires SRTP is not dialled when the DNS would choose the transport', async () => {
  const line = new VirtualLine()
  const uri = parseUri('sip:bob@192.0.2.2') as SipUri
  await expect(line.dial({ uri })).rejects.toMatchObject({ code: 'srtp_needs_tls' })
  const nextHop = { host: '192.0.2.2', port: undefined, transport: 'tls', serverName: undefined } as const
  await line.dial({ uri, nextHop })
  await line.pass(1000)
  expect(line.a.leg!.state).toBe('active')
})
