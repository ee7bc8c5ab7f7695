import { isInNetworks } from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { readClientSettings, readSettings, SettingsError, unknownSettings } from './environment.ts'
import { overridesOf } from './resolve-entries.ts'

const read = (variables: Record<string, string>) => readSettings(variables)

describe('PARLEY_RESOLVE', () => {
  it('PARLEY_RESOLVE accepts names, ports, transports, CA files and several targets per name in order', () => {
    const { resolve } = read({
      PARLEY_RESOLVE:
        'Trunk.example.=127.0.0.1:5071;tls;/etc/a b.pem, trunk.example=sbc.example, six.example=[::1]:5060;UDP ,ca.example=192.0.2.1;;/ca.pem,',
    })
    expect(resolve.map(({ name, caFile }) => [name, caFile])).toEqual([
      ['trunk.example', '/etc/a b.pem'],
      ['trunk.example', null],
      ['six.example', null],
      ['ca.example', '/ca.pem'],
    ])
    expect(Object.fromEntries(overridesOf(resolve))).toEqual({
      'trunk.example': [{ host: '127.0.0.1', port: 5071, transport: 'tls' }, { host: 'sbc.example' }],
      'six.example': [{ host: '::1', port: 5060, transport: 'udp' }],
      'ca.example': [{ host: '192.0.2.1' }],
    })
    expect(read({}).resolve).toEqual([])
  })

  it.each([
    'trunk.example',
    '=127.0.0.1',
    'a b=127.0.0.1',
    'a=127.0.0.1:0',
    'a=127.0.0.1:70000',
    'a=h:5060;sctp',
    'a=h;tcp x',
  ])('PARLEY_RESOLVE with the invalid entry "%s" is refused, and the error names the entry', entry => {
    expect(() => read({ PARLEY_RESOLVE: `ok.example=127.0.0.1,${entry}` })).toThrow(SettingsError)
    expect(() => read({ PARLEY_RESOLVE: entry })).toThrow(`PARLEY_RESOLVE: "${entry}"`)
  })
})

describe('the addresses that SIP and SDP advertise', () => {
  it('the advertised addresses are the bound ones unless others are set', () => {
    expect(read({})).toMatchObject({ sipHost: null, rtpBind: '127.0.0.1', localNetworks: [] })
    const settings = read({
      PARLEY_SIP_BIND: '10.0.0.5',
      PARLEY_SIP_HOST: 'engine-1.example',
      PARLEY_MEDIA_ADDRESS: '203.0.113.9',
      PARLEY_LOCAL_NETS: '10.0.0.0/8, fd00::/8',
    })
    expect(settings).toMatchObject({ sipHost: 'engine-1.example', rtpBind: '10.0.0.5', mediaAddress: '203.0.113.9' })
    expect(isInNetworks('fd12::1', settings.localNetworks)).toBe(true)
  })

  it('the address 0.0.0.0 is never advertised to peers', () => {
    const everywhere = { PARLEY_SIP_BIND: '0.0.0.0' }
    expect(() => read(everywhere)).toThrow('PARLEY_MEDIA_ADDRESS')
    expect(read({ ...everywhere, PARLEY_MEDIA_ADDRESS: '203.0.113.9' }).sipHost).toBe('localhost')
    const both = { ...everywhere, PARLEY_MEDIA_ADDRESS: '203.0.113.9', PARLEY_LOCAL_NETS: '10.0.0.0/8' }
    expect(() => read(both)).toThrow('PARLEY_LOCAL_NETS')
  })

  it.each([
    ['PARLEY_SIP_HOST', 'a b'],
    ['PARLEY_SIP_HOST', 'evil\r\nContact: x'],
    ['PARLEY_MEDIA_ADDRESS', 'nat.example'],
    ['PARLEY_LOCAL_NETS', '10.0.0.1/8'],
  ])('an invalid %s ("%s") is refused, and the error names the variable', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(name)
  })
})

describe('PARLEY_LEASE_MS', () => {
  it('the lease is 9 s by default and can be 300 ms to 10 min', () => {
    expect(read({}).leaseMs).toBe(9000)
    for (const leaseMs of [300, 600_000]) expect(read({ PARLEY_LEASE_MS: String(leaseMs) }).leaseMs).toBe(leaseMs)
  })

  it.each(['299', '600001', '9000.5', '0', '-9000', '9s'])('PARLEY_LEASE_MS=%s is refused', value => {
    expect(() => read({ PARLEY_LEASE_MS: value })).toThrow('PARLEY_LEASE_MS')
  })
})

