import {
  AgentActions,
  CodeThreads,
  type EffectRecord,
  InMemoryEffectLedger,
  TextSession,
  type Utterance,
} from '@parley/conversation'
import { OutboundHttp } from '@parley/egress'
import { type ExampleName, ExampleServer, type ExampleServerOptions, exampleDraft, withOrigin } from '@parley/examples'
import { compile } from '@parley/flow'
import { systemRandom, systemTime } from '@parley/kernel'
import { type LanguageModel, RulesModel } from '@parley/providers'
import { addressOf } from '../workspace/address-of.ts'

/** The current time of the examples: Monday, 23 November 2026, 9:00 UTC. */
const MONDAY = Date.UTC(2026, 10, 23, 9)

const CALL = {
  run_id: null,
  agent_id: null,
  agent_version: null,
  channel: 'phone',
  from_number: '+12025550111',
  to_number: null,
} as const

/** A text conversation with an example agent. Its HTTP actions use an example server of its own; its model is rules-1 by default. */
export class ExampleSession {
  readonly server: ExampleServer
  /** Nodes in the order of entry. */
  readonly nodes: string[] = []
  readonly #session: TextSession
  readonly #ledger: InMemoryEffectLedger
  readonly #egress: OutboundHttp

  private constructor(name: ExampleName, server: ExampleServer, model: LanguageModel) {
    const compiled = compile(withOrigin(exampleDraft(name).draft, server.origin))
    if (!compiled.ok) throw new Error(`the example ${name} is not valid`)
    const wallClock = () => MONDAY
    this.server = server
    this.#ledger = new InMemoryEffectLedger({ random: systemRandom, wallClock })
    this.#egress = new OutboundHttp({ allow: [addressOf(server)], time: systemTime })
    const actions = new AgentActions({
      code: new CodeThreads(),
      egress: this.#egress,
      ledger: this.#ledger,
      secrets: { get: async () => null },
      time: systemTime,
      wallClock,
    })
    this.#session = new TextSession({
      plan: compiled.plan,
      mode: { channel: 'phone', hasCaller: true },
      call: CALL,
      models: () => model,
      actions,
      ledger: this.#ledger,
      transferPolicy: () => ({ decision: 'allow', reason: null, policy_version: '1' }),
      time: systemTime,
      wallClock,
      onEvent: event => {
        if (event.type === 'fact' && event.fact.kind === 'node') this.nodes.push(event.fact.node_id)
      },
    })
  }

  static async open(
    name: ExampleName,
    options: Omit<ExampleServerOptions, 'wallClock'> = {},
    model: LanguageModel = new RulesModel(),
  ): Promise<ExampleSession> {
    return new ExampleSession(name, await ExampleServer.open({ ...options, wallClock: () => MONDAY }), model)
  }

  /** This and the next three return the agent's answer, utterances joined by spaces. */
  start = async () => agentText(await this.#session.start())
  say = async (text: string) => agentText(await this.#session.say(text))
  press = async (digits: string) => agentText(await this.#session.digits(digits))
  silence = async () => agentText(await this.#session.silence('reminder'))

  /** Outcome of the conversation; null until it ends. */
  get outcome(): string | null {
    return this.#session.ended?.outcome ?? null
  }

  /** The current node. */
  get node(): string | undefined {
    return this.nodes.at(-1)
  }

  /** The HTTP actions that were sent, with their state: "book_slot succeeded". */
  actions(): string[] {
    const isHttp = (effect: EffectRecord) => effect.effect_kind === 'http'
    return this.#ledger.records.filter(isHttp).map(effect => `${effect.action.id} ${effect.state}`)
  }

  async close(): Promise<void> {
    this.#session.stop()
    await this.#session.conversation.settled()
    await this.#egress.close()
    await this.server.close()
  }
}

function agentText(utterances: readonly Utterance[]): string {
  return utterances
    .filter(({ role }) => role === 'agent')
    .map(({ text }) => text)
    .join(' ')
}
