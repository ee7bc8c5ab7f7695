import { InMemoryEffectLedger, ModelMeter, TextSession, type UsageReport } from '@parley/conversation'
import type { Ms } from '@parley/kernel'
import type { CallerMove, TextCaller } from './caller-move.ts'
import { EvaluationError } from './errors.ts'
import { missedSteps } from './expected-steps.ts'
import { MockedActions } from './mocked-actions.ts'
import { personaCaller } from './persona/persona-caller.ts'
import { ScriptCaller } from './script-caller.ts'
import type { TrialOptions } from './trial.ts'
import { TrialNotes, type TrialOutcome, type TrialRecord } from './trial-record.ts'

const ALLOWED = { decision: 'allow', reason: null, policy_version: '1' } as const

/** Runs one trial as a conversation in text. Rejects with the error of a persona's model, or `signal`'s reason. */
export function runTextTrial(options: TrialOptions): Promise<TrialRecord> {
  return new TextTrial(options).run()
}

class TextTrial {
  readonly #options: TrialOptions
  readonly #notes: TrialNotes
  readonly #ledger: InMemoryEffectLedger
  readonly #actions: MockedActions
  readonly #session: TextSession
  readonly #caller: TextCaller
  readonly #usage: UsageReport[] = []
  readonly #landings = new Map<number, string>()
  readonly #heard = new Map<number, string[]>()
  readonly #latencies: Ms[] = []
  readonly #begunAt: Ms
  /** Delays of mocks, which count as waited and are not waited for. */
  #skippedMs: Ms = 0
  #openingAfterMs: Ms | null = null
  #reminders = 0
  /** When the agent began to answer the current turn, on the trial's clock. */
  #answeredAt: Ms | null = null

