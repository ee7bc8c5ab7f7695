import type { EffectLedger, Receipt } from '@parley/conversation'
import { type Ms, ParleyError, type Time } from '@parley/kernel'
import type { InviteAttempt, LegEnd, NextHop, SipUri } from '@parley/leg'
import type { OwnedRun, OwnedRunEnding, RunLeases, Work } from '@parley/runs'
import {
  type CallSlot,
  type Database,
  type DialableTrunk,
  dialableTrunk,
  type Sealer,
  type StartingRun,
  startingRun,
  takeCallSlot,
} from '@parley/store'
import type { Call } from '../call.ts'
import type { CallCapacity, CallPlace } from '../call-capacity.ts'
import type { CallPlan } from '../call-plan.ts'
import type { DialRequest } from '../engine.ts'
import type { FailureDetail } from '../outcome.ts'
import type { Agents } from './agents.ts'
import { CallRecord, type CallRecordEnd } from './call-record.ts'
import { Gate } from './gate.ts'
import { openRecording, type Recordings } from './recordings.ts'
import { policyOf, type ReadyRun, runPlan, wantsRecording } from './run-plan.ts'
import { trunkCodecs } from './trunk-codecs.ts'

/** A call waits no longer than this for its turn on the trunk. */
const SLOT_PATIENCE_MS: Ms = 60_000
const DIAL = { id: 'call.dial', version: 1 }

interface OutboundRunsOptions {
  readonly database: Database
  readonly leases: RunLeases
  readonly sealer: Sealer
  readonly agents: Agents
  readonly recordings: Recordings
  readonly time: Time
  readonly capacity: CallCapacity
  /** Takes the place over. Throws `ParleyError` where nothing could be sent. */
  readonly dial: (request: DialRequest, place: CallPlace) => Promise<Call>
  readonly onOver: (run: OwnedRun, end: CallRecordEnd) => void
  readonly onProblem: (what: string, error: unknown) => void
}

/** Calls that are set up with the database's help at once: the others of the process need it too. */
const MOST_AT_DATABASE = 8

/** A run of which all is known that its INVITE needs. */
interface ReadyToDial extends ReadyRun {
  readonly trunk: DialableTrunk
  /** The ledger's row of the INVITE. */
  readonly effectId: string
}

/** Why a run ends before its INVITE left. */
class Failed extends Error {
  readonly ending: OwnedRunEnding

  constructor(ending: OwnedRunEnding) {
    super('the call is not made')
    this.ending = ending
  }
}

/** The engine drains: the call is another's. */
class Drained extends Error {}

/** Claims phone runs that wait, and dials them. */
export class OutboundRuns {
  readonly #options: OutboundRunsOptions
  /** By run, being set up: each is a call soon. */
  readonly #beginning = new Set<string>()
  readonly #gate = new Gate(MOST_AT_DATABASE)

  constructor(options: OutboundRunsOptions) {
    this.#options = options
  }

