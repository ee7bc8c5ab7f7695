import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { ScriptedDns } from './dns.fixture.ts'
import { ServerLocator } from './server-location.ts'
import type { NextHop } from './transport.ts'

const ADDRESSES = { 'trunk.example': ['192.0.2.1', '10.0.0.1'], 'inside.example': ['127.0.0.1'] }

async function located(host: string, isRestricted: boolean): Promise<string[]> {
  const hop: NextHop = { host, port: 5060, transport: 'udp', serverName: undefined, isRestricted }
  const locator = new ServerLocator({
    dns: new ScriptedDns({ addresses: ADDRESSES }),
    random: new SeededRandom(1),
    overrides: new Map([['staff.example', [{ host: '10.0.0.2' }]]]),
    permits: (_, address) => address.startsWith('192.0.2.'),
  })
  return (await locator.resolve(hop)).map(({ address }) => address)
}

describe('a hop that a tenant named', () => {
  it('a hop that a tenant named leads only to addresses that the platform permits', async () => {
    expect(await located('trunk.example', true)).toEqual(['192.0.2.1'])
    expect(await located('inside.example', true)).toEqual([])
    expect(await located('127.0.0.1', true)).toEqual([])
  })

  it('a hop that a tenant named leads to every address that staff gave its name', async () => {
    expect(await located('staff.example', true)).toEqual(['10.0.0.2'])
  })

  it('other hops, such as the Contact of a dialog, lead everywhere', async () => {
    expect(await located('trunk.example', false)).toEqual(['192.0.2.1', '10.0.0.1'])
  })
})
