import type { PolicyReason } from '@parley/conversation'
import { type Ms, percentiles, type Time } from '@parley/kernel'
import type { LegEnd, LegEvent } from '@parley/leg'
import type { OwnedRun, OwnedRunEnding } from '@parley/runs'
import type { JsonObject } from '@parley/store'
import type { Call, CallEvent, CallReport } from '../call.ts'
import type { HandOver } from '../call-handler.ts'
import type { CallLadders } from '../ladder/call-ladders.ts'
import { type FailureDetail, machineDisposition, type RunResult } from '../outcome.ts'
import type { RecordedCall } from '../voice/call-inputs.ts'
import type { UsageReport } from '../voice/voice-agent.ts'
import { qualityOf } from './call-quality.ts'
import type { Recordings } from './recordings.ts'

interface CallRecordOptions {
  readonly run: OwnedRun
  readonly direction: 'inbound' | 'outbound'
  /** Default phone. Runs of other channels have no phone state, and their end is no SIP effect. */
  readonly channel?: 'phone' | 'web'
  readonly time: Time
  /** The run continues a call that reached the trunk before. Default false. */
  readonly continues?: boolean
  /** Closes the run's recording before the run is finished. */
  readonly recordings: Pick<Recordings, 'close'>
  /** Awaited before the run is finished, while its effects can still be written. Default: nothing. */
  readonly beforeFinish?: () => Promise<void>
  /** Called once, when this process has finished the run or lost it. */
  readonly onOver: (end: CallRecordEnd) => void
}

export interface CallRecordEnd {
  readonly direction: 'inbound' | 'outbound'
  readonly state: string
  readonly outcome: string | null
  readonly connectedMs: Ms | null
  /** Final SIP status in the run's outcome; null: there is none. */
  readonly sipStatus: number | null
  /** Inbound, or an INVITE was sent or found no way to the trunk. */
  readonly reachedTrunk: boolean
  /** From the first INVITE to ringing or the answer; null: inbound, or the callee never rang. */
  readonly postDialDelayMs: Ms | null
  readonly report: CallReport | null
}

/** Phone states of a run that goes on; the terminal ones are written with its end. */
type PhoneState = 'preparing' | 'awaiting_sip' | 'dialing' | 'ringing' | 'active' | 'terminating'

const LATENCIES = ['e2e', 'endpointing', 'stt', 'llm', 'tts', 'engine'] as const
const HANG_UP = { id: 'call.hangup', version: 1 }

/** Writes the events of a call into its run, carries out the run's commands, and finishes the run when the call is over. */
export class CallRecord {
  readonly #options: CallRecordOptions
  readonly #run: OwnedRun
  #call: Call | null = null
  /** Variables of updates that arrived before the call was created. */
  #variables: Readonly<Record<string, string>> | null = null
  #state: 'admitted' | 'running' | 'ending' = 'admitted'
  #answeredAt: Ms | null = null
  #endedAt: Ms | null = null
  #isCancelled = false
  /** What the far end is was detected. */
  #isDetected = false
  #isLost = false
  #isOver = false
  #dialledAt: Ms | null = null
  #rangAt: Ms | null = null
  #hangUp: Promise<string | null> | null = null
  #denial: OwnedRunEnding | null = null
  #inputs: Pick<RecordedCall, 'finish'> | null = null
  #stopLadder: (() => void) | null = null

  constructor(options: CallRecordOptions) {
    this.#options = options
    this.#run = options.run
    options.run.onCommand(command => {
      switch (command.type) {
        case 'lost':
          this.#isLost = true
          return this.#call?.cancel()
        case 'cancel':
          this.#isCancelled = true
          return this.#call?.cancel()
        case 'update':
          return void this.#update(command.change.override_dynamic_variables, command.settle)
        case 'message':
          return
      }
    })
  }

  get run(): OwnedRun {
    return this.#run
  }

  /** The run was cancelled, or this process no longer owns it. */
  get isStopped(): boolean {
    return this.#isCancelled || this.#isLost
  }

  get isRunning(): boolean {
    return this.#state !== 'admitted'
  }

