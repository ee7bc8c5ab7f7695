import { hash } from 'node:crypto'
import { ParleyError, type Time } from '@parley/kernel'
import type { SipCallLeg, SipRequest } from '@parley/leg'
import type { OwnedRun, OwnedRunEnding, RunLeases } from '@parley/runs'
import {
  type AdmissionRefusal,
  type AnsweredNumber,
  admitRun,
  type Database,
  type InboundTrunk,
  listNumbers,
  numberReached,
} from '@parley/store'
import type { AbandonReason, CallPlan, RingingDecision } from '../call-plan.ts'
import { calledNumbers, e164Numbers, type NumberRules } from '../called-number.ts'
import { EngineError } from '../errors.ts'
import type { CallRefusal, InboundDecision, InboundRoute, InboundRouter } from '../inbound-router.ts'
import type { CallLadders } from '../ladder/call-ladders.ts'
import { tokensOf } from '../token-router.ts'
import type { AgentFactory } from './agent-factory.ts'
import { startingCall } from './call-memory.ts'
import { CallRecord, type CallRecordEnd } from './call-record.ts'
import { callerIdentityOf } from './caller-identity.ts'
import { headerVariables } from './custom-headers.ts'
import { diversionVariables } from './diversion.ts'
import { requestInboundContext } from './inbound-context.ts'
import { InboundRate } from './inbound-rate.ts'
import { openRecording, type Recordings } from './recordings.ts'
import { RefusedCalls } from './refused-calls.ts'
import { type CallSwaps, factsOf, type ReadyRun, runHandler, runPlan, wantsRecording } from './run-plan.ts'
import { countryOf, sourcesOfAll, trunkMedia } from './trunk-details.ts'
import type { TrunkDirectory } from './trunk-directory.ts'
import { numberRulesOf } from './trunk-numbers.ts'

const OVERLOADED: InboundDecision = { kind: 'refused', status: 503, retryAfterS: 5 }
const RATE_EXCEEDED: InboundDecision = { kind: 'refused', status: 503, retryAfterS: 1 }

interface InboundRunsOptions {
  readonly database: Database
  readonly leases: RunLeases
  readonly directory: TrunkDirectory
  /** Trunks whose registration keeps this connection; default none. */
  readonly registeredOn?: (flowId: string) => readonly InboundTrunk[]
  readonly agents: AgentFactory
  readonly recordings: Recordings
  /** Default: no other agent can continue a call. */
  readonly swaps?: CallSwaps
  readonly time: Time
  /** Default: no SIP messages are stored. */
  readonly ladders?: CallLadders
  readonly onOver: (run: OwnedRun, end: CallRecordEnd) => void
  readonly onProblem: (what: string, error: unknown) => void
}

/** A number that may have been called on a trunk. */
interface Candidate {
  readonly trunk: InboundTrunk
  readonly phone_number: string
}

interface ReachedNumber {
  readonly trunk: InboundTrunk
  readonly number: AnsweredNumber
}

/** Routes of the trunks in the database. The engine that a call reaches admits it and owns its run. */
export class InboundRuns implements InboundRouter {
  readonly #options: InboundRunsOptions
  readonly #refused: RefusedCalls
  readonly #rate = new InboundRate()

  constructor(options: InboundRunsOptions) {
    this.#options = options
    this.#refused = new RefusedCalls(options)
  }

  find(request: SipRequest, sourceAddress: string, flowId?: string): InboundRoute | null {
    const { directory, registeredOn } = this.#options
    const registered = flowId === undefined ? [] : (registeredOn?.(flowId) ?? [])
    const named = directory.byToken(request, sourceAddress, registered)
    const unnamed = registered.length > 0 ? registered : directory.bySource(sourceAddress)
    const trunks = named === null ? unnamed : [named]
    if (trunks.length === 0) return null
    const isProved = named !== null || registered.length > 0
    if (request.method === 'INVITE') this.#options.ladders?.expect(request.callId)
    const [only] = trunks.length === 1 ? trunks : []
    return {
      serverName: only?.termination_uri ?? null,
      sources: sourcesOfAll(trunks),
      receive: invite => this.#receive(trunks, invite, isProved),
      takeRateSlot: () => this.#rate.take(trunks, this.#options.time.now()),
      refused: (invite, why) => this.#noteRefused(trunks, invite, why, isProved),
    }
  }

  lists(sourceAddress: string): boolean {
    return this.#options.directory.bySource(sourceAddress).length > 0
  }