  constructor(options: TrialOptions) {
    const { plan, testCase, time, wallClock, random, models } = options
    this.#options = options
    this.#begunAt = time.now()
    this.#notes = new TrialNotes(() => new Date(wallClock()).toISOString())
    this.#ledger = new InMemoryEffectLedger({ random, wallClock })
    this.#actions = new MockedActions({
      mocks: testCase.mocks,
      ledger: this.#ledger,
      delay: async ms => {
        this.#skippedMs += ms
      },
      now: () => this.#now(),
    })
    const onUsage = (usage: UsageReport) => void this.#usage.push(usage)
    this.#caller =
      options.caller ??
      (testCase.caller.kind === 'script'
        ? new ScriptCaller(testCase.caller)
        : personaCaller(testCase.caller, {
            language: testCase.language,
            models,
            meter: new ModelMeter(onUsage),
            random,
          }))
    this.#session = new TextSession({
      plan,
      mode: { channel: plan.settings.channels.includes('phone') ? 'phone' : 'cloud', hasCaller: true },
      variables: { run: testCase.dynamic_variables },
      call: {
        run_id: options.runId,
        agent_id: options.agentId,
        agent_version: options.agentVersion,
        channel: 'cloud',
        from_number: null,
        to_number: null,
      },
      models,
      actions: this.#actions,
      ledger: this.#ledger,
      transferPolicy: () => ALLOWED,
      transfers: request => this.#actions.transfer(request.destination),
      time,
      wallClock,
      onUsage,
      onEvent: event => {
        if (event.type === 'fact') this.#notes.add(event.fact, event.offset_ms ?? Math.round(this.#now()))
        if (event.type === 'await-opening') this.#openingAfterMs = event.after_ms
        if (event.type === 'speech-text') this.#answeredAt ??= this.#now()
      },
    })
  }

  async run(): Promise<TrialRecord> {
    const { signal, testCase, time } = this.#options
    const late = new AbortController()
    const over = AbortSignal.any([signal, late.signal])
    over.addEventListener('abort', () => this.#session.stop(), { once: true })
    const timer = time.at(time.now() + testCase.timeout_ms, () => late.abort(timedOut(testCase.timeout_ms)))
    const stopped = new Promise<never>((_, reject) =>
      over.addEventListener('abort', () => reject(over.reason), { once: true }),
    )
    try {
      const outcome = await Promise.race([this.#converse(over), stopped])
      await Promise.race([this.#session.conversation.settled(), stopped])
      over.throwIfAborted()
      return this.#record(outcome)
    } finally {
      timer.cancel()
    }
  }

  async #converse(signal: AbortSignal): Promise<TrialOutcome> {
    const { testCase } = this.#options
    let agentTexts = agentTextsIn(await this.#session.start())
    let turns = 0
    while (this.#session.ended === null && !signal.aborted) {
      const move: CallerMove =
        turns === testCase.max_turns ? { type: 'hang-up' } : await this.#caller.next({ agentTexts }, signal)
      if (move.type === 'hang-up' || signal.aborted) break
      if (move.type === 'turn') turns++
      agentTexts = await this.#perform(move)
    }
    const { ended } = this.#session
    if (ended !== null) return { kind: ended.outcome, ended_by: ended.ended_by, code: ended.code }
    this.#session.stop()
    return { kind: 'caller_hung_up', ended_by: 'caller', code: null }
  }

  /** What the agent answered. */
  async #perform(move: Exclude<CallerMove, { type: 'hang-up' }>): Promise<string[]> {
    if (move.type === 'silence') return this.#stayQuiet(move.ms)
    this.#notes.turn++
    this.#openingAfterMs = null
    this.#answeredAt = null
    const askedAt = this.#now()
    const texts: string[] = []
    if (move.text !== null) texts.push(...agentTextsIn(await this.#session.say(move.text)))
    if (move.digits !== null && this.#session.ended === null)
      texts.push(...agentTextsIn(await this.#session.digits(move.digits)))
    if (this.#answeredAt !== null) this.#latencies.push(Math.max(0, this.#answeredAt - askedAt))
    for (const step of move.steps) {
      this.#heard.set(step, texts)
      if (this.#notes.node !== null) this.#landings.set(step, this.#notes.node)
    }
    return texts
  }

  /** The caller's silence as the agent notices it: the opening, reminders, the limit. */
  async #stayQuiet(ms: Ms): Promise<string[]> {
    const { settings } = this.#options.plan
    const texts: string[] = []
    const silent = async (kind: 'opening' | 'reminder' | 'limit') => {
      if (this.#session.ended === null) texts.push(...agentTextsIn(await this.#session.silence(kind)))
    }
    this.#skippedMs += ms
    if (this.#openingAfterMs !== null) {
      if (ms < this.#openingAfterMs) return texts
      this.#openingAfterMs = null
      await silent('opening')
      return texts
    }
    const due = Math.floor(ms / settings.reminderTriggerMs)
    for (let left = Math.min(due, settings.reminderMaxCount - this.#reminders); left > 0; left--) {
      this.#reminders++
      await silent('reminder')
    }
    if (ms >= settings.endCallAfterSilenceMs) await silent('limit')
    return texts
  }

  #record(outcome: TrialOutcome): TrialRecord {
    const { caller } = this.#options.testCase
    const landings = this.#landings
    const { timeline, speech, nodes } = this.#notes
    return {
      timeline,
      utterances: this.#session.conversation.utterances,
      speech,
      nodes,
      calls: this.#actions.calls,
      guardEvents: this.#actions.guardEvents,
      outcome,
      variable: name => this.#session.conversation.variable(name),
      landings,
      latenciesMs: this.#latencies,
      missed: missedSteps(caller, { heard: this.#heard, landings, hungUp: outcome.ended_by !== 'caller' }),
      usage: this.#usage,
      effects: this.#ledger.records,
    }
  }

  #now(): Ms {
    return this.#options.time.now() - this.#begunAt + this.#skippedMs
  }
}

export function timedOut(ms: Ms): Error {
  return new EvaluationError('trial_timeout', `the trial did not end within ${ms} ms: raise timeout_ms of the case`)
}

function agentTextsIn(utterances: readonly { readonly role: string; readonly text: string }[]): string[] {
  return utterances.flatMap(({ role, text }) => (role === 'agent' ? [text] : []))
}