describe('TURN servers of web calls', () => {
  const turn = { PARLEY_TURN_URLS: 'turn:turn.example, turns:turn.example:443', PARLEY_TURN_SECRET: 'shared-secret' }

  it('there are no TURN servers by default; with a secret, browsers use them, and the engine does if it is set to', () => {
    expect(read({}).webRelay).toBe(null)
    const { urls, engine } = read(turn).webRelay!
    expect([urls, engine]).toEqual([['turn:turn.example', 'turns:turn.example:443'], 'no'])
    expect(read({ ...turn, PARLEY_TURN_ENGINE: 'only' }).webRelay?.engine).toBe('only')
    expect(read({ PARLEY_TURN_URLS: 'stun:stun.example' }).webRelay?.urls).toEqual(['stun:stun.example'])
  })

  it('values that do not fit each other are refused, and the error says what to set', () => {
    expect(() => read({ PARLEY_TURN_URLS: 'turn:turn.example' })).toThrow('PARLEY_TURN_SECRET: set it')
    expect(() => read({ PARLEY_TURN_SECRET: 'shared-secret' })).toThrow('name them in PARLEY_TURN_URLS')
    expect(() => read({ ...turn, PARLEY_TURN_URLS: 'https://turn.example' })).toThrow('"https://turn.example" must be')
    expect(() => read({ ...turn, PARLEY_TURN_URLS: 'turns:turn.example', PARLEY_TURN_ENGINE: 'also' })).toThrow(
      'TURN over UDP',
    )
    expect(() => read({ ...turn, PARLEY_TURN_ENGINE: 'yes' })).toThrow('no, also or only')
    expect(() => read({ ...turn, PARLEY_TURN_URLS: Array(9).fill('turn:a').join() })).toThrow('at most 8')
  })
})

describe('PARLEY_SPOOL_MIB', () => {
  it('the recording spool is 8 GiB by default and can be set', () => {
    expect(read({}).spoolBytes).toBe(8 * 1024 ** 3)
    expect(read({ PARLEY_SPOOL_MIB: '1' }).spoolBytes).toBe(1024 ** 2)
  })

  it('PARLEY_KNOWLEDGE_MIB is 1024 by default and at least 16', () => {
    expect(read({}).knowledgeMiB).toBe(1024)
    expect(read({ PARLEY_KNOWLEDGE_MIB: '16' }).knowledgeMiB).toBe(16)
    expect(() => read({ PARLEY_KNOWLEDGE_MIB: '15' })).toThrow('PARLEY_KNOWLEDGE_MIB')
  })

  it.each(['0', '-1', '0.5', '8G', ''])('PARLEY_SPOOL_MIB="%s" is refused', value => {
    expect(() => read({ PARLEY_SPOOL_MIB: value })).toThrow('PARLEY_SPOOL_MIB')
  })
})

describe('PARLEY_HEP', () => {
  it('SIP messages are exported nowhere by default, else to a host and port', () => {
    expect(read({}).captureServer).toBeNull()
    expect(read({ PARLEY_HEP: 'homer.example:9060' }).captureServer).toEqual({ host: 'homer.example', port: 9060 })
    expect(read({ PARLEY_HEP: '[2001:db8::1]:9060' }).captureServer).toEqual({ host: '2001:db8::1', port: 9060 })
  })

  it.each(['homer.example', ':9060', 'homer.example:0', 'homer.example:70000', 'udp:homer:9060', ''])(
    'PARLEY_HEP="%s" is refused',
    value => {
      expect(() => read({ PARLEY_HEP: value })).toThrow('PARLEY_HEP: must be HOST:PORT')
    },
  )
})

describe('an invalid setting', () => {
  it.each([
    ['PARLEY_HTTP_PORT', 'abc', 'PARLEY_HTTP_PORT: must be a port (0: any free one): a whole number, 0 to 65535'],
    ['PARLEY_SIP_PORT', '99999', 'PARLEY_SIP_PORT: must be a port (0: any free one): a whole number, 0 to 65535'],
    ['PARLEY_SIP_TLS_PORT', '', 'PARLEY_SIP_TLS_PORT: must be a port'],
    ['PARLEY_DRAIN_MS', '-1', 'PARLEY_DRAIN_MS: must be milliseconds: a whole number, 0 to 86400000'],
    ['PARLEY_SIP_BIND', '1.2.3', 'PARLEY_SIP_BIND: must be an IPv4 address, such as 10.0.0.5'],
    ['PARLEY_PUBLIC_URL', 'foo', 'PARLEY_PUBLIC_URL: must be an address such as https://host.example'],
    [
      'DATABASE_URL',
      'mysql://u:p@h/d',
      'DATABASE_URL: must be an address such as postgres://owner:password@host:5432/database',
    ],
    ['REDIS_URL', 'localhost', 'REDIS_URL: must be an address such as redis://host:6379'],
    ['DEEPGRAM_BASE_URL', 'https://x', 'DEEPGRAM_BASE_URL: must be an address such as wss://host.example'],
    ['PARLEY_MEDIA_LATENESS_MS', '0', 'PARLEY_MEDIA_LATENESS_MS: must be milliseconds: a whole number, 1 to 10000'],
    ['PARLEY_PACKET_IO', 'fast', 'PARLEY_PACKET_IO: must be native or portable'],
  ])('%s=%s is refused, and the error says which values are valid', (name, value, message) => {
    expect(() => read({ [name]: value })).toThrow(message)
  })
})

describe('PARLEY_API', () => {
  it.each([
    'http://127.0.0.1:8080',
    'http://127.0.0.1:8080/',
    'http://127.0.0.1:8080/api/v1',
    'http://127.0.0.1:8080/api/v1/',
  ])('PARLEY_API accepts the base URL with or without /api/v1: %s', url => {
    expect(readClientSettings({ PARLEY_API: url }).api).toBe('http://127.0.0.1:8080')
  })
})

it('an unknown variable with the prefix PARLEY_ is reported', () => {
  const environment = { PARLEY_HTTPPORT: '1', PARLEY_HTTP_PORT: '1', PARLEY_KEY: 'k', PARLEY_DEBUG: '', PATH: '/bin' }
  expect(unknownSettings(environment)).toEqual(['PARLEY_HTTPPORT'])
})