  #noteRefused(trunks: readonly InboundTrunk[], invite: SipRequest, why: CallRefusal, isProved: boolean): void {
    this.#refused.note(invite.callId, () => this.#recordRejected(trunks, invite, why, isProved))
  }

  /** `isProved`: a token or a registration names the trunks; otherwise only the source address does, which others may have as well. */
  async #receive(trunks: readonly InboundTrunk[], invite: SipRequest, isProved: boolean): Promise<InboundDecision> {
    try {
      const reached = await this.#reached(trunks, invite, isProved)
      if (reached === null) return { kind: 'refused', status: 404 }
      // Of several trunks at the same address none may use up the calls of the others.
      if (trunks.length > 1 && !this.#rate.take([reached.trunk], this.#options.time.now())) {
        this.#noteRefused(trunks, invite, 'call_rate', isProved)
        return RATE_EXCEEDED
      }
      const admitted = await this.#admit(reached, invite)
      return typeof admitted === 'string' ? refusalOf(admitted) : await this.#begin(admitted, reached.trunk, invite)
    } catch (error) {
      // Nothing is admitted without the database: 503 makes the carrier try another engine, or again.
      this.#options.onProblem('an inbound call cannot be admitted', error)
      return OVERLOADED
    }
  }

  /** Finds the called number: on the trunk of the token, or on the only one of several trunks that has it. */
  async #reached(
    trunks: readonly InboundTrunk[],
    invite: SipRequest,
    isProved: boolean,
  ): Promise<ReachedNumber | null> {
    const { database } = this.#options
    for (const { trunk, phone_number } of await this.#candidates(trunks, invite, isProved)) {
      const number = await numberReached(database.within(trunk.scope), trunk.scope, trunk.trunk_id, phone_number)
      if (number.kind === 'unanswered' && number.reason === 'no_number') continue
      return number.kind === 'answered' && number.channels.includes('phone') ? { trunk, number } : null
    }
    return null
  }

  /** Numbers that may have been called, the likeliest first. One query for all trunks, since many may list the same carrier. */
  async #candidates(
    trunks: readonly InboundTrunk[],
    invite: SipRequest,
    isProved: boolean,
  ): Promise<readonly Candidate[]> {
    const [only, ...others] = trunks
    const candidate = (trunk: InboundTrunk, phone_number: string) => ({
      trunk,
      phone_number,
      scope: trunk.scope,
      trunk_id: trunk.trunk_id,
    })
    if (only === undefined) return []
    if (isProved && others.length === 0)
      return (await this.#called(only, invite)).map(number => candidate(only, number))
    const found = await this.#options.database.telephony.reached(
      trunks.flatMap(trunk => calledOn(trunk, invite).map(number => candidate(trunk, number))),
      !isProved,
    )
    return found.every(({ trunk }) => trunk === found[0]!.trunk) ? found : []
  }

  /** An INVITE with the trunk's token and without any number reaches the trunk's number, if it has exactly one. */
  async #called(trunk: InboundTrunk, invite: SipRequest): Promise<readonly string[]> {
    const written = calledOn(trunk, invite)
    if (written.length > 0) return written
    const { scope, trunk_id } = trunk
    const { rows } = await listNumbers(this.#options.database.within(scope), scope, {
      trunk_id,
      cursor: null,
      limit: 2,
    })
    return rows.length === 1 ? [rows[0]!.phone_number] : []
  }

  /** Stores a rejected run for a call that the engine refused: it is admitted and finished at once. */
  async #recordRejected(
    trunks: readonly InboundTrunk[],
    invite: SipRequest,
    why: CallRefusal,
    isProved: boolean,
  ): Promise<void> {
    const reached = await this.#reached(trunks, invite, isProved)
    if (reached === null) return
    const admitted = await this.#admit(reached, invite)
    if (typeof admitted !== 'string') await this.#record(admitted, invite, reached.trunk).abandon(rejected(why))
  }

  async #admit({ trunk, number }: ReachedNumber, invite: SipRequest): Promise<OwnedRun | AdmissionRefusal> {
    const { database, leases } = this.#options
    const { scope } = trunk
    const country = countryOf(trunk)
    const rules = numberRulesOf(trunk.details)
    const { variables, refused } = headerVariables(invite, trunk.details.headers_in)
    // In one trip: admissions of the environment wait for each other until the commit, which must not wait for this process.
    const admission = await database.transaction(
      scope,
      tx =>
        admitRun(
          tx,
          scope,
          {
            agent_id: number.agent_id,
            version: number.version,
            channel: 'phone',
            mode: 'inbound',
            trigger: { kind: 'sip', number_id: number.number_id, call_id_sha256: sha256(invite.callId) },
            test: false,
            from_number: callerOf(invite, country, rules),
            to_number: number.phone_number,
            trunk_id: trunk.trunk_id,
            dynamic_variables: { ...diversionVariables(invite, country, rules), ...variables },
            metadata: null,
            caller_identity: callerIdentityOf(invite),
            key_id: null,
            // An admin assigned the number to the agent: its calls may be transferred.
            can_dial: true,
            notifies: number.plan.notification != null,
          },
          { owner: { ...leases.owner, leaseMs: leases.leaseMs }, keepRefused: true },
        ),
      'one-trip',
    )
    if (admission.kind === 'refused') return admission.reason
    if (admission.owned === null)
      throw new TypeError('admit_run returned no ownership for a run that was admitted with an owner')
    const run = leases.adopt(scope, admission.owned, 1)
    // Before its ladder is attached, which passes on the INVITE.
    run.redact(number.plan.settings.redaction)
    for (const name of refused)
      run.note({
        kind: 'error',
        code: 'header_refused',
        message: `The header ${name} of the INVITE is longer than 1,024 bytes: the run has no variable ${name.toLowerCase()}.`,
      })
    return run
  }

  #record(run: OwnedRun, invite: SipRequest, trunk: InboundTrunk): CallRecord {
    const { recordings, time, ladders, onOver } = this.#options
    const record = new CallRecord({
      run,
      direction: 'inbound',
      time,
      recordings,
      onOver: end => onOver(run, end),
    })
    record.keepLadder(ladders, invite.callId, tokensIn(invite, trunk))
    record.enter('preparing', 'admitted')
    return record
  }

  async #begin(run: OwnedRun, trunk: InboundTrunk, invite: SipRequest): Promise<InboundDecision> {
    const { database, recordings, agents, swaps, time, onProblem } = this.#options
    const { scope } = trunk
    const record = this.#record(run, invite, trunk)
    try {
      const start = await startingCall(database, scope, run.runId, onProblem)
      if (start === null) throw new EngineError('internal', `run ${run.runId} was admitted and is not in the database`)
      const { agent_id, version, plan } = start
      const agent = await agents.create({ scope, agent_id, version, plan })
      const recording = wantsRecording(plan) ? await openRecording(recordings, run) : null
      const media = trunkMedia(trunk.details)
      return {
        kind: 'taken',
        ...media,
        plan: this.#plan({ run, start, trunk, agent, record, time, ...(swaps && { swaps }) }, recording),
      }
    } catch (error) {
      const code = error instanceof ParleyError ? error.code : 'internal'
      // `Recordings` reports this error itself, once for many calls.
      if (code !== 'recording_unavailable') onProblem(`run ${run.runId} was admitted and cannot be set up`, error)
      void record.abandon(rejected(code))
      return OVERLOADED
    }
  }

  #plan(ready: ReadyRun, recording: CallPlan['recording']): CallPlan {
    const { record } = ready
    return {
      ...runPlan(ready, recording),
      whileRinging: leg => this.#whileRinging(ready, leg),
      onAbandoned: why => {
        // A call that the caller cancelled does not count as refused.
        if (why === 'caller_gone') record.enter('awaiting_sip')
        void record.abandon(UNANSWERED[why])
      },
    }
  }

  /** Requests context from the agent's server, and stores the dialog so that another process can end the call if this one dies. */
  async #whileRinging(ready: ReadyRun, leg: SipCallLeg): Promise<RingingDecision> {
    const { run, start, agent, record, time } = ready
    const facts = factsOf(start)
    const isOver = () => leg.state === 'ended' || record.isStopped
    const context = await requestInboundContext(agent, facts.call, run, isOver, time)
    if (context.kind === 'rejected') return { kind: 'refuse', status: 603 }
    record.enter('awaiting_sip')
    // For the far end the call may exist as soon as the 200 is sent, so the data for a BYE are stored before.
    if (leg.dialog !== null) await run.persistDialog({ ...leg.dialog })
    if (context.kind === 'none') return { kind: 'answer' }
    return { kind: 'answer', createHandler: runHandler(ready, { ...facts, context: context.variables }) }
  }
}

