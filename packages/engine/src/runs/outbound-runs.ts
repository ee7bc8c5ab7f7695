import type { PolicyReason } from '@parley/conversation'
import { type Ms, ParleyError, Semaphore, type Time } from '@parley/kernel'
import { type InviteAttempt, LegError } from '@parley/leg'
import { MediaError } from '@parley/media'
import type { OwnedRun, OwnedRunEnding, RunLeases, Work } from '@parley/runs'
import type { HeaderPairs } from '@parley/sip'
import {
  type CallSlot,
  type Database,
  type DialableTrunk,
  dialableTrunk,
  listEffects,
  type OutboundTrunk,
  type Sealer,
  type StartingRun,
  takeCallSlot,
} from '@parley/store'
import type { Call } from '../call.ts'
import type { CallCapacity, CallPlace } from '../call-capacity.ts'
import type { CallPlan } from '../call-plan.ts'
import type { DialRequest } from '../engine.ts'
import { EngineError } from '../errors.ts'
import type { CallLadders } from '../ladder/call-ladders.ts'
import type { AgentFactory } from './agent-factory.ts'
import { startingCall } from './call-memory.ts'
import { CallRecord, type CallRecordEnd, undialled } from './call-record.ts'
import { variableHeaders } from './custom-headers.ts'
import { DialEffect } from './dial-effect.ts'
import { dialTarget } from './dial-target.ts'
import { openRecording, type Recordings } from './recordings.ts'
import { type CallSwaps, policyOf, type ReadyRun, runPlan, wantsRecording } from './run-plan.ts'

/** Longest wait of a call for its turn on the trunk. */
const MAX_SLOT_WAIT_MS: Ms = 60_000
const DIAL = { id: 'call.dial', version: 1 }

interface OutboundRunsOptions {
  readonly database: Database
  readonly leases: RunLeases
  readonly sealer: Sealer
  readonly agents: AgentFactory
  readonly recordings: Recordings
  /** Default: no other agent can continue a call. */
  readonly swaps?: CallSwaps
  readonly time: Time
  /** Default: no SIP messages are stored. */
  readonly ladders?: CallLadders
  readonly capacity: CallCapacity
  /** Dials; releases `place` when the call ends. Throws `ParleyError` if no INVITE could be sent. */
  readonly dial: (request: DialRequest, place: CallPlace) => Promise<Call>
  /** Called before each call to a trunk; default nothing. */
  readonly onDial?: (trunk: OutboundTrunk) => void
  readonly onOver: (run: OwnedRun, end: CallRecordEnd) => void
  readonly onProblem: (what: string, error: unknown) => void
}

/** Runs whose set-up uses the database at the same time. Limited, since live calls need database connections too. */
const MAX_SETUPS_AT_ONCE = 8

/** A run with everything that its INVITE needs. */
interface ReadyToDial extends ReadyRun {
  readonly trunk: DialableTrunk
  /** The ledger's row of the INVITE. */
  readonly effectId: string
}

/** Thrown for a run that ends before its INVITE was sent. */
class SetupFailure extends Error {
  readonly ending: OwnedRunEnding

  constructor(ending: OwnedRunEnding) {
    super('the call ended before its INVITE was sent')
    this.ending = ending
  }
}

/** Thrown when the engine drains: the run is released for another engine. */
class EngineDrained extends Error {}

/** Claims waiting phone runs and dials them. */
export class OutboundRuns {
  readonly #options: OutboundRunsOptions
  /** Ids of runs that are being set up. */
  readonly #beginning = new Set<string>()
  readonly #setups = new Semaphore(MAX_SETUPS_AT_ONCE)

  constructor(options: OutboundRunsOptions) {
    this.#options = options
  }