  /**
   * Takes the run if it still waits. Resolves when it is claimed, or is not to be had: whoever woke us does not wait for its
   * turn on the trunk, behind which others' calls would wait. Never rejects.
   */
  async begin({ scope, run_id }: Work): Promise<void> {
    if (this.#beginning.has(run_id)) return
    const place = this.#options.capacity.reserve()
    if (place === null) return
    this.#beginning.add(run_id)
    const run = await this.#gate
      .pass(() => this.#options.leases.claim(scope, run_id))
      .catch(error => this.#noBeginning(run_id, error))
    if (run === null) {
      this.#beginning.delete(run_id)
      place.release()
    } else
      void this.#begin(run, place)
        .catch(error => this.#noBeginning(run_id, error))
        .finally(() => this.#beginning.delete(run_id))
  }

  #noBeginning(runId: string, error: unknown): null {
    this.#options.onProblem(`run ${runId} cannot be begun`, error)
    return null
  }

  async #begin(run: OwnedRun, place: CallPlace): Promise<void> {
    const { database, recordings, time, onOver } = this.#options
    const record = new CallRecord({
      run,
      direction: 'outbound',
      ...{ time, recordings },
      onOver: end => onOver(run, end),
    })
    // Nobody has been called yet: another engine may still have it.
    record.enter('preparing', 'admitted')
    let effectId: string | null = null
    try {
      const ready = await this.#gate.pass(async () => {
        const start = await startingRun(database.within(run.scope), run.scope, run.runId)
        if (start === null) throw new Failed(failed('internal'))
        const trunk = await this.#trunk(run, start)
        const agent = await this.#agent(run, start)
        effectId = await this.#intend(run, start)
        return { start, trunk, agent, effectId }
      })
      await this.#slot(run, ready.trunk, record)
      if (record.isUnwanted) throw new Failed(failed('internal'))
      // From here on it is this engine's: its recording is.
      record.enter('preparing')
      await this.#dial({ run, record, ...ready, time }, place)
    } catch (error) {
      await this.#endUndialled(run, record, effectId, error)
      place.release()
    }
  }

  /** Gives back a run of an engine that drains; ends any other. Never rejects. */
  async #endUndialled(run: OwnedRun, record: CallRecord, effectId: string | null, error: unknown): Promise<void> {
    if (error instanceof Drained && (await this.#giveBack(run, effectId))) return
    if (!record.isRunning) record.enter('preparing')
    if (!(error instanceof Failed)) this.#options.onProblem(`run ${run.runId} cannot be dialled`, error)
    await record.abandon(error instanceof Failed ? error.ending : failed('internal'))
  }

  /** False: it is to be ended here. */
  async #giveBack(run: OwnedRun, effectId: string | null): Promise<boolean> {
    if (effectId !== null) await new DialEffect(run.ledger, effectId).notSent()
    return this.#options.leases.release(run).catch(() => false)
  }

  async #recording(run: OwnedRun): Promise<CallPlan['recording']> {
    try {
      return await openRecording(this.#options.recordings, run)
    } catch {
      throw new Failed(failed('recording_unavailable'))
    }
  }

  async #dial(ready: ReadyToDial, place: CallPlace): Promise<void> {
    const { run, record, start, trunk, agent, effectId } = ready
    const recording = wantsRecording(start.plan) ? await this.#recording(run) : null
    const plan = runPlan(ready, recording)
    const effect = new DialEffect(run.ledger, effectId)
    try {
      const request: DialRequest = {
        ...this.#target(start, trunk),
        ringTimeoutMs: agent.plan.settings.ringDurationMs,
        plan: {
          ...plan,
          onEvent: (event, call) => {
            if (event.type === 'leg' && event.event.type === 'answered') void effect.answered(call.leg.callId)
            if (event.type === 'ended') void effect.settle(event.report.end, call.leg.callId)
            plan.onEvent?.(event, call)
          },
        },
        beforeAttempt: attempt => this.#beforeAttempt(run, record, effect, attempt),
        // What a BYE needs is kept before the far end may think that the call stands: without an ACK it does not for long.
        beforeAcknowledging: dialog => run.persistDialog({ ...dialog }),
      }
      await this.#options.dial(request, place)
    } catch (error) {
      await effect.notSent()
      if (!(error instanceof ParleyError)) throw error
      throw new Failed(failed(error.code === 'no_rtp_port' ? 'media_refused' : 'trunk_unreachable'))
    }
  }

