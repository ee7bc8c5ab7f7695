import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VoiceAgent } from '@parley/engine'
import { ADMITS_WHEN_LATE, type CallPlan, type CallReport, Engine, testPlan, testRouter } from '@parley/engine/testing'
import { type ExampleName, ExampleServer, exampleDraft } from '@parley/examples'
import { type Ms, randomToken, systemRandom } from '@parley/kernel'
import { type PhoneCall, PhoneVoice, VirtualPhone } from '@parley/phone'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { readSettings } from '../../../packages/cli/src/environment.ts'
import { processIdentity } from '../../../packages/cli/src/identity.ts'
import { Services } from '../../../packages/cli/src/services.ts'
import { StandIns, type StandInsOptions } from '../../../packages/cli/src/stand-ins/stand-ins.ts'
import { addressOf } from '../../../packages/cli/src/workspace/address-of.ts'
import { exampleAgent } from './example-agent.ts'

/** A longer call is hung up. */
const MAX_CALL_MS: Ms = 150_000
/** Time for the engine's report after the hang-up. */
const REPORT_TIMEOUT_MS: Ms = 60_000

/** One call to the clinic, and the recogniser and voice of its agent. */
interface ClinicCall {
  /** `vendor/model`. */
  readonly stt: string
  readonly tts: string
  /** Default: `parley/rules-1`. */
  readonly llm?: string
  /** As in settings.fallbackVoiceIds; default none. */
  readonly fallbackVoices?: readonly string[]
  readonly standIns?: StandInsOptions
  /** Environment variables that replace those of the stand-ins; default none. */
  readonly environment?: Readonly<Record<string, string>>
  /** Default: the caller given to `open`. */
  readonly caller?: ClinicCaller
  /** Changes the agent; default: no change. */
  readonly alter?: (agent: VoiceAgent) => VoiceAgent
  /** Runs before the call. */
  readonly prepare?: (standIns: StandIns, server: ExampleServer) => void | Promise<void>
  /** Runs before the caller says or presses something. */
  readonly onAct?: (act: string, standIns: StandIns) => void
}

/** The script of a caller. */
export interface ClinicCaller {
  /** Returns the number of repetitions. Throws if the call does not follow the script. */
  follow(call: PhoneCall, onAct: (act: string) => void): Promise<number>
}

export interface ClinicCallResult {
  readonly report: CallReport
  /** Why the caller hung up; null: the agent ended the call. */
  readonly gaveUp: string | null
  /** Number of repetitions by the caller. */
  readonly repeats: number
  /** Number of bookings and callbacks at the clinic. */
  readonly effects: number
}

interface Lane {
  readonly token: string
  agent: VoiceAgent | null
}

/** Calls to the clinic over TLS and SRTP. All share an engine and a phone; each has its own services and clinic server. */
export class ClinicCalls {
  readonly #home: string
  readonly #engine: Engine
  readonly #phone: VirtualPhone
  readonly #caller: ClinicCaller
  readonly #voice: TonesVoice
  readonly #recogniser = new TonesRecogniser()
  readonly #free: Lane[]

  private constructor(parts: {
    readonly home: string
    readonly engine: Engine
    readonly phone: VirtualPhone
    readonly caller: ClinicCaller
    readonly voice: TonesVoice
    readonly lanes: Lane[]
  }) {
    this.#home = parts.home
    this.#engine = parts.engine
    this.#phone = parts.phone
    this.#caller = parts.caller
    this.#voice = parts.voice
    this.#free = parts.lanes
  }

  /** `atOnce`: limit of simultaneous calls. */
  static async open(callerOf: (voice: PhoneVoice) => Promise<ClinicCaller>, atOnce: number): Promise<ClinicCalls> {
    const home = await mkdtemp(join(tmpdir(), 'parley-clinic.'))
    const { tls } = await processIdentity(readSettings({ PARLEY_HOME: home }))
    const endpoint = { tls, rtp: { bind: '127.0.0.1', ports: { from: 33_000, to: 33_999 }, threads: 1 } }
    const lanes = Array.from({ length: atOnce }, (): Lane => ({ token: randomToken(systemRandom, 26), agent: null }))
    const voice = new TonesVoice()
    const engine = await Engine.start({
      ...ADMITS_WHEN_LATE,
      endpoint: { ...endpoint, userAgentName: 'Parley' },
      router: testRouter(
        lanes.map(lane => ({ token: lane.token, security: 'srtp-required', plan: () => planOf(lane, home) })),
      ),
    })
    const phone = await VirtualPhone.open({ endpoint: { ...endpoint, userAgentName: 'phone' } })
    const phoneVoice = new PhoneVoice(voice, 'en')
    // Rendered beforehand, because the first rendering by a voice takes longer.
    await Promise.all(textsOf('clinic').map(text => phoneVoice.render(text)))
    const caller = await callerOf(phoneVoice)
    return new ClinicCalls({ home, engine, phone, caller, voice, lanes })
  }

