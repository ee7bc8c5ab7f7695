import { expect, it } from 'vitest'
import { trunkHop } from './trunk-address.ts'

it('requests to a trunk lead only to addresses that the platform permits, because a tenant names its host', () => {
  expect(trunkHop('sbc.example.com', {})).toEqual({
    host: 'sbc.example.com',
    port: undefined,
    transport: 'tls',
    serverName: undefined,
    isRestricted: true,
  })
})