  /** What a CANCEL needs is in the database before the INVITE leaves; without it nothing does. */
  async #beforeAttempt(run: OwnedRun, record: CallRecord, effect: DialEffect, attempt: InviteAttempt): Promise<void> {
    if (record.isUnwanted) throw new ParleyError('run_not_active', 'the run is to end: nothing is dialled')
    await effect.sending()
    if ((await run.storeDial({ ...attempt })) === 'lost')
      throw new ParleyError('run_lost', 'the run is in other hands: nothing is dialled')
    if (record.isUnwanted) throw new ParleyError('run_not_active', 'the run is to end: nothing is dialled')
    record.dialling()
  }

  async #trunk(run: OwnedRun, { trunk_id }: StartingRun): Promise<DialableTrunk> {
    const { database } = this.#options
    const trunk = trunk_id === null ? null : await dialableTrunk(database.within(run.scope), run.scope, trunk_id)
    if (trunk === null) throw new Failed(failed('trunk_unreachable'))
    if (trunk.auth !== null && trunk.auth.secret === null) throw new Failed(failed('trunk_auth_failed'))
    return trunk
  }

  async #agent(run: OwnedRun, { agent_id, version, plan }: StartingRun) {
    try {
      return await this.#options.agents.agent({ scope: run.scope, agent_id, version, plan })
    } catch (error) {
      this.#options.onProblem(`agent ${agent_id} is not ready`, error)
      throw new Failed(failed('provider_failed'))
    }
  }

  /** The ledger's row and the policy's verdict, once more at the time of the call. */
  async #intend({ ledger }: OwnedRun, start: StartingRun): Promise<string> {
    const { effect_id } = await ledger.intend({ kind: 'sip_dial', action: DIAL, node_id: null, ordinal: null })
    const { state } = await ledger.decide(effect_id, policyOf(start)(start.to_number ?? ''))
    if (state !== 'intended') throw new Failed(failed('sip_error'))
    return effect_id
  }

  /** Waits for the call's turn on its trunk, counted over all engines. */
  async #slot(run: OwnedRun, { trunk_id, details }: DialableTrunk, record: CallRecord): Promise<void> {
    const { database, time } = this.#options
    const until = time.now() + SLOT_PATIENCE_MS
    while (!record.isUnwanted) {
      const slot: CallSlot = await this.#gate.pass(() =>
        database.transaction(run.scope, tx => takeCallSlot(tx, run.scope, trunk_id, details.cps)),
      )
      if (this.#options.capacity.isDraining) throw new Drained()
      if (slot.granted) return
      if (time.now() + slot.retryInMs > until) throw new Failed(failed('trunk_unreachable'))
      await new Promise<void>(resolve => void time.at(time.now() + slot.retryInMs, resolve))
    }
  }

  #target(
    start: StartingRun,
    trunk: DialableTrunk,
  ): Pick<DialRequest, 'uri' | 'from' | 'security' | 'codecs' | 'nextHop' | 'credentials'> {
    const { details, termination_uri: host, auth } = trunk
    const transport = details.transport ?? 'tls'
    const credentials =
      auth === null || auth.secret === null
        ? null
        : {
            username: auth.username,
            password: this.#options.sealer.open(auth.secret.sealed, auth.secret.context).toString('utf8'),
          }
    const nextHop: NextHop = { host, port: details.port, transport, serverName: undefined }
    return {
      uri: numberAt(start.to_number ?? '', host),
      from: {
        displayName: undefined,
        uri: numberAt(details.identity ?? start.from_number ?? 'anonymous', host),
        params: new Map(),
      },
      security: details.media === 'rtp' ? 'rtp-only' : 'srtp-required',
      codecs: trunkCodecs(details),
      nextHop,
      ...(credentials !== null && { credentials }),
    }
  }
}

/** The ledger's row of one call: sent with the first INVITE, settled as soon as it is known what the far end answered. */
class DialEffect {
  readonly #ledger: EffectLedger
  readonly #effectId: string
  #isSending = false

  constructor(ledger: EffectLedger, effectId: string) {
    this.#ledger = ledger
    this.#effectId = effectId
  }

  /** Again for each attempt. Throws what the ledger throws: nothing may leave then. */
  async sending(): Promise<void> {
    await this.#ledger.sending(this.#effectId)
    this.#isSending = true
  }

  /** What comes of the call afterwards is none of the dial's. */
  async answered(callId: string): Promise<void> {
    await this.#settle({ state: 'succeeded', receipts: receiptsOf(callId) })
  }

  async settle(end: LegEnd, callId: string): Promise<void> {
    if (!this.#isSending) return this.notSent()
    if (end.answered) return this.answered(callId)
    const error_code = end.sipStatus === null ? 'no_answer' : `sip_${end.sipStatus}`
    await this.#settle({ state: 'failed', receipts: receiptsOf(callId), error_code })
  }

  async notSent(): Promise<void> {
    await this.#settle({ state: this.#isSending ? 'uncertain' : 'failed', error_code: 'not_sent' })
  }

  /** Where it is settled, it stays as it is; what cannot be written down now is in doubt when the run ends. */
  async #settle(outcome: Parameters<EffectLedger['settle']>[1]): Promise<void> {
    await this.#ledger.settle(this.#effectId, outcome).catch(() => {})
  }
}

function receiptsOf(callId: string): readonly Receipt[] {
  return [{ kind: 'sip_dial', participant_id: callId, sip_call_id: callId }]
}

function numberAt(number: string, host: string): SipUri {
  const params = new Map([['user', 'phone']])
  return { scheme: 'sip', user: number, password: undefined, host, port: undefined, params, headers: [] }
}

function failed(detail: FailureDetail): OwnedRunEnding {
  return {
    state: 'failed',
    phone_state: 'setup_failed',
    outcome: { kind: 'error', detail, sip_status: null, ended_by: 'system' },
    disposition: 'error',
  }
}