  /**
   * Claims the run if it still waits and the engine has a free place. Resolves when the run is claimed or not available, without
   * waiting for its turn on the trunk, so that the queue can deliver the next run. Never rejects.
   */
  async begin({ scope, run_id }: Work): Promise<void> {
    if (this.#beginning.has(run_id)) return
    const place = this.#options.capacity.reserve()
    if (place === null) return
    this.#beginning.add(run_id)
    const run = await this.#setups
      .run(() => this.#options.leases.claim(scope, run_id))
      .catch(error => this.#reportSetupError(run_id, error))
    if (run === null) {
      this.#beginning.delete(run_id)
      place.release()
    } else
      void this.#begin(run, place)
        .catch(error => this.#reportSetupError(run_id, error))
        .finally(() => this.#beginning.delete(run_id))
  }

  #reportSetupError(runId: string, error: unknown): null {
    this.#options.onProblem(`run ${runId} cannot be claimed or set up`, error)
    return null
  }

  async #begin(run: OwnedRun, place: CallPlace): Promise<void> {
    const { database, recordings, swaps, time, onOver, onProblem } = this.#options
    const record = new CallRecord({
      run,
      direction: 'outbound',
      time,
      recordings,
      onOver: end => onOver(run, end),
    })
    // Until an INVITE is sent the run can be released for another engine.
    record.enter('preparing', 'admitted')
    let effectId: string | null = null
    try {
      const ready = await this.#setups.run(async () => {
        const start = await startingCall(database, run.scope, run.runId, onProblem)
        if (start === null) throw new SetupFailure(undialled('internal'))
        const trunk = await this.#trunk(run, start)
        const agent = await this.#agent(run, start)
        effectId = await this.#intend(run, start, record)
        return { start, trunk, agent, effectId }
      })
      await this.#slot(run, ready.trunk, record)
      if (record.isStopped) throw new SetupFailure(undialled('internal'))
      // From here on its recording is on this engine's disk, so the run cannot be released for another engine.
      record.enter('preparing')
      await this.#dial({ run, record, ...ready, time, ...(swaps && { swaps }) }, place)
    } catch (error) {
      await this.#endUndialled(run, record, effectId, error)
      place.release()
    }
  }

  /** Releases the run if the engine drains, else ends it. Never rejects. */
  async #endUndialled(run: OwnedRun, record: CallRecord, effectId: string | null, error: unknown): Promise<void> {
    if (error instanceof EngineDrained && (await this.#release(run, effectId))) return
    if (!record.isRunning) record.enter('preparing')
    if (!(error instanceof SetupFailure)) this.#options.onProblem(`run ${run.runId} cannot be dialled`, error)
    await record.abandon(error instanceof SetupFailure ? error.ending : undialled('internal'))
  }

  /** False: the run could not be released and must be ended here. */
  async #release(run: OwnedRun, effectId: string | null): Promise<boolean> {
    if (effectId !== null) await new DialEffect(run.ledger, effectId).notSent()
    return this.#options.leases.release(run).catch(() => false)
  }

  async #recording(run: OwnedRun): Promise<CallPlan['recording']> {
    try {
      return await openRecording(this.#options.recordings, run)
    } catch {
      throw new SetupFailure(undialled('recording_unavailable'))
    }
  }

  async #dial(ready: ReadyToDial, place: CallPlace): Promise<void> {
    const { run, record, start, trunk, agent, effectId } = ready
    const { ladders, onDial, sealer } = this.#options
    const { trunk_id, termination_uri, details } = trunk
    onDial?.({ scope: run.scope, trunk_id, termination_uri, details })
    const customHeaders = this.#customHeaders(run, start, trunk)
    const recording = wantsRecording(start.plan) ? await this.#recording(run) : null
    const plan = runPlan(ready, recording)
    const effect = new DialEffect(run.ledger, effectId)
    try {
      const target = dialTarget(trunk, start.from_number, start.to_number ?? '', sealer)
      const request: DialRequest = {
        ...target,
        headers: [...(target.headers ?? []), ...customHeaders],
        ringTimeoutMs: agent.plan.settings.ringDurationMs,
        plan: {
          ...plan,
          onCall: call => {
            if (ladders !== undefined) record.keepLadder(ladders, call.leg.callId)
            plan.onCall?.(call)
          },
          onEvent: (event, call) => {
            if (event.type === 'leg' && event.event.type === 'answered') void effect.answered(call.leg.callId)
            if (event.type === 'ended') void effect.settle(event.report.end, call.leg.callId)
            plan.onEvent?.(event, call)
          },
        },
        beforeAttempt: attempt => this.#beforeAttempt(run, record, effect, attempt),
        // The data for a BYE are stored before the ACK, since without an ACK the far end ends the call itself (decision 0028).
        beforeAcknowledging: dialog => run.persistDialog({ ...dialog }),
      }
      await this.#options.dial(request, place)
    } catch (error) {
      await effect.notSent()
      if (!(error instanceof ParleyError)) throw error
      const isMedia = MediaError.is(error, 'no_rtp_port') || LegError.is(error, 'srtp_needs_tls')
      throw new SetupFailure(undialled(isMedia ? 'media_refused' : 'trunk_unreachable'))
    }
  }

