import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CallEvent, EngineOptions, VoiceAgent } from '@parley/engine'
import {
  ADMITS_WHEN_LATE,
  type Call,
  type CallReport,
  type DialRequest,
  Engine,
  type TestRoute,
  testPlan,
  testRouter,
} from '@parley/engine/testing'
import { parseUri, type SipUri } from '@parley/leg'
import type { TextToSpeech } from '@parley/providers'
import { LocalFlite } from '@parley/providers/testing'
import { onTestFinished } from 'vitest'
import type { AtTestEnd } from './clean-up.ts'
import { ENGINE_RTP_PORTS } from './ports.ts'
import { interopCertificates } from './recipe.ts'

const CALL_WITHIN_MS = 60_000
const POLL_MS = 50

/** The token of the one route that the engine under test has. */
export const TOKEN = 'interop234567token'

/** An engine on free ports with the interop certificates, and the reports of its calls. */
export interface EngineUnderTest {
  readonly engine: Engine
  /** SIP URI at which peers call it. */
  readonly uri: string
  readonly recordings: string
  /** The report of the oldest call that was not returned yet. */
  nextReport(): Promise<CallReport>
  /** The report of the call with this Call-ID. */
  reportOf(callId: string): Promise<CallReport>
  readonly events: readonly CallEvent[]
  dial(request: OutboundTestCall): Promise<Call>
}

/** A call of the engine under test. Default agent: the line test. */
interface OutboundTestCall extends Omit<DialRequest, 'plan'> {
  readonly agent?: VoiceAgent
}

let sharedVoice: LocalFlite | undefined

/** The voice of engines under test. Its rendering is deterministic, so that tests can compare audio. */
function testVoice(): TextToSpeech {
  sharedVoice ??= new LocalFlite()
  return sharedVoice
}

/** Produces silence for two minutes, so that a call stays up for as long as a test needs. */
export const patientVoice: TextToSpeech = {
  id: 'test/patient',
  languages: ['en'],
  readiness: () => Promise.resolve(null),
  async *synthesize() {
    for (let second = 0; second < 120; second++) yield { samples: new Int16Array(8000), words: [] }
  },
  close: () => Promise.resolve(),
}

export async function closeTestVoice(): Promise<void> {
  await sharedVoice?.close()
  sharedVoice = undefined
}

/** Settings of an engine under test that differ from the defaults. */
export interface EngineChanges extends Partial<Pick<EngineOptions, 'onCall'>> {
  readonly endpoint?: Partial<EngineOptions['endpoint']>
  /** Default: one route with `TOKEN`, the line test and SRTP. */
  readonly routes?: readonly InboundTestRoute[]
  /** Voice of the line test; default: the local voice. */
  readonly voice?: TextToSpeech
  /** How long inbound calls ring, asked for each call; default 0. */
  readonly ringMs?: () => number
}

/** A route of the engine under test. Default agent: the line test. */
interface InboundTestRoute extends Omit<TestRoute, 'plan'> {
  readonly agent?: VoiceAgent
}

/** Starts an engine, which is closed at the end of the test. */
export async function startEngine(
  {
    endpoint,
    routes = [{ token: TOKEN, security: 'srtp-required' }],
    voice,
    ringMs = () => 0,
    onCall,
  }: EngineChanges = {},
  atTestEnd: AtTestEnd = onTestFinished,
): Promise<EngineUnderTest> {
  const files = await interopCertificates()
  // A voice that loads in the call greets late, and is cut short by peers that act at a time of the call.
  await (voice ?? testVoice()).readiness()
  const recordings = mkdtempSync(join(tmpdir(), 'parley-recordings.'))
  const events: CallEvent[] = []
  const calls: Call[] = []
  const reports: CallReport[] = []
  const waiting: ((report: CallReport) => void)[] = []
  const planOf = (agent: VoiceAgent | undefined) =>
    testPlan(agent === undefined ? { voice: voice ?? testVoice() } : { agent }, {
      recordingPath: join(recordings, `${crypto.randomUUID()}.wav`),
      ringMs: ringMs(),
    })
  const engine = await Engine.start({
    ...ADMITS_WHEN_LATE,
    endpoint: {
      tls: {
        cert: readFileSync(files.engine.cert, 'utf8'),
        key: readFileSync(files.engine.key, 'utf8'),
        ca: readFileSync(files.ca, 'utf8'),
      },
      rtp: { ports: ENGINE_RTP_PORTS, threads: 1 },
      userAgentName: 'Parley',
      ...endpoint,
    },
    router: testRouter(routes.map(({ agent, ...route }) => ({ ...route, plan: () => planOf(agent) }))),
    onEvent: (_call, event) => {
      events.push(event)
      if (event.type !== 'ended') return
      const next = waiting.shift()
      if (next === undefined) reports.push(event.report)
      else next(event.report)
    },
    onCall: call => {
      calls.push(call)
      onCall?.(call)
    },
  })
  atTestEnd(async () => {
    await engine.close()
    rmSync(recordings, { recursive: true, force: true })
  })
  return {
    engine,
    uri: `sip:${TOKEN}@127.0.0.1:${engine.endpoint.port('tls')};transport=tls`,
    recordings,
    events,
    dial: ({ agent, ...request }) => engine.dial({ ...request, plan: planOf(agent) }),
    reportOf: async callId => {
      // A call that is cancelled while it rings begins when the ringing would have ended, after the caller has gone.
      for (const until = performance.now() + CALL_WITHIN_MS; ; await pause(POLL_MS)) {
        const call = calls.find(candidate => candidate.leg.callId === callId)
        if (call !== undefined) return call.report
        if (performance.now() > until) throw new Error(`the engine has no call with the Call-ID ${callId}`)
      }
    },
    nextReport: () => {
      const report = reports.shift()
      return report === undefined ? new Promise(resolve => waiting.push(resolve)) : Promise.resolve(report)
    },
  }
}

/** A call to `uri`; default: SRTP is required, and the phone rings for at most 20 s. */
export function dialling(uri: string, change: Partial<OutboundTestCall> = {}): OutboundTestCall {
  return {
    uri: parseUri(uri) as SipUri,
    from: { displayName: undefined, uri: parseUri('sip:+15550002222@localhost') as SipUri, params: new Map() },
    security: 'srtp-required',
    ringTimeoutMs: 20_000,
    ...change,
  }
}

/** `text` as speech of the test voice, 8 kHz. */
export async function spoken(text: string): Promise<Int16Array> {
  const chunks: Int16Array[] = []
  let length = 0
  for await (const chunk of testVoice().synthesize({ text, language: 'en' }, AbortSignal.timeout(30_000))) {
    chunks.push(chunk.samples)
    length += chunk.samples.length
  }
  const audio = new Int16Array(length)
  let at = 0
  for (const chunk of chunks) {
    audio.set(chunk, at)
    at += chunk.length
  }
  return audio
}

/** Media statistics as text, for the failure message of an expectation about audio. */
export function describeMedia(report: CallReport): string {
  return JSON.stringify(report.end.media?.statistics)
}
