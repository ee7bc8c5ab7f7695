import { setImmediate } from 'node:timers/promises'
import type { Plan } from '@parley/flow'
import { SeededRandom, VirtualTime } from '@parley/kernel'
import { InMemoryEffectLedger } from '../in-memory-effect-ledger.ts'
import { TextSession, type TextSessionOptions } from '../text-session.ts'
import type { TimelineFact } from '../timeline.ts'
import type { Utterance } from '../transcript.ts'
import { ScriptedActions } from './scripted-actions.ts'
import { ScriptedModel } from './scripted-model.ts'

const NOON = Date.UTC(2026, 0, 5, 12)

export type HarnessOptions = Partial<Omit<TextSessionOptions, 'onEvent'>>

/** Dependencies of a conversation under test: virtual time, scripted model and actions, in-memory ledger. */
export function conversationFixture(plan: Plan, rest: HarnessOptions = {}) {
  const time = new VirtualTime()
  const wallClock = () => NOON + time.now()
  const model = new ScriptedModel(time)
  const actions = new ScriptedActions(time)
  const ledger = new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock })
  const options = {
    plan,
    mode: { channel: 'phone', hasCaller: true },
    call: { run_id: 'run', agent_id: 'agent', agent_version: 1, channel: 'phone', from_number: null, to_number: null },
    models: () => model,
    actions,
    ledger,
    transferPolicy: () => ({ decision: 'allow', reason: null, policy_version: '1' }),
    time,
    wallClock,
    ...rest,
  } satisfies TextSessionOptions
  return { time, model, actions, ledger, options }
}

/** Runs all work that needs no timer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate()
}

/** A text conversation whose timeline is returned as lines. */
export class TextConversationHarness {
  readonly fixture: ReturnType<typeof conversationFixture>
  readonly session: TextSession
  #lines: string[] = []

  constructor(plan: Plan, rest: HarnessOptions = {}) {
    const set = conversationFixture(plan, rest)
    this.fixture = set
    this.session = new TextSession({
      ...set.options,
      onEvent: event => {
        if (event.type === 'fact') this.#lines.push(...lineOf(event.fact))
        if (event.type === 'ended')
          this.#lines.push(`ended: ${event.outcome} by ${event.ended_by}${event.code === null ? '' : ` ${event.code}`}`)
      },
    })
  }

  get model(): ScriptedModel {
    return this.fixture.model
  }

  get actions(): ScriptedActions {
    return this.fixture.actions
  }

  start = () => this.#done(this.session.start())
  say = (text: string) => this.#done(this.session.say(text))
  digits = (digits: string) => this.#done(this.session.digits(digits))
  silence = (kind: 'opening' | 'reminder' | 'limit') => this.#done(this.session.silence(kind))

  /** Timeline lines since the last call. */
  lines(): string[] {
    return this.#lines.splice(0)
  }

  async #done(turn: Promise<readonly Utterance[]>): Promise<string[]> {
    await turn
    return this.lines()
  }
}

/** A timeline fact in the notation of the tests. */
export function lineOf(fact: TimelineFact): string[] {
  switch (fact.kind) {
    case 'utterance':
      return [`${fact.role}: ${fact.text}`]
    case 'node':
      return [`-> ${fact.node_id} (${fact.cause})`]
    case 'action':
      return [`${fact.action_id} ${fact.phase}`]
    case 'digits':
      return [`digits ${fact.direction}: ${fact.digits}`]
    case 'variables':
      return [
        `${fact.source} set ${fact.set.join()}${fact.ignored.length > 0 ? ` ignored ${fact.ignored.join()}` : ''}`,
      ]
    case 'error':
      return [`error ${fact.code}`]
    case 'language':
      return [`${fact.from} -> ${fact.language} (${fact.cause})`]
    case 'interruption':
      return [fact.resumed ? 'resumed' : `cut ${fact.index}`]
    default:
      return [fact.kind]
  }
}