  /** Stores the data for a CANCEL. If that fails, the INVITE is not sent. */
  async #beforeAttempt(run: OwnedRun, record: CallRecord, effect: DialEffect, attempt: InviteAttempt): Promise<void> {
    if (record.isStopped) throw new EngineError('run_not_active', 'the run was cancelled: no INVITE is sent')
    await effect.sending(attempt.callId).catch(async error => {
      const reason = await this.#denialOf(run, effect.effectId)
      if (reason !== null) record.denied(reason)
      throw error
    })
    if ((await run.storeDial({ ...attempt })) === 'lost')
      throw new EngineError('run_lost', 'another process owns the run: no INVITE is sent')
    if (record.isStopped) throw new EngineError('run_not_active', 'the run was cancelled: no INVITE is sent')
    const first = attempt.earlier?.[0]
    if (first !== undefined) this.#options.ladders?.follow(first.callId, attempt.callId)
    record.dialling()
  }

  /** Why the ledger denied the effect since it was allowed; null: it did not, or the reason cannot be read now. */
  async #denialOf(run: OwnedRun, effectId: string): Promise<PolicyReason | null> {
    const effects = await listEffects(this.#options.database.within(run.scope), run.scope, run.runId).catch(() => [])
    const decision = effects.find(effect => effect.effect_id === effectId)?.decision
    return decision?.decision === 'deny' ? (decision.reason as PolicyReason | null) : null
  }

  async #trunk(run: OwnedRun, { trunk_id }: StartingRun): Promise<DialableTrunk> {
    const { database } = this.#options
    const trunk = trunk_id === null ? null : await dialableTrunk(database.within(run.scope), run.scope, trunk_id)
    if (trunk === null) throw new SetupFailure(undialled('trunk_unreachable'))
    if (trunk.auth !== null && trunk.auth.secret === null) throw new SetupFailure(undialled('trunk_auth_failed'))
    return trunk
  }

  async #agent(run: OwnedRun, { agent_id, version, plan }: StartingRun) {
    try {
      return await this.#options.agents.create({ scope: run.scope, agent_id, version, plan })
    } catch (error) {
      this.#options.onProblem(`agent ${agent_id} is not ready`, error)
      throw new SetupFailure(undialled('provider_failed'))
    }
  }

  /** Writes the INVITE's row in the ledger, with the policy's decision at the time of the call. */
  async #intend({ ledger }: OwnedRun, start: StartingRun, record: CallRecord): Promise<string> {
    const { effect_id } = await ledger.intend({ kind: 'sip_dial', action: DIAL, node_id: null, ordinal: null })
    const { state, decision } = await ledger.decide(effect_id, policyOf(start)(start.to_number ?? ''))
    if (state === 'intended') return effect_id
    if (decision?.reason != null) record.denied(decision.reason)
    throw new SetupFailure(undialled('internal'))
  }

  /** Waits for the call's turn on its trunk, whose rate is limited over all engines. */
  async #slot(run: OwnedRun, { trunk_id, details }: DialableTrunk, record: CallRecord): Promise<void> {
    const { database, time } = this.#options
    const until = time.now() + MAX_SLOT_WAIT_MS
    while (!record.isStopped) {
      const slot: CallSlot = await this.#setups.run(() =>
        database.transaction(run.scope, tx => takeCallSlot(tx, run.scope, trunk_id, details.cps)),
      )
      if (this.#options.capacity.isDraining) throw new EngineDrained()
      if (slot.granted) return
      if (time.now() + slot.retryInMs > until) throw new SetupFailure(undialled('trunk_unreachable'))
      await new Promise<void>(resolve => void time.at(time.now() + slot.retryInMs, resolve))
    }
  }

  /** Headers that the trunk takes from the run's variables. */
  #customHeaders(run: OwnedRun, start: StartingRun, trunk: DialableTrunk): HeaderPairs {
    try {
      return variableHeaders(start.dynamic_variables, trunk.details.headers_out)
    } catch (error) {
      if (!EngineError.is(error, 'header_refused')) throw error
      run.note({ kind: 'error', code: error.code, message: error.message })
      throw new SetupFailure(undialled('sip_error'))
    }
  }
}
