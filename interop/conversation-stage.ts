import { readFileSync } from 'node:fs'
import { type EffectRecord, HttpActions, judgeDestination, MemoryLedger } from '@parley/conversation'
import { OutboundHttp } from '@parley/egress'
import type { CallReport, VoiceAgent } from '@parley/engine'
import { compile, type Draft, type Plan } from '@parley/flow'
import { systemRandom, systemTime } from '@parley/kernel'
import { CallerScript, type CallerStep, type PhoneCall, PhoneVoice, VirtualPhone } from '@parley/phone'
import { RulesModel, TonesRecogniser, TonesVoice } from '@parley/providers'
import { type ActionAnswers, ActionServer } from './action-server.ts'
import { dialling, type EngineUnderTest, startEngine } from './engine.ts'
import { type AtTestEnd, interopCertificates } from './recipe.ts'

/** Below the range that the kernel picks outgoing ports from, above the engine's. */
const PHONE_PORTS = { from: 32_000, to: 32_699 }
/** A number of a country that transfers may go to. */
export const PHONE_NUMBER = '+12025550111'

/** The agents, and what their actions' server answers. */
export interface StagePlay {
  /** By name; `origin` is where their actions go. */
  readonly agents: (origin: string) => Readonly<Record<string, Draft>>
  readonly answers?: ActionAnswers
}

/** A call that is over, from both sides. */
export interface FinishedCall {
  readonly plan: Plan
  /** What the phone heard and got. */
  readonly phone: PhoneCall
  /** What the engine says of it. */
  readonly report: CallReport
}

/**
 * One engine with several agents, each at a token of its own, the server of their actions, and a phone that speaks and
 * understands by tones. Everything between them is real: TLS, SRTP over UDP, HTTP.
 */
export class ConversationStage {
  readonly server: ActionServer
  readonly voice = new TonesVoice()
  readonly recogniser = new TonesRecogniser()
  readonly #model = new RulesModel()
  readonly #ledgers: MemoryLedger[] = []
  readonly #agents = new Map<string, VoiceAgent>()
  readonly #egress: OutboundHttp
  #under: EngineUnderTest | null = null
  #phone: VirtualPhone | null = null

  private constructor(server: ActionServer) {
    this.server = server
    this.#egress = new OutboundHttp({ allow: [{ host: '127.0.0.1', port: server.port }], time: systemTime })
  }

