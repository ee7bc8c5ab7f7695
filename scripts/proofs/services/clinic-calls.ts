import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VoiceAgent } from '@parley/engine'
import { type CallPlan, type CallReport, Engine, testPlan, testRouter } from '@parley/engine/testing'
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

/** A call that is not over by then is hung up. */
const LONGEST_CALL_MS: Ms = 150_000
/** What a call still does once it was hung up. */
const REPORT_WITHIN_MS: Ms = 20_000

/** One call to the clinic, and the recogniser and voice of its agent. */
interface ClinicCall {
  /** `vendor/model`. */
  readonly stt: string
  readonly tts: string
  /** Default the clinic's own, `parley/rules-1`. */
  readonly llm?: string
  /** As in settings.fallbackVoiceIds; default none. */
  readonly fallbackVoices?: readonly string[]
  readonly standIns?: StandInsOptions
  /** Variables instead of those of the stand-ins; default none. */
  readonly environment?: Readonly<Record<string, string>>
  /** Another caller than that of all calls. */
  readonly caller?: ClinicCaller
  /** What is done to the agent; default nothing. */
  readonly alter?: (agent: VoiceAgent) => VoiceAgent
  /** Before the call. */
  readonly prepare?: (standIns: StandIns, server: ExampleServer) => void | Promise<void>
  /** When the caller is about to say or press something. */
  readonly onAct?: (act: string, standIns: StandIns) => void
}

/** The caller's part of all calls. */
export interface ClinicCaller {
  /** Returns the number of repetitions. Throws when the call takes another course. */
  follow(call: PhoneCall, onAct: (act: string) => void): Promise<number>
}

export interface ClinicCallResult {
  readonly report: CallReport
  /** Why the caller hung up; null: the agent ended the call. */
  readonly gaveUp: string | null
  /** Number of repetitions by the caller. */
  readonly repeats: number
  /** What the clinic was made to do. */
  readonly effects: number
}

interface Lane {
  readonly token: string
  agent: VoiceAgent | null
}

/** Calls of the clinic over TLS and SRTP: one engine and one phone for all, services and a clinic of its own for each. */
export class ClinicCalls {
  readonly #home: string
  readonly #engine: Engine
  readonly #phone: VirtualPhone
  readonly #caller: ClinicCaller
  readonly #voice: TonesVoice
  readonly #ear = new TonesRecogniser()
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

  /** At most `atOnce` calls at a time. */
  static async open(callerOf: (voice: PhoneVoice) => Promise<ClinicCaller>, atOnce: number): Promise<ClinicCalls> {
    const home = await mkdtemp(join(tmpdir(), 'parley-clinic.'))
    const { tls } = await processIdentity(readSettings({ PARLEY_HOME: home }))
    const endpoint = { tls, rtp: { bind: '127.0.0.1', ports: { from: 33_000, to: 33_999 }, threads: 1 } }
    const lanes = Array.from({ length: atOnce }, (): Lane => ({ token: randomToken(systemRandom, 26), agent: null }))
    const voice = new TonesVoice()
    const engine = await Engine.start({
      endpoint: { ...endpoint, userAgentName: 'Parley' },
      router: testRouter(
        lanes.map(lane => ({ token: lane.token, security: 'srtp-required', plan: () => planOf(lane, home) })),
      ),
    })
    const phone = await VirtualPhone.open({ endpoint: { ...endpoint, userAgentName: 'phone' } })
    const phoneVoice = new PhoneVoice(voice, 'en')
    // How long a voice takes at first is not what is tested.
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
      const conversed = await this.#handle(lane.token, call.caller ?? this.#caller, act => call.onAct?.(act, standIns))
      return { ...conversed, effects: server.bookings.length + server.callbacks.length }
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
    await this.#ear.close()
    await rm(this.#home, { recursive: true, force: true })
  }

  async #handle(
    token: string,
    caller: ClinicCaller,
    onAct: (act: string) => void,
  ): Promise<Omit<ClinicCallResult, 'effects'>> {
    const call = await this.#phone.call(`sip:${token}@127.0.0.1:${this.#engine.endpoint.port('tls')};transport=tls`)
    call.understand(this.#ear, 'en')
    await call.waitFor('answered', 20_000)
    const owner = [...this.#engine.calls].find(one => one.leg.callId === call.leg.callId)
    if (owner === undefined) throw new Error('the engine does not know the answered call')
    const limit = setTimeout(() => call.leg.hangUp(), LONGEST_CALL_MS)
    let gaveUp: string | null = null
    let repeats = 0
    try {
      repeats = await caller.follow(call, onAct)
    } catch (error) {
      // The agent may end the call in the middle of the caller's part; a caller who waits in vain does so himself.
      if (call.leg.state !== 'ended') gaveUp = error instanceof Error ? error.message : String(error)
      call.leg.hangUp()
    } finally {
      clearTimeout(limit)
    }
    const report = await inTime(owner.report)
    const byCaller = report.run.outcome?.kind === 'caller_hung_up'
    return { report, repeats, gaveUp: gaveUp ?? (byCaller ? 'the caller hung up at the limit' : null) }
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

async function inTime(report: Promise<CallReport>): Promise<CallReport> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the engine made no report within ${REPORT_WITHIN_MS / 1000} s of the hang-up`)),
      REPORT_WITHIN_MS,
    )
  })
  return Promise.race([report, late]).finally(() => clearTimeout(timer))
}

/** Does `work` for all of `items`, `atOnce` at a time; results in their order. */
export async function inTurns<Item, Result>(
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