  get #isPhone(): boolean {
    return this.#options.channel !== 'web'
  }

  /** Enters this state and phone state; `state`: default running. */
  enter(phone_state: PhoneState, state: 'admitted' | 'running' | 'ending' = 'running'): void {
    this.#state = state
    this.#run.note({ kind: 'state', state, phone_state: this.#isPhone ? phone_state : null })
  }

  /** Called before each INVITE: the first, one to the next server, one with credentials. */
  dialling(): void {
    if (this.#dialledAt !== null) return
    this.#dialledAt = this.#options.time.now()
    this.enter('dialing')
  }

  /** Stores the SIP messages of the call in the run until the run is over. `secrets`: texts to remove from them. */
  keepLadder(ladders: CallLadders | undefined, callId: string, secrets: readonly string[] = []): void {
    this.#stopLadder?.()
    this.#stopLadder =
      ladders?.attach(callId, secrets, ({ at, ...entry }) =>
        this.#run.addSipMessage({ ...entry, at: new Date(at).toISOString() }),
      ) ?? null
  }

  used(usage: UsageReport): void {
    this.#run.addUsage(usage)
  }

  /** The log of the call's inputs is stored with the run's end. */
  recorded(inputs: Pick<RecordedCall, 'finish'>): void {
    this.#inputs = inputs
  }

  onCall(call: Call): void {
    this.#call = call
    if (this.isStopped) call.cancel()
    else if (this.#variables !== null) call.updateVariables(this.#variables)
  }

  onEvent(event: CallEvent, call: Call): void {
    switch (event.type) {
      case 'leg':
        return this.#onLeg(event.event)
      case 'timeline':
        this.#run.append(event.item)
        // The handler reports this state once, when the far end has answered.
        if (event.item.kind === 'state' && event.item.state === 'running') this.#run.announce('run.started')
        if (event.item.kind === 'contact') this.#isDetected = true
        if (event.item.kind === 'utterance') this.#onUtterance(event.item.role, call)
        return
      case 'handed-over':
        return void this.#handedOver(event.handOver, call)
      case 'ending':
        return this.#onEnding(call)
      case 'ended':
        return void this.#conclude(event.report)
    }
  }

  /** The ledger refused the first INVITE, so that none is sent: the run was cancelled, or ends as failed with this detail. */
  denied(reason: PolicyReason): void {
    if (reason === 'run_not_active') this.#isCancelled = true
    else this.#denial = undialled(reason)
  }

  /** Finishes a run that never had a call. */
  async abandon(ending: OwnedRunEnding): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    // A run that never had the call leaves it to its source.
    if (this.#options.continues !== true) await this.#options.beforeFinish?.()
    await this.#options.recordings.close(this.#run.runId, 0)
    await this.#finish(this.#isCancelled ? CANCELLED : (this.#denial ?? ending), null)
  }

  #onLeg(event: LegEvent): void {
    switch (event.type) {
      case 'ringing':
        this.#rangAt ??= this.#options.time.now()
        return this.enter('ringing')
      case 'answered':
        this.#answeredAt = this.#options.time.now()
        this.#rangAt ??= this.#answeredAt
        this.#state = 'running'
        return
      case 'transfer-result':
        return this.#run.announce('run.transfer')
      default:
        return
    }
  }

  /** Stores the transcript so far. Words of an inbound caller show that it is a human. */
  #onUtterance(role: 'agent' | 'user', call: Call): void {
    this.#run.checkpoint(call.utterances)
    if (role === 'user' && this.#isPhone && this.#options.direction === 'inbound' && !this.#isDetected)
      this.#run.contact('human', 'human')
  }

  #onEnding(call: Call): void {
    this.#endedAt = this.#options.time.now()
    if (this.#answeredAt === null) return
    this.enter('terminating', 'ending')
    if (this.#isPhone && call.leg.state === 'ending') this.#hangUp = this.#intendHangUp()
  }

  /** Records the hang-up in the ledger. A failure of the ledger does not delay the hang-up. */
  async #intendHangUp(): Promise<string | null> {
    try {
      const { ledger } = this.#run
      const { effect_id } = await ledger.intend({ kind: 'sip_hangup', action: HANG_UP, node_id: null, ordinal: null })
      await ledger.sending(effect_id)
      return effect_id
    } catch {
      return null
    }
  }

  async #settleHangUp(end: LegEnd): Promise<void> {
    const effectId = await this.#hangUp
    if (effectId === null) return
    const sip_status = end.byeStatus ?? (end.confirmed ? 200 : null)
    const receipts = [{ kind: 'sip_hangup', sip_status, confirmed: end.confirmed }] as const
    const outcome = end.confirmed
      ? ({ state: 'succeeded', receipts } as const)
      : ({ state: 'uncertain', receipts, error_code: sip_status === null ? 'no_answer' : `sip_${sip_status}` } as const)
    await this.#run.ledger.settle(effectId, outcome).catch(() => {})
  }

  /** A call that was answered, and may go on at the far end. The leg may have hung up by itself, without an effect of the run. */
  #noteUnconfirmed({ confirmed, sipStatus, byeStatus }: LegEnd): void {
    if (confirmed || sipStatus !== 200) return
    const why = byeStatus === undefined ? 'nothing answered its BYE' : `its BYE was answered ${byeStatus}`
    const message = `the far end did not confirm the end of the call: ${why}; the call may go on there and be charged`
    this.#run.note({ kind: 'error', code: 'hangup_unconfirmed', message })
  }

  /** The call gets the variables once the run has them: an update that the run rejects changes nothing. */
  async #update(
    variables: Readonly<Record<string, string>> | undefined,
    settle: (
      outcome: { readonly status: 'applied' } | { readonly status: 'rejected'; readonly reason: string },
    ) => Promise<boolean>,
  ): Promise<void> {
    if (this.#endedAt !== null || this.#isOver) return void settle({ status: 'rejected', reason: 'run_ended' })
    if (!(await settle({ status: 'applied' })) || variables === undefined) return
    if (this.#call === null) this.#variables = { ...this.#variables, ...variables }
    else this.#call.updateVariables(variables)
  }

  async #conclude(report: CallReport): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#hangUp !== null) await this.#settleHangUp(report.end)
    if (this.#isPhone) this.#noteUnconfirmed(report.end)
    await this.#options.beforeFinish?.()
    const { media } = report.end
    const segments = media === null ? 0 : (media.recording?.segments ?? null)
    await this.#options.recordings.close(this.#run.runId, segments)
    this.#run.checkpoint(report.utterances)
    if (this.#inputs !== null && report.end.answered) await this.#run.storeInputs(this.#inputs.finish())
    await this.#finish(this.#endingOf(report), report)
  }

  /** The run ends, and the call goes on in another one. */
  async #handedOver({ result, segments, successor, settled }: HandOver, call: Call): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    // Commands for this run do not concern the call any more.
    this.#call = null
    this.#endedAt = this.#options.time.now()
    this.enter('terminating', 'ending')
    const quality = qualityOf(await call.leg.statistics())
    await settled
    await this.#options.recordings.close(this.#run.runId, segments)
    this.#run.checkpoint(result.utterances)
    if (this.#inputs !== null) await this.#run.storeInputs(this.#inputs.finish())
    const connected_ms = this.#connectedMs()
    const ending: OwnedRunEnding = {
      state: 'completed',
      phone_state: 'ended',
      outcome: { kind: 'transferred', detail: `agent_swap:${successor}`, sip_status: null, ended_by: 'agent' },
      disposition: 'transferred',
      latency: latencyOf(result),
      ...(connected_ms !== null && { connected_ms }),
      ...(quality !== null && { quality: { ...quality } }),
    }
    await this.#finish(ending, null)
  }

  #endingOf(report: CallReport): OwnedRunEnding {
    if (report.end.cause === 'withheld' && !report.end.inviteSent) {
      if (this.#isCancelled) return CANCELLED
      if (this.#denial !== null) return this.#denial
    }
    return endingOf(report, this.#state, this.#connectedMs())
  }

  async #finish(phoneEnding: OwnedRunEnding, report: CallReport | null): Promise<void> {
    const { phone_state: _, ...others } = phoneEnding
    const ending = this.#isPhone ? phoneEnding : others
    const done = await this.#run.finish(ending)
    const last = done === 'not_allowed' ? { ...failedTransition(this.#isPhone), ...measured(ending) } : ending
    if (done === 'not_allowed') await this.#run.finish(last)
    this.#stopLadder?.()
    const {
      kind = null,
      detail,
      sip_status = null,
    } = (last.outcome ?? {}) as Partial<NonNullable<RunResult['outcome']>>
    const { direction, continues = false } = this.#options
    this.#options.onOver({
      direction,
      state: last.state,
      outcome: kind,
      connectedMs: this.#connectedMs(),
      sipStatus: sip_status,
      reachedTrunk:
        !continues && (direction === 'inbound' || this.#dialledAt !== null || detail === 'trunk_unreachable'),
      postDialDelayMs: this.#dialledAt === null || this.#rangAt === null ? null : this.#rangAt - this.#dialledAt,
      report,
    })
  }

  #connectedMs(): Ms | null {
    if (this.#answeredAt === null) return null
    return Math.max(0, Math.round((this.#endedAt ?? this.#options.time.now()) - this.#answeredAt))
  }
}

/** The ending of a run from the report of its call. */
function endingOf(
  report: CallReport,
  state: 'admitted' | 'running' | 'ending',
  connectedMs: Ms | null,
): OwnedRunEnding {
  const result = report.run.state === 'rejected' && state !== 'admitted' ? unanswered(report.end) : report.run
  const { answered, direction, media } = report.end
  const quality = media === null ? null : qualityOf(media.statistics)
  const isSetUp = answered || direction === 'inbound' || result.state === 'cancelled'
  return {
    state: result.state,
    phone_state: result.state === 'rejected' ? 'rejected' : isSetUp ? 'ended' : 'setup_failed',
    outcome: result.outcome === null ? null : { ...result.outcome },
    disposition: dispositionOf(result.outcome, answered),
    latency: latencyOf(report),
    ...(connectedMs !== null && { connected_ms: connectedMs }),
    ...(quality !== null && { quality: { ...quality } }),
  }
}

/** The detail of an unanswered call, or of one that a machine answered, says more than its kind. */
function dispositionOf(outcome: RunResult['outcome'], answered: boolean): string {
  if (outcome === null) return 'rejected'
  return machineDisposition(outcome.detail) ?? (answered ? null : outcome.detail) ?? outcome.kind
}

function latencyOf({ latencies }: Pick<CallReport, 'latencies'>): JsonObject {
  return Object.fromEntries(
    LATENCIES.map(name => {
      const found = percentiles(latencies.map(latency => latency[name]))
      return [name, found === null ? null : { ...found }]
    }),
  )
}

/** The result of an inbound call that was admitted and could not be answered. */
function unanswered(end: LegEnd): RunResult {
  const detail = end.cause === 'media-refused' ? 'media_refused' : 'sip_error'
  return { state: 'failed', outcome: { kind: 'error', detail, sip_status: end.sipStatus, ended_by: 'system' } }
}

/** The ending of an outbound run whose INVITE was never sent. */
export function undialled(detail: FailureDetail): OwnedRunEnding {
  return {
    state: 'failed',
    phone_state: 'setup_failed',
    outcome: { kind: 'error', detail, sip_status: null, ended_by: 'system' },
    disposition: detail,
  }
}

const CANCELLED: OwnedRunEnding = {
  state: 'cancelled',
  phone_state: 'ended',
  outcome: { kind: 'cancelled', detail: null, sip_status: null, ended_by: 'operator' },
  disposition: 'cancelled',
}

function measured({ connected_ms, latency, quality }: OwnedRunEnding): Partial<OwnedRunEnding> {
  return {
    ...(connected_ms !== undefined && { connected_ms }),
    ...(latency !== undefined && { latency }),
    ...(quality !== undefined && { quality }),
  }
}

/** The ending of a run whose next state the database refuses, which is a defect: the run ends as failed, so that its permit is released. */
function failedTransition(isPhone: boolean): OwnedRunEnding {
  return {
    state: 'failed',
    ...(isPhone && { phone_state: 'ended' as const }),
    outcome: { kind: 'error', detail: 'internal', sip_status: null, ended_by: 'system' },
    disposition: 'error',
  }
}
