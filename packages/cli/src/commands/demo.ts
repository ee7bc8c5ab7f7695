import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type CallEvent, type CallReport, Engine } from '@parley/engine'
import { ExampleServer } from '@parley/examples'
import { ParleyError, randomToken, systemRandom } from '@parley/kernel'
import { CallerScript, type PhoneCall, PhoneVoice, VirtualPhone } from '@parley/phone'
import { DEMO_CALLER } from '../demo/demo-caller.ts'
import { demoResult, demoSummary } from '../demo/demo-report.ts'
import { readSettings } from '../environment.ts'
import { describeEvent } from '../event-lines.ts'
import { addressOf, exampleAgent } from '../example-agent.ts'
import { processIdentity } from '../identity.ts'
import { Services } from '../services.ts'
import { parseCommand } from '../usage.ts'

const USAGE = 'parley demo [--json]'
const VOICE = 'simulated/tones-1'

type Say = (line: string) => void

/**
 * One complete call over real sockets: a virtual phone calls an agent over TLS with SRTP, interrupts it, keys in digits,
 * books an appointment with a server, and is said goodbye to. Exit 0 only when the flow reached its end node.
 */
export async function demo(args: string[]): Promise<number> {
  const { values } = parseCommand(args, { json: { type: 'boolean', default: false } }, USAGE)
  const began = performance.now()
  const say: Say = values.json
    ? () => {}
    : line => void process.stdout.write(`${((performance.now() - began) / 1000).toFixed(2).padStart(6)} s  ${line}\n`)
  const server = await ExampleServer.open()
  try {
    const report = await call(server, say)
    const text = values.json ? JSON.stringify(demoResult(report)) : ['', ...demoSummary(report)].join('\n')
    process.stdout.write(`${text}\n`)
    return report.run.outcome?.kind === 'completed' ? 0 : 1
  } finally {
    await server.close()
  }
}

async function call(server: ExampleServer, say: Say): Promise<CallReport> {
  const settings = readSettings(process.env)
  const recordings = join(settings.home, 'recordings')
  await mkdir(recordings, { recursive: true })
  const services = new Services(settings, { egressAllow: [addressOf(server)] })
  const token = randomToken(systemRandom, 26)
  const { tls } = await processIdentity(settings)
  const rtp = { bind: '127.0.0.1', ports: settings.rtpPorts, threads: 1, packetIo: settings.packetIo }
  const reported = Promise.withResolvers<CallReport>()
  const tell = (event: CallEvent) => {
    const line = describeEvent(event)
    if (line !== null) say(line)
  }
  const engine = await Engine.start({
    station: { tls, rtp, userAgentName: 'Parley', advertisedHost: 'localhost' },
    routes: [
      {
        name: 'demo',
        token,
        security: 'srtp-required',
        agent: await exampleAgent('clinic', server.origin, services),
      },
    ],
    voice: services.voice('local/flite'),
    language: 'en',
    recordingPath: id => join(recordings, `demo-${id}.wav`),
    onEvent: (_call, event) => {
      tell(event)
      if (event.type === 'ended') reported.resolve(event.report)
    },
  })
  const phone = await VirtualPhone.open({ station: { tls, rtp, userAgentName: 'Parley phone' }, name: 'caller' })
  try {
    const script = await CallerScript.prepare(DEMO_CALLER, new PhoneVoice(services.voice(VOICE), 'en'))
    const target = `sip:${token}@localhost:${engine.station.port('tls')};transport=tls`
    say(`calling ${target}`)
    const dialled = await phone.call(target)
    dialled.understand(services.recogniser(VOICE), 'en')
    await converse(dialled, script, say)
    const end = await dialled.ended
    // A call that was not answered may never have reached the engine: there is no report to wait for.
    if (!end.answered) throw new ParleyError('demo_failed', `the engine did not answer: ${end.detail}`)
    return await reported.promise
  } finally {
    await phone.close()
    await engine.close()
    await services.close()
  }
}

/** The caller's part. The agent ends the call. */
async function converse(dialled: PhoneCall, script: CallerScript, say: Say): Promise<void> {
  try {
    await script.follow(dialled, {
      onStep: (description, { type }) => {
        if (type === 'say' || type === 'press' || type === 'interrupt') say(`phone: ${description}`)
      },
    })
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error
    say(`phone: ${error.message}`)
    process.stderr.write(`${error.message}\n`)
    dialled.leg.hangUp()
  }
}
