import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CallReport, Engine } from '@parley/engine'
import { ExampleServer } from '@parley/examples'
import { CallerScript, PhoneVoice, VirtualPhone } from '@parley/phone'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_CALLER } from './demo/demo-caller.ts'
import { readSettings } from './environment.ts'
import { addressOf, exampleAgent } from './example-agent.ts'
import { processIdentity } from './identity.ts'
import { Services } from './services.ts'
import { StandIns } from './stand-ins.ts'

const EARS = ['deepgram/nova-3', 'deepgram/flux-general-en', 'assemblyai/universal-streaming-english']
const VOICES = ['elevenlabs/eleven_flash_v2_5', 'cartesia/sonic-2', 'deepgram/aura-2', 'openai/gpt-4o-mini-tts']
const PAIRS = EARS.flatMap(ear => VOICES.map(voice => [ear, voice] as const))

const home = await mkdtemp(join(tmpdir(), 'parley-pairs.'))
const stop: (() => Promise<unknown>)[] = []
const reports = new Map<string, CallReport>()

/** What was said and done, without what differs from voice to voice. */
function course({ run, utterances, digits, timeline }: CallReport) {
  return {
    outcome: run.outcome?.kind,
    said: utterances
      .filter(line => line.role === 'user')
      .map(line => line.text.toLowerCase().replace(/[^\p{L} ]/gu, '')),
    answered: utterances.filter(line => line.role === 'agent' && !line.interrupted).map(line => line.text),
    interrupted: utterances.filter(line => line.interrupted).length,
    digits,
    nodes: timeline.flatMap(item => (item.kind === 'node' ? [item.node_id] : [])),
    actions: timeline.flatMap(item => (item.kind === 'action' ? [`${item.action_id} ${item.phase}`] : [])),
    errors: timeline.flatMap(item => (item.kind === 'error' ? [item.code] : [])),
  }
}

beforeAll(async () => {
  const pairs = [['simulated/tones-1', 'simulated/tones-1'] as const, ...PAIRS]
  // Each has a clinic of its own: they all book the same hour.
  const servers = await Promise.all(pairs.map(() => ExampleServer.open()))
  const standIns = await StandIns.open()
  const settings = readSettings({ ...standIns.environment, PARLEY_HOME: home, PARLEY_RTP_PORTS: '33000-33999' })
  const services = new Services(settings, { egressAllow: servers.map(addressOf) })
  const { tls } = await processIdentity(settings)
  const rtp = { bind: '127.0.0.1', ports: settings.rtpPorts, threads: 1 }
  const routes = await Promise.all(
    pairs.map(async ([stt, tts], i) => ({
      name: `${stt} ${tts}`,
      token: `pair${i}234567abcdef`,
      security: 'srtp-required' as const,
      agent: await exampleAgent('clinic', servers[i]!.origin, services, { stt, tts }),
    })),
  )
  const engine = await Engine.start({
    station: { tls, rtp, userAgentName: 'Parley' },
    routes,
    voice: services.voice('local/flite'),
    language: 'en',
    recordingPath: () => null,
  })
  const phone = await VirtualPhone.open({ station: { tls, rtp, userAgentName: 'phone' } })
  const voice = new TonesVoice()
  const ear = new TonesRecogniser()
  stop.push(
    () => phone.close(),
    () => engine.close(),
    () => services.close(),
    () => standIns.close(),
    ...servers.map(server => () => server.close()),
    () => voice.close(),
    () => ear.close(),
    () => rm(home, { recursive: true, force: true }),
  )
  const script = await CallerScript.prepare(DEMO_CALLER, new PhoneVoice(voice, 'en'))
  await Promise.all(
    routes.map(async ({ name, token }) => {
      const call = await phone.call(`sip:${token}@127.0.0.1:${engine.station.port('tls')};transport=tls`)
      call.understand(ear, 'en')
      await call.waitFor('answered', 10_000)
      const owner = [...engine.calls].find(one => one.leg.callId === call.leg.callId)!
      await script.follow(call)
      reports.set(name, await owner.report)
    }),
  )
}, 120_000)

afterAll(async () => {
  for (const close of stop) await close()
})

describe('the demo conversation', () => {
  it.each(PAIRS)('goes the same way with %s and %s as with the simulated pair', (stt, tts) => {
    const simulated = course(reports.get('simulated/tones-1 simulated/tones-1')!)
    expect(simulated.outcome).toBe('completed')
    expect(course(reports.get(`${stt} ${tts}`)!)).toEqual(simulated)
  })
})
