import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '@parley/contract'
import { createResponse, parseDatagram, serialise } from '@parley/sip'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readSettings } from '../environment.ts'
import { UsageError } from '../usage.ts'
import { trunkCheck } from './trunk-check.ts'

let test: TestDatabase
let home: string
let carrier: Socket
let scope: Scope
/** Methods and called users of the requests that the carrier got. */
let received: string[]

beforeAll(async () => {
  test = await testDatabase()
  home = await mkdtemp(join(tmpdir(), 'parley-check-'))
  carrier = createSocket('udp4')
  carrier.bind(0, '127.0.0.1')
  await once(carrier, 'listening')
  carrier.on('message', (bytes, from) => {
    const parsed = parseDatagram(bytes)
    if (!parsed.ok || parsed.message.kind !== 'request' || parsed.message.method === 'ACK') return
    const { method, uri } = parsed.message
    const request = `${method} ${'user' in uri ? (uri.user ?? '') : ''}`.trim()
    // On a busy machine a request over UDP comes twice.
    if (!received.includes(request)) received.push(request)
    const answer = createResponse(parsed.message, method === 'INVITE' ? 404 : 200, { toTag: 'carrier' })
    carrier.send(serialise(answer), from.port, from.address)
  })
})
afterAll(async () => {
  carrier?.close()
  await test?.close()
  await rm(home, { recursive: true, force: true })
})
beforeEach(async () => {
  received = []
  scope = await test.scope()
  const details = { transport: 'udp', media: 'rtp', port: carrier.address().port, number_format_out: 'digits' }
  await test.owner.query(
    `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, details)
     values ($1, 'carrier', 'Carrier', 'generic_sip', '127.0.0.1', false, $2)`,
    [scope.tenant_id, JSON.stringify(details)],
  )
})

const allowed = () => ({ PARLEY_EGRESS_ALLOW: `127.0.0.1:${carrier.address().port}` })

async function run(line: string, environment: Record<string, string> = allowed()) {
  const printed: string[] = []
  const settings = () =>
    readSettings({
      PARLEY_HOME: home,
      DATABASE_URL: test.owner.url,
      PARLEY_RTP_PORTS: '24000-24099',
      PARLEY_PACKET_IO: 'portable',
      ...environment,
    })
  const exitCode = await trunkCheck(line.split(' '), settings, text => printed.push(text))
  return { exitCode, printed: printed.join('\n') }
}

describe('parley admin trunk check', () => {
  it('a trunk without a fault ends with exit code 0, and says that no INVITE was sent', async () => {
    const { exitCode, printed } = await run(`carrier --env ${scope.tenant_id}`)
    expect(exitCode, printed).toBe(0)
    expect(printed).toMatch(/^dns +ok +127\.0\.0\.1 is 127\.0\.0\.1:\d+ \(UDP\)\.$/m)
    expect(printed).toMatch(/^options +ok +127\.0\.0\.1:\d+ \(UDP\): OPTIONS was answered 200 OK/m)
    expect(printed).toMatch(/^call +skipped +No INVITE was sent: "--to NUMBER" places a test call\.$/m)
    expect(printed).toMatch(/No problem was found\.$/)
    expect(received).toEqual(['OPTIONS'])
  })

  it('a problem ends with exit code 1, and the line below says how to mend it', async () => {
    const { exitCode, printed } = await run(`carrier --to +4930222222 --env ${scope.tenant_id}`)
    expect(exitCode).toBe(1)
    expect(printed).toMatch(/^call +problem +The INVITE was answered 404 Not Found\. .*4930222222\.\n +To mend it: /m)
    expect(printed).toMatch(/1 problem\.$/)
    expect(received).toEqual(['OPTIONS', 'INVITE 4930222222'])
  })

  it('a trunk at a private address that is not allowed is not asked, and the check says what to do', async () => {
    const { exitCode, printed } = await run(`carrier --env ${scope.tenant_id}`, {})
    expect(exitCode).toBe(1)
    expect(printed).toMatch(
      /^dns +problem +127\.0\.0\.1 is a private address, .*\n +To mend it: .*PARLEY_EGRESS_ALLOW/m,
    )
    expect(received).toEqual([])
  })

  it('a trunk that does not exist is refused with the list of trunks', async () => {
    await expect(run(`other --env ${scope.tenant_id}`)).rejects.toThrow('it has carrier')
  })

  it.each([
    ['', 'usage: parley admin trunk check'],
    ['carrier --to 110', '--to takes a number such as +4930123456'],
    ['carrier --to +49110', 'emergency, short, premium'],
    ['carrier --to +491805000000', 'emergency, short, premium'],
    ['carrier --from +4930123456', '--from needs --to'],
    ['carrier --to +4930222222 --from 030', '--from takes a number'],
  ])('the arguments "%s" are refused before anything is read', async (line, message) => {
    const settings = () => {
      throw new Error('settings were read')
    }
    const words = line === '' ? [] : line.split(' ')
    const refused = trunkCheck(words, settings, () => {})
    await expect(refused).rejects.toThrow(UsageError)
    await expect(refused).rejects.toThrow(message)
  })
})