function refusalOf(reason: AdmissionRefusal): InboundDecision {
  return reason === 'tenant_not_configured' ? OVERLOADED : { kind: 'refused', status: 486 }
}

/** Numbers that an INVITE on this trunk may mean, the likeliest first. */
function calledOn(trunk: InboundTrunk, invite: SipRequest): readonly string[] {
  return calledNumbers(invite, countryOf(trunk), numberRulesOf(trunk.details))
}

/** The caller's E.164 number; null: withheld, or not a number. */
function callerOf(invite: SipRequest, country: string | null, rules: NumberRules): string | null {
  const { uri } = invite.from
  const written = 'user' in uri ? uri.user?.split(';')[0] : undefined
  return written === undefined ? null : (e164Numbers(written, country, rules)[0] ?? null)
}

/** The trunk's token where the request carries it: whoever knows it can call in. */
function tokensIn(invite: SipRequest, { token_sha256 }: InboundTrunk): string[] {
  return tokensOf(invite).filter(token => sha256(token) === token_sha256)
}

function sha256(text: string): string {
  return hash('sha256', text)
}

function rejected(disposition: string): OwnedRunEnding {
  return { state: 'rejected', phone_state: 'rejected', outcome: null, disposition }
}

const UNANSWERED: Readonly<Record<AbandonReason, OwnedRunEnding>> = {
  caller_gone: {
    state: 'completed',
    phone_state: 'ended',
    outcome: { kind: 'caller_hung_up', detail: null, sip_status: 487, ended_by: 'caller' },
    disposition: 'caller_hung_up',
  },
  not_answered: rejected('media_refused'),
  refused: rejected('inbound_context'),
}
