import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Engine, type EngineOptions, type InboundRoute, type VoiceAgent } from '@parley/engine'
import { ExampleServer } from '@parley/examples'
import { ParleyError, randomToken, systemRandom } from '@parley/kernel'
import { readSettings, type Settings } from '../environment.ts'
import { describeEvent } from '../event-lines.ts'
import { addressOf, exampleAgent } from '../example-agent.ts'
import { type ProcessIdentity, processIdentity, watchIdentity } from '../identity.ts'
import { nextSignal } from '../next-signal.ts'
import { overridesOf } from '../resolve-entries.ts'
import { Services } from '../services.ts'
import { parseCommand } from '../usage.ts'

const USAGE = 'parley serve [--role engine]'

/** Runs until SIGINT or SIGTERM: then live calls are ended and nothing stays open. */
export async function serve(args: string[]): Promise<number> {
  parseCommand(args, { role: { type: 'string' } }, USAGE)
  const settings = readSettings(process.env)
  await mkdir(settings.home, { recursive: true, mode: 0o700 })
  const identity = await processIdentity(settings)
  const recordings = join(settings.home, 'recordings')
  await mkdir(recordings, { recursive: true })
  const examples = await ExampleServer.open()
  const services = new Services(settings, { egressAllow: [addressOf(examples)] })
  const ways = await waysIn(settings, services, examples)
  const engine = await Engine.start({
    station: stationOptions(settings, identity),
    routes: ways.map(({ route }) => route),
    voice: services.voice('local/flite'),
    language: 'en',
    recordingPath: id => join(recordings, `${id}.wav`),
    onEvent: (call, event) => {
      const line = describeEvent(event)
      if (line !== null) process.stdout.write(`${call.leg.callId.slice(0, 12)}  ${line}\n`)
    },
  })
  const uri = (way: WayIn) => `sip:${way.route.token}@${settings.sipDomain}:${engine.station.port('tls')};transport=tls`
  await announce(
    settings,
    ways.map(way => [way.about, uri(way)] as const),
    identity.authorityFile,
  )
  const unwatch = watchIdentity(identity, engine.station, line => process.stdout.write(`${line}\n`))
  const signal = await nextSignal()
  process.stdout.write(`${signal}: ending ${engine.calls.size} calls\n`)
  unwatch()
  await engine.close()
  await services.close()
  await examples.close()
  return 0
}

/** An address that a phone can call, and who answers there. */
interface WayIn {
  readonly about: string
  readonly route: InboundRoute
}

/** The demo agent first; what is not ready on this machine is left out, and said. */
async function waysIn(settings: Settings, services: Services, examples: ExampleServer): Promise<WayIn[]> {
  const ways: WayIn[] = []
  const add = async (file: string, about: string, agent: VoiceAgent | undefined) => {
    const token = await inboundToken(settings, file)
    ways.push({ about, route: { name: about, token, security: 'srtp-required', ...(agent && { agent }) } })
  }
  await add('inbound-token', 'a clinic', await exampleAgent('clinic', examples.origin, services))
  try {
    await add('inbound-token-es', 'a pizzeria, in Spanish', await exampleAgent('pizza', examples.origin, services))
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error
    process.stdout.write(`The Spanish example is left out: ${error.message}\n`)
  }
  await add('inbound-token-line', 'a line test: reads back digits, echoes two seconds', undefined)
  return ways
}

function stationOptions(settings: Settings, identity: ProcessIdentity): EngineOptions['station'] {
  return {
    bind: settings.sipBind,
    udpPort: settings.sipPort,
    tcpPort: settings.sipPort,
    tlsPort: settings.sipTlsPort,
    ...(settings.sipHost !== null && { advertisedHost: settings.sipHost }),
    tls: identity.tls,
    overrides: overridesOf(settings.resolve),
    rtp: {
      bind: settings.rtpBind,
      announcedAddress: settings.mediaAddress,
      localNetworks: settings.localNetworks,
      ports: settings.rtpPorts,
      packetIo: settings.packetIo,
    },
    userAgentName: 'Parley',
    log: (level, event, detail) => {
      if (level !== 'debug') process.stderr.write(`${level} ${event} ${JSON.stringify(detail)}\n`)
    },
  }
}

async function announce(
  settings: Settings,
  addresses: readonly (readonly [about: string, uri: string])[],
  authorityFile: string | null,
): Promise<void> {
  const file = join(settings.home, 'demo.json')
  const sip = addresses[0]![1]
  const demo = { api: null, key: null, console: null, sip, agent_id: null, number: null, phone: null }
  await writeFile(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  await chmod(file, 0o600)
  process.stdout.write(
    [
      'Parley is ready. Call it with any phone that speaks SIP over TLS with SRTP (SDES, PCMU or PCMA):',
      '',
      ...addresses.flatMap(([about, uri]) => [`  ${about}`, `  ${uri}`, '']),
      "The built-in recogniser hears only Parley's own phone; with any other phone, go through the clinic by its keys (press 1).",
      '',
      `  certificate authority  ${authorityFile ?? 'a public one'}`,
      `  recordings             ${join(settings.home, 'recordings')}`,
      '',
      `No phone at hand?  npx parley call '${sip}' --say 'I would like to book an appointment.'`,
      '',
    ].join('\n'),
  )
}

/** The unguessable user part of an address stays the same over restarts. */
async function inboundToken(settings: Settings, name: string): Promise<string> {
  const file = join(settings.home, name)
  const known = await readFile(file, 'utf8').catch(() => '')
  if (/^[a-z2-7]{26}$/.test(known.trim())) return known.trim()
  const token = randomToken(systemRandom, 26)
  await writeFile(file, `${token}\n`, { mode: 0o600 })
  return token
}
