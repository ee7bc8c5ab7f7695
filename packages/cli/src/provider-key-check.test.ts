import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Platform } from '@parley/control-plane'
import { OutboundHttp } from '@parley/egress'
import { systemTime } from '@parley/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSettings } from './environment.ts'
import { providerKeyCheck } from './provider-key-check.ts'
import { StandIns } from './stand-ins/stand-ins.ts'

type Provider = Parameters<Platform['checkProviderKey']>[0]['provider']

const VENDORS = [
  'openai',
  'anthropic',
  'gemini',
  'deepgram',
  'assemblyai',
  'soniox',
  'speechmatics',
  'azure',
  'google',
  'elevenlabs',
  'cartesia',
] as const
const KEY = 'stand-in'

let standIns: StandIns
let egress: OutboundHttp
let silent: { readonly url: string; close(): void }

beforeAll(async () => {
  standIns = await StandIns.open()
  silent = await silentServer()
  const allowed = [standIns.environment.OPENAI_COMPATIBLE_BASE_URL!, silent.url].map(url => ({
    host: '127.0.0.1',
    port: Number(new URL(url).port),
  }))
  egress = new OutboundHttp({ allow: allowed, time: systemTime })
})
afterAll(async () => {
  silent?.close()
  await egress?.close()
  await standIns?.close()
})

/** A server that reads requests and never answers. */
async function silentServer() {
  const server = createServer(() => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** Without a key of the platform: the addresses alone. */
const servers = () =>
  Object.fromEntries(Object.entries(standIns.environment).filter(([name]) => !name.endsWith('_API_KEY')))
const check = (
  provider: Provider,
  key: string,
  { environment = servers(), endpoint = null as string | null, timeoutMs = 60_000 } = {},
) => providerKeyCheck({ settings: readSettings(environment), egress, timeoutMs })({ provider, key, endpoint })

describe.each(VENDORS)('a key of %s', vendor => {
  const baseUrl = `${vendor.toUpperCase()}_BASE_URL`
  const protocol = () => (standIns.environment[baseUrl]!.startsWith('ws') ? 'ws' : 'http')
  const at = (url: string) => ({ environment: { [baseUrl]: url.replace(/^http/, protocol()) } })

  it('a provider key is accepted if it is that of the service', async () =>
    expect(await check(vendor, KEY)).toMatchObject({ outcome: 'accepted' }))

  it('a provider key is rejected if the service refuses it', async () => {
    // Google answers 400 to a key that it does not know.
    const status = vendor === 'gemini' || vendor === 'google' ? 400 : 401
    expect(await check(vendor, 'not-this-one')).toEqual({ outcome: 'rejected', status })
  })

  it('a provider key cannot be checked while the service is out of reach', async () =>
    expect(await check(vendor, KEY, at('http://127.0.0.1:1'))).toEqual({
      outcome: 'unreachable',
      reason: 'no connection',
    }))

  it('a provider key cannot be checked by a service that does not answer', async () =>
    expect(await check(vendor, KEY, { ...at(silent.url), timeoutMs: 200 })).toEqual({
      outcome: 'unreachable',
      reason: 'no answer within 200 ms',
    }))
})

describe('a key of an OpenAI-compatible service', () => {
  const endpoint = () => standIns.environment.OPENAI_COMPATIBLE_BASE_URL!

  it('a key of an OpenAI-compatible service is accepted together with the models that the service names', async () =>
    expect(await check('openai_compatible', KEY, { endpoint: endpoint() })).toEqual({
      outcome: 'accepted',
      models: ['fake-model'],
    }))

  it('a key of an OpenAI-compatible service is rejected if the service refuses it', async () =>
    expect(await check('openai_compatible', 'not-this-one', { endpoint: endpoint() })).toEqual({
      outcome: 'rejected',
      status: 401,
    }))

  it('a key of an OpenAI-compatible service is not sent to an address that may not be contacted', async () => {
    for (const private_ of ['https://127.0.0.1/v1', 'https://169.254.169.254/v1', 'https://localhost/v1'])
      expect(await check('openai_compatible', KEY, { endpoint: private_ })).toEqual({ outcome: 'address_not_allowed' })
  })

  it('a key of an OpenAI-compatible service cannot be checked by a service that does not answer', async () =>
    expect(await check('openai_compatible', KEY, { endpoint: silent.url, timeoutMs: 200 })).toEqual({
      outcome: 'unreachable',
      reason: 'no answer in time',
    }))
})