  /** `atEnd`: when all tests that use it are over. */
  static async open(play: StagePlay, atEnd: AtTestEnd): Promise<ConversationStage> {
    const stage = new ConversationStage(await ActionServer.open(play.answers ?? {}))
    atEnd(() => stage.#close())
    const drafts = play.agents(stage.server.origin)
    for (const [name, draft] of Object.entries(drafts)) stage.#agents.set(name, stage.#agent(name, draft))
    stage.#under = await startEngine(
      {
        voice: stage.voice,
        routes: [...stage.#agents].map(([name, agent]) => ({
          name,
          token: tokenOf(name),
          security: 'srtp-required',
          agent,
        })),
      },
      atEnd,
    )
    stage.#phone = await openPhone()
    await stage.#rehearse(Object.values(drafts))
    return stage
  }

  get under(): EngineUnderTest {
    return this.#under!
  }

  /** Where the phone is called. */
  get phoneUri(): string {
    return this.#phone!.uri()
  }

  agent(name: string): VoiceAgent {
    const agent = this.#agents.get(name)
    if (agent === undefined) throw new Error(`no agent is called ${name}`)
    return agent
  }

  uriOf(name: string): string {
    return this.under.uri.replace(/^sip:[^@]+@/, `sip:${tokenOf(name)}@`)
  }

  /** The row of an effect, whichever call it belongs to. */
  effect(effectId: string): EffectRecord | undefined {
    return this.#ledgers.flatMap(ledger => ledger.records).find(record => record.effect_id === effectId)
  }

  /** The phone calls the agent and plays its part; resolves when the call is over. Throws where the part cannot be played. */
  async call(name: string, steps: readonly CallerStep[]): Promise<FinishedCall> {
    const script = await this.prepare(steps)
    const phone = await this.#phone!.call(this.uriOf(name))
    return this.#play(name, phone, script, async () => this.under.reportOf(phone.leg.callId))
  }

  /** The agent calls the phone, which plays its part. */
  async callPhone(name: string, steps: readonly CallerStep[]): Promise<FinishedCall> {
    const script = await this.prepare(steps)
    const call = await this.under.engine.dial(dialling(this.phoneUri, { agent: this.agent(name) }))
    const phone = await this.#phone!.nextCall()
    return this.#play(name, phone, script, () => call.report)
  }

  /** A call that the test plays by hand; `finish` resolves when it is over. */
  async dial(name: string): Promise<{ readonly phone: PhoneCall; readonly finish: () => Promise<FinishedCall> }> {
    const phone = await this.#phone!.call(this.uriOf(name))
    phone.understand(this.recogniser, 'en')
    phone.talk(this.voice, 'en')
    await phone.waitFor('answered', 10_000)
    return { phone, finish: () => this.#finish(name, phone, () => this.under.reportOf(phone.leg.callId)) }
  }

  prepare(steps: readonly CallerStep[]): Promise<CallerScript> {
    return CallerScript.prepare(steps, new PhoneVoice(this.voice, 'en'))
  }

  async #play(
    name: string,
    phone: PhoneCall,
    script: CallerScript,
    report: () => Promise<CallReport>,
  ): Promise<FinishedCall> {
    phone.understand(this.recogniser, 'en')
    try {
      await script.follow(phone)
    } catch (error) {
      phone.leg.hangUp()
      const { timeline } = await report()
      throw new Error(`${name}: ${String(error)}\n${timeline.map(item => JSON.stringify(item)).join('\n')}`)
    }
    return this.#finish(name, phone, report)
  }

  async #finish(name: string, phone: PhoneCall, report: () => Promise<CallReport>): Promise<FinishedCall> {
    const finished = { plan: this.agent(name).plan, phone, report: await report() }
    await lastWords(phone)
    return finished
  }

  #agent(name: string, draft: Draft): VoiceAgent {
    const compiled = compile(draft)
    if (!compiled.ok)
      throw new Error(`${name}: ${compiled.diagnostics.map(({ path, message }) => `${path}: ${message}`).join('\n')}`)
    return {
      plan: compiled.plan,
      agentId: name,
      agentVersion: 1,
      recogniser: this.recogniser,
      voice: this.voice,
      voiceId: null,
      model: () => this.#model,
      ledger: () => this.#ledger(),
      actions: ledger =>
        new HttpActions({
          egress: this.#egress,
          ledger,
          secrets: { get: async () => null },
          time: systemTime,
          wallClock: Date.now,
        }),
      transferPolicy: destination => judgeDestination(destination, { allowedCountries: ['US'], mayDial: true }),
    }
  }

  #ledger(): MemoryLedger {
    const ledger = new MemoryLedger({ random: systemRandom, wallClock: Date.now })
    this.#ledgers.push(ledger)
    return ledger
  }

  /** Fixed texts are made before the first call: how long a voice takes at first is not what is tested. */
  async #rehearse(drafts: readonly Draft[]): Promise<void> {
    const texts = JSON.stringify(drafts).matchAll(/"type":"static_text","text":"([^"{]+)"/g)
    const voice = new PhoneVoice(this.voice, 'en')
    await Promise.all([...texts].map(([, text]) => voice.render(text!)))
  }

  async #close(): Promise<void> {
    await this.#phone?.close()
    await this.#egress.close()
    await Promise.all([this.voice.close(), this.recogniser.close(), this.#model.close(), this.server.close()])
  }
}

/** What was said last is written down a little after the call: who waits for what cannot come is told when nothing more does. */
async function lastWords(phone: PhoneCall): Promise<void> {
  await phone.untilHears(/$^/, 5000).catch(() => {})
}

function tokenOf(name: string): string {
  return `interop234567${name}`
}

async function openPhone(): Promise<VirtualPhone> {
  const files = await interopCertificates()
  const tls = {
    cert: readFileSync(files.engine.cert, 'utf8'),
    key: readFileSync(files.engine.key, 'utf8'),
    ca: readFileSync(files.ca, 'utf8'),
  }
  return VirtualPhone.open({
    station: { tls, rtp: { ports: PHONE_PORTS, threads: 1 }, userAgentName: 'Parley phone' },
    name: PHONE_NUMBER,
  })
}
