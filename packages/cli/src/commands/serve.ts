import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Engine } from '@parley/engine'
import { randomToken, systemRandom } from '@parley/kernel'
import { LocalFlite } from '@parley/providers'
import { readSettings, type Settings } from '../environment.ts'
import { describeEvent } from '../event-lines.ts'
import { processIdentity, watchIdentity } from '../identity.ts'
import { overridesOf } from '../resolve-entries.ts'
import { parseCommand } from '../usage.ts'

const USAGE = 'parley serve [--role engine]'

/** Runs until SIGINT or SIGTERM: then live calls are ended and nothing stays open. */
export async function serve(args: string[]): Promise<number> {
  parseCommand(args, { role: { type: 'string' } }, USAGE)
  const settings = readSettings(process.env)
  await mkdir(settings.home, { recursive: true, mode: 0o700 })
  const token = await inboundToken(settings)
  const voice = new LocalFlite()
  const identity = await processIdentity(settings)
  const recordings = join(settings.home, 'recordings')
  await mkdir(recordings, { recursive: true })
  const engine = await Engine.start({
    station: {
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
    },
    routes: [{ name: 'local', token, security: 'srtp-required' }],
    voice,
    language: 'en',
    recordingPath: id => join(recordings, `${id}.wav`),
    onEvent: (call, event) => {
      const line = describeEvent(event)
      if (line !== null) process.stdout.write(`${call.leg.callId.slice(0, 12)}  ${line}\n`)
    },
  })
  const address = `sip:${token}@${settings.sipDomain}:${engine.station.port('tls')};transport=tls`
  await announce(settings, address, identity.authorityFile)
  const unwatch = watchIdentity(identity, engine.station, line => process.stdout.write(`${line}\n`))
  const signal = await nextSignal()
  process.stdout.write(`${signal}: ending ${engine.calls.size} calls\n`)
  unwatch()
  await engine.close()
  await voice.close()
  return 0
}

async function announce(settings: Settings, sip: string, authorityFile: string | null): Promise<void> {
  const file = join(settings.home, 'demo.json')
  const demo = { api: null, key: null, console: null, sip, agent_id: null, number: null, phone: null }
  await writeFile(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  await chmod(file, 0o600)
  process.stdout.write(
    [
      'Parley is ready. Call it with any phone that speaks SIP over TLS with SRTP (SDES, PCMU or PCMA):',
      '',
      `  ${sip}`,
      '',
      `  certificate authority  ${authorityFile ?? 'a public one'}`,
      `  recordings             ${join(settings.home, 'recordings')}`,
      '',
      `No phone at hand?  npx parley call '${sip}' --digits 123#`,
      '',
    ].join('\n'),
  )
}

/** The unguessable user part of the address stays the same over restarts. */
async function inboundToken(settings: Settings): Promise<string> {
  const file = join(settings.home, 'inbound-token')
  const known = await readFile(file, 'utf8').catch(() => '')
  if (/^[a-z2-7]{26}$/.test(known.trim())) return known.trim()
  const token = randomToken(systemRandom, 26)
  await writeFile(file, `${token}\n`, { mode: 0o600 })
  return token
}

/**
 * A terminal's Ctrl-C reaches the process twice when a launcher forwards it as well: what follows at once is the same
 * wish, what comes later is impatience.
 */
const SAME_SIGNAL_MS = 1000

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let first: number | null = null
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        first ??= performance.now()
        resolve(signal)
        if (performance.now() - first > SAME_SIGNAL_MS) process.exit(130)
      })
    }
  })
}
