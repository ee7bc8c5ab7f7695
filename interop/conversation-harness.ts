import { readFileSync } from 'node:fs'
import type { EffectRecord } from '@parley/conversation'
import type { VoiceAgent } from '@parley/engine'
import type { CallReport } from '@parley/engine/testing'
import type { Draft, Plan } from '@parley/flow'
import { CallerScript, type CallerStep, type PhoneCall, PhoneVoice, VirtualPhone } from '@parley/phone'
import { type ActionAnswers, ActionServer } from './action-server.ts'
import { AgentServices } from './agent-services.ts'
import type { AtTestEnd } from './clean-up.ts'
import { dialling, type EngineUnderTest, startEngine } from './engine.ts'
import { interopCertificates } from './recipe.ts'

/** Below the range that the kernel picks outgoing ports from, above the engine's. */
const PHONE_PORTS = { from: 32_000, to: 32_699 }
/** A number of a country that transfers may go to. */
export const PHONE_NUMBER = '+12025550111'

/** The agents, and the responses of their action server. */
interface HarnessOptions {
  /** Drafts by name; `origin`: the action server, such as http://127.0.0.1:8080. */
  readonly agents: (origin: string) => Readonly<Record<string, Draft>>
  readonly answers?: ActionAnswers
}

/** An ended call, from both sides. */
export interface FinishedCall {
  readonly plan: Plan
  /** The phone's side: words and digits that it received. */
  readonly phone: PhoneCall
  /** Lines that the phone spoke by its script; null: the test spoke without a script. */
  readonly callerLines: readonly string[] | null
  /** The engine's side. */
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

  /** Closes at `atEnd`, after all tests that use it. */
  static async open(options: HarnessOptions, atEnd: AtTestEnd): Promise<ConversationHarness> {
    const server = await ActionServer.open(options.answers ?? {})
    atEnd(() => server.close())
    const services = new AgentServices(server.origin)
    atEnd(() => services.close())
    const drafts = options.agents(server.origin)
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

  /** The phone calls the agent and follows `steps`; resolves when the call has ended. Throws when a step fails. */
  async call(name: string, steps: readonly CallerStep[]): Promise<FinishedCall> {
    const script = await this.#prepare(steps)
    const phone = await this.#phone.call(this.#uriOf(name))
    return this.#play(name, phone, script, wordsIn(steps), () => this.#under.reportOf(phone.leg.callId))
  }

  /** The agent calls the phone, which follows `steps`. */
  async callPhone(name: string, steps: readonly CallerStep[]): Promise<FinishedCall> {
    const script = await this.#prepare(steps)
    const call = await this.dialOut(name, this.#phone.uri())
    const phone = await this.#phone.nextCall()
    return this.#play(name, phone, script, wordsIn(steps), () => call.report)
  }

  get phoneUri(): string {
    return this.#phone.uri()
  }

  /** Resolves with the next call to the phone, which answers it and can speak. */
  async answerOnPhone(): Promise<PhoneCall> {
    const phone = await this.#phone.nextCall()
    phone.setVoice(this.#services.voice, 'en')
    return phone
  }

  /** The agent calls `uri`. */
  dialOut(name: string, uri: string) {
    return this.#under.dial(dialling(uri, { agent: this.#agent(name) }))
  }

  /** A call without a script: the test controls the phone. `finish` resolves when the call has ended. */
  async dial(name: string): Promise<{ readonly phone: PhoneCall; readonly finish: () => Promise<FinishedCall> }> {
    const phone = await this.#phone.call(this.#uriOf(name))
    phone.setRecogniser(this.#services.recogniser, 'en')
    phone.setVoice(this.#services.voice, 'en')
    await phone.waitFor('answered', 60_000)
    return { phone, finish: () => this.#finish(name, phone, null, () => this.#under.reportOf(phone.leg.callId)) }
  }

  async #play(
    name: string,
    phone: PhoneCall,
    script: CallerScript,
    callerLines: readonly string[],
    report: () => Promise<CallReport>,
  ): Promise<FinishedCall> {
    phone.setRecogniser(this.#services.recogniser, 'en')
    try {
      await script.follow(phone)
    } catch (error) {
      phone.leg.hangUp()
      const { timeline } = await report()
      throw new Error(`${name}: ${String(error)}\n${timeline.map(item => JSON.stringify(item)).join('\n')}`)
    }
    return this.#finish(name, phone, callerLines, report)
  }

  async #finish(
    name: string,
    phone: PhoneCall,
    callerLines: FinishedCall['callerLines'],
    report: () => Promise<CallReport>,
  ): Promise<FinishedCall> {
    const finished = { plan: this.#agent(name).plan, phone, callerLines, report: await report() }
    await lastWords(phone)
    return finished
  }

  #prepare(steps: readonly CallerStep[]): Promise<CallerScript> {
    return CallerScript.prepare(steps, new PhoneVoice(this.#services.voice, 'en'))
  }

  #agent(name: string): VoiceAgent {
    const agent = this.#agents.get(name)
    if (agent === undefined) throw new Error(`the harness has no agent with the name ${name}`)
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
