import { readFileSync } from 'node:fs'
import type { EffectRecord } from '@parley/conversation'
import type { VoiceAgent } from '@parley/engine'
import type { CallReport } from '@parley/engine/testing'
import type { Draft, Plan } from '@parley/flow'
import { CallerScript, type CallerStep, type PhoneCall, PhoneVoice, VirtualPhone } from '@parley/phone'
import { type ActionAnswers, ActionServer } from './action-server.ts'
import { AgentServices } from './agent-services.ts'
import { dialling, type EngineUnderTest, startEngine } from './engine.ts'
import { type AtTestEnd, interopCertificates } from './recipe.ts'

/** Below the range that the kernel picks outgoing ports from, above the engine's. */
const PHONE_PORTS = { from: 32_000, to: 32_699 }
/** A number of a country that transfers may go to. */
export const PHONE_NUMBER = '+12025550111'

/** The agents, and what their actions' server answers. */
export interface HarnessOptions {
  /** By name; `origin` is where their actions go. */
  readonly agents: (origin: string) => Readonly<Record<string, Draft>>
  readonly answers?: ActionAnswers
}

/** A call that is over, from both sides. */
export interface FinishedCall {
  readonly plan: Plan
  /** What the phone heard and got. */
  readonly phone: PhoneCall
  /** What its part had the phone say; null: it was played by hand. */
  readonly said: readonly string[] | null
  /** What the engine says of it. */
  readonly report: CallReport
}

/**
 * One engine with several agents, each at a token of its own, the server of their actions, and a phone that speaks and
 * understands by tones. Everything between them is real: TLS, SRTP over UDP, HTTP.
 */
export class ConversationHarness {
  readonly server: ActionServer
  readonly #services: AgentServices
  readonly #agents: ReadonlyMap<string, VoiceAgent>
  readonly #under: EngineUnderTest
  readonly #phone: VirtualPhone

  private constructor(parts: {
    readonly server: ActionServer
    readonly services: AgentServices
    readonly agents: ReadonlyMap<string, VoiceAgent>
    readonly under: EngineUnderTest
    readonly phone: VirtualPhone
  }) {
    this.server = parts.server
    this.#services = parts.services
    this.#agents = parts.agents
    this.#under = parts.under
    this.#phone = parts.phone
  }

  /** It is closed at `atEnd`: when all tests that use it are over. */
  static async open(play: HarnessOptions, atEnd: AtTestEnd): Promise<ConversationHarness> {
    const server = await ActionServer.open(play.answers ?? {})
    atEnd(() => server.close())
    const services = new AgentServices(server.origin)
    atEnd(() => services.close())
    const drafts = play.agents(server.origin)
    await services.rehearse(...Object.values(drafts))
    const agents = new Map(Object.entries(drafts).map(([name, draft]) => [name, services.agent(name, draft)]))
    const routes = [...agents].map(
      ([name, agent]) => ({ token: tokenOf(name), security: 'srtp-required', agent }) as const,
    )
    const under = await startEngine({ voice: services.voice, routes }, atEnd)
    const phone = await openPhone()
    atEnd(() => phone.close())
    return new ConversationHarness({ server, services, agents, under, phone })
  }

  effect(effectId: string): EffectRecord | undefined {
    return this.#services.effect(effectId)
  }

  /** The phone calls the agent and plays its part; resolves when the call is over. Throws where the part cannot be played. */
  async call(name: string, steps: readonly CallerStep[]): Promise<FinishedCall> {
    const script = await this.#prepare(steps)
    const phone = await this.#phone.call(this.#uriOf(name))
    return this.#play(name, phone, script, wordsIn(steps), () => this.#under.reportOf(phone.leg.callId))
  }

  /** The agent calls the phone, which plays its part. */
  async callPhone(name: string, steps: readonly CallerStep[]): Promise<FinishedCall> {
    const script = await this.#prepare(steps)
    const call = await this.dialOut(name, this.#phone.uri())
    const phone = await this.#phone.nextCall()
    return this.#play(name, phone, script, wordsIn(steps), () => call.report)
  }

  get phoneUri(): string {
    return this.#phone.uri()
  }

  /** The next call that reaches the phone, which answers it and can talk. */
  async phoneRings(): Promise<PhoneCall> {
    const phone = await this.#phone.nextCall()
    phone.talk(this.#services.voice, 'en')
    return phone
  }

  /** The agent calls `uri`. */
  dialOut(name: string, uri: string) {
    return this.#under.dial(dialling(uri, { agent: this.#agent(name) }))
  }

  /** A call that the test plays by hand; `finish` resolves when it is over. */
  async dial(name: string): Promise<{ readonly phone: PhoneCall; readonly finish: () => Promise<FinishedCall> }> {
    const phone = await this.#phone.call(this.#uriOf(name))
    phone.understand(this.#services.recogniser, 'en')
    phone.talk(this.#services.voice, 'en')
    await phone.waitFor('answered', 10_000)
    return { phone, finish: () => this.#finish(name, phone, null, () => this.#under.reportOf(phone.leg.callId)) }
  }

  async #play(
    name: string,
    phone: PhoneCall,
    script: CallerScript,
    said: readonly string[],
    report: () => Promise<CallReport>,
  ): Promise<FinishedCall> {
    phone.understand(this.#services.recogniser, 'en')
    try {
      await script.follow(phone)
    } catch (error) {
      phone.leg.hangUp()
      const { timeline } = await report()
      throw new Error(`${name}: ${String(error)}\n${timeline.map(item => JSON.stringify(item)).join('\n')}`)
    }
    return this.#finish(name, phone, said, report)
  }

  async #finish(
    name: string,
    phone: PhoneCall,
    said: FinishedCall['said'],
    report: () => Promise<CallReport>,
  ): Promise<FinishedCall> {
    const finished = { plan: this.#agent(name).plan, phone, said, report: await report() }
    await lastWords(phone)
    return finished
  }

  #prepare(steps: readonly CallerStep[]): Promise<CallerScript> {
    return CallerScript.prepare(steps, new PhoneVoice(this.#services.voice, 'en'))
  }

  #agent(name: string): VoiceAgent {
    const agent = this.#agents.get(name)
    if (agent === undefined) throw new Error(`no agent is called ${name}`)
    return agent
  }

  #uriOf(name: string): string {
    return this.#under.uri.replace(/^sip:[^@]+@/, `sip:${tokenOf(name)}@`)
  }
}

function wordsIn(steps: readonly CallerStep[]): string[] {
  const acts = steps.map(step => (step.type === 'interrupt' ? step.by : step))
  return acts.flatMap(act => (act.type === 'say' ? [act.text] : []))
}

/** The last words are recognised a little after the call's end; a wait for words that cannot come rejects once nothing more arrives. */
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
  const endpoint = { tls, rtp: { ports: PHONE_PORTS, threads: 1 }, userAgentName: 'Parley phone' }
  return VirtualPhone.open({ endpoint, name: PHONE_NUMBER })
}
