import type { RegistrationStatus } from '@parley/sip'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CARRIER_CREDENTIALS } from './carrier.ts'
import { startEngine, TOKEN } from './engine.ts'
import { freePeerPorts } from './ports.ts'
import { readRunFile, startRecipe } from './recipe.ts'
import { openRtpSink } from './rtp-sink.ts'
import { callIdOf, runSipp } from './sipp.ts'
import { CARRIER_PROGRAMS, requires } from './skip.ts'

const { rtpengine: _, ...programs } = CARRIER_PROGRAMS
const peer = requires(programs)
const GRANTED_S = 20

describe.skipIf(peer.missing)(`registration at Kamailio over TLS${peer.note}`, () => {
  it('the registrar challenges the engine, refreshes arrive at half the granted time, and calls come over the registered connection', async () => {
    const under = await startEngine({ routes: [{ token: TOKEN, security: 'rtp-only' }] })
    const ports = await freePeerPorts()
    const recipe = startRecipe('registrar/run.sh', {
      EDGE_PORT: String(ports.tls),
      INSIDE_PORT: String(ports.tls - 1),
      GRANTED_S: String(GRANTED_S),
      AUTH_USER: CARRIER_CREDENTIALS.username,
      AUTH_PASS: CARRIER_CREDENTIALS.password,
    })
    if (!(await recipe.printed(/^ready/m))) throw new Error(`the registrar did not start:\n${recipe.output()}`)
    const uri = {
      scheme: 'sip',
      user: undefined,
      password: undefined,
      host: 'localhost',
      port: ports.tls,
      params: new Map(),
      headers: [],
    } as const
    const changes: RegistrationStatus[] = []
    const registration = under.engine.endpoint.userAgent.register({
      registrar: uri,
      address: { ...uri, user: CARRIER_CREDENTIALS.username },
      contactUser: TOKEN,
      nextHop: { host: 'localhost', port: ports.tls, transport: 'tls', serverName: undefined },
      credentials: CARRIER_CREDENTIALS,
      instanceId: crypto.randomUUID(),
      onChange: status => changes.push(status),
    })
    onTestFinished(() => registration.stop())
    const log = () => readRunFile(recipe.directory, 'kamailio.log')
    const registers = () => log().match(/REGISTER sip:localhost\S* from tls:/g)?.length ?? 0
    await expect.poll(() => registration.status.state).toBe('registered')
    // The first attempt and the one with credentials.
    expect(registers(), log()).toBe(2)

    const { port: sink_port } = await openRtpSink(onTestFinished)
    const inside = { scenario: 'uac-basic', target: `127.0.0.1:${ports.tls - 1}`, pauseMs: 2000, keys: { sink_port } }
    const sipp = await runSipp(inside)
    expect(sipp.exitCode, sipp.output).toBe(0)
    const report = await under.reportOf(callIdOf(sipp))
    expect(report.transport?.signalling).toBe('tls')

    await expect.poll(registers, { timeout: (GRANTED_S / 2 + 5) * 1000 }).toBeGreaterThan(2)
    expect(changes.every(({ state }) => state === 'registered')).toBe(true)
    await registration.stop()
    expect(registration.status.state).toBe('unregistered')
    const gone = await runSipp(inside)
    expect(gone.messages).toContain('404 Not Registered')
  })
})