  /** Makes one call. Throws if all lanes are in use, or if the call does not end. */
  async run(call: ClinicCall): Promise<ClinicCallResult> {
    const lane = this.#free.pop()
    if (lane === undefined) throw new Error('all lanes are in use: more calls at once than the harness was opened for')
    const server = await ExampleServer.open()
    const standIns = await StandIns.open({ voice: this.#voice, ...call.standIns })
    const settings = readSettings({ ...standIns.environment, ...call.environment, PARLEY_HOME: this.#home })
    const services = new Services(settings, { egressAllow: [addressOf(server)] })
    try {
      const agent = await agentOf(call, server, services)
      lane.agent = call.alter?.(agent) ?? agent
      await call.prepare?.(standIns, server)
      const result = await this.#handle(lane.token, call.caller ?? this.#caller, act => call.onAct?.(act, standIns))
      return { ...result, effects: server.bookings.length + server.callbacks.length }
    } finally {
      this.#free.push(lane)
      await services.close()
      await standIns.close()
      await server.close()
    }
  }

  async close(): Promise<void> {
    await this.#phone.close()
    await this.#engine.close()
    await this.#voice.close()
    await this.#recogniser.close()
    await rm(this.#home, { recursive: true, force: true })
  }

  async #handle(
    token: string,
    caller: ClinicCaller,
    onAct: (act: string) => void,
  ): Promise<Omit<ClinicCallResult, 'effects'>> {
    const call = await this.#phone.call(`sip:${token}@127.0.0.1:${this.#engine.endpoint.port('tls')};transport=tls`)
    call.setRecogniser(this.#recogniser, 'en')
    await call.waitFor('answered', 60_000)
    const owner = [...this.#engine.calls].find(candidate => candidate.leg.callId === call.leg.callId)
    if (owner === undefined) throw new Error('the engine does not know the answered call')
    const limit = setTimeout(() => call.leg.hangUp(), MAX_CALL_MS)
    let gaveUp: string | null = null
    let repeats = 0
    try {
      repeats = await caller.follow(call, onAct)
    } catch (error) {
      // The agent may end the call before the script does; a caller who waits in vain hangs up.
      if (call.leg.state !== 'ended') gaveUp = error instanceof Error ? error.message : String(error)
      call.leg.hangUp()
    } finally {
      clearTimeout(limit)
    }
    const report = await withTimeout(owner.report)
    const byCaller = report.run.outcome?.kind === 'caller_hung_up'
    return { report, repeats, gaveUp: gaveUp ?? (byCaller ? 'the caller hung up at the time limit' : null) }
  }
}

/** Fixed texts of an example. */
function textsOf(name: ExampleName): string[] {
  const texts = JSON.stringify(exampleDraft(name).draft).matchAll(/"type":"static_text","text":"([^"{\\]+)"/g)
  return [...texts].map(([, text]) => text!)
}

/** The plan of the lane's next call. Throws if the lane expects no call. */
function planOf({ agent }: Lane, home: string): CallPlan {
  if (agent === null) throw new Error('a call arrived on a lane without an agent')
  return testPlan({ agent }, { recordingPath: join(home, `${crypto.randomUUID()}.wav`) })
}

async function agentOf(call: ClinicCall, server: ExampleServer, services: Services): Promise<VoiceAgent> {
  const agent = await exampleAgent('clinic', server.origin, services, call)
  if (call.fallbackVoices === undefined) return agent
  const settings = { ...agent.plan.settings, fallbackVoiceIds: [...call.fallbackVoices] }
  return services.agent({ ...agent.plan, settings }, { id: null, version: null })
}

async function withTimeout(report: Promise<CallReport>): Promise<CallReport> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the engine made no report within ${REPORT_TIMEOUT_MS / 1000} s of the hang-up`)),
      REPORT_TIMEOUT_MS,
    )
  })
  return Promise.race([report, late]).finally(() => clearTimeout(timer))
}

/** Runs `work` for all items, `atOnce` at a time; the results are in the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index]!)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
