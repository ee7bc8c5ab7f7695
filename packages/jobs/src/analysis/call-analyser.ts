import type { Scope } from '@parley/contract'
import type { Plan } from '@parley/flow'
import { type Ms, ParleyError, type Time, type UnixMs, withDeadline } from '@parley/kernel'
import type { GenerationRequest, LanguageModel } from '@parley/providers'
import type { EnvironmentQueue } from '@parley/runs'
import {
  type AnalysisInference,
  type AnalysisResult,
  type Bus,
  type Database,
  type DueAnalysis,
  type JsonObject,
  type Measurement,
  nextAnalysisDueInMs,
  readRun,
  readTranscript,
  settleAnalysis,
  takeAnalyses,
} from '@parley/store'
import { EnvironmentRounds } from '../environment-rounds.ts'
import { JobsError } from '../errors.ts'
import type { JobCounters } from '../metrics.ts'
import type { PlanCache } from '../plan-cache.ts'
import type { AnalysisModels, JobLog, ModelUse } from '../protocol.ts'
import { analysisRequest, correctionRequest, REPORT_TOOL } from './analysis-request.ts'
import { dispositionOf, type Findings, readFindings } from './findings.ts'
import { type ModelAnswer, requestReport } from './report-request.ts'

/** Time limit for both model requests of a try together. */
const ANSWER_WITHIN_MS: Ms = 60_000
const MODEL_WITHIN_MS: Ms = 10_000
/** Long enough for getting the model, both requests and the writes. */
const LEASE_MS: Ms = 90_000
/** Pauses after the first and the second try. */
const PAUSES_MS: readonly Ms[] = [5000, 60_000]
const MAX_TRIES = 3
/** Environments served at once by one process. */
const ENVIRONMENTS_AT_ONCE = 8
/** Analyses of one environment at once: a model that never responds holds each for a minute. */
const ANALYSES_AT_ONCE = 8

export interface CallAnalyserOptions {
  readonly database: Database
  readonly queue: EnvironmentQueue
  readonly bus: Bus
  readonly models: AnalysisModels
  readonly plans: PlanCache
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly log: JobLog
  readonly counters: JobCounters
  /** Default {@link ANSWER_WITHIN_MS}. */
  readonly answerWithinMs?: Ms
}

/** The result of a try, and its model requests as one inference effect; null: it made none. */
interface Try {
  readonly result: AnalysisResult
  readonly inference: AnalysisInference | null
}

/**
 * Extracts from ended runs the items that their publications define. A try is one model request, and a second one if the answer
 * is invalid; there are at most three tries.
 */
export class CallAnalyser extends EnvironmentRounds<DueAnalysis> {
  readonly #options: CallAnalyserOptions

  constructor(options: CallAnalyserOptions) {
    super({
      work: 'analyses',
      queue: options.queue,
      environmentsAtOnce: ENVIRONMENTS_AT_ONCE,
      itemsAtOnce: ANALYSES_AT_ONCE,
      time: options.time,
    })
    this.#options = options
  }

  protected take(scope: Scope, atMost: number): Promise<readonly DueAnalysis[]> {
    return this.#options.database.transaction(scope, tx => takeAnalyses(tx, scope, LEASE_MS, atMost, MAX_TRIES))
  }

  protected nextDueInMs(scope: Scope): Promise<number | null> {
    return nextAnalysisDueInMs(this.#options.database.within(scope), scope)
  }

  /** Never rejects: what could not be settled is due again when its lease ends. */
  protected async carryOut(due: DueAnalysis): Promise<void> {
    const { database, bus, queue, log, counters } = this.#options
    try {
      const { result, inference } = await this.#try(due)
      const settled = await database.transaction(due.scope, tx => settleAnalysis(tx, due, result, inference))
      if (settled === 'lost') return
      if (result.kind === 'made') {
        counters.add('analyses_made')
        bus.publish('runs', due.run_id)
        queue.wake('webhooks', due.scope)
      } else if (result.kind === 'given_up') {
        counters.add('analyses_given_up')
        const message = `${result.errorCode} after ${due.attempts} tries`
        log(`run ${due.run_id} is not analysed`, new JobsError('analysis_given_up', message))
      } else counters.add('analyses_failed')
    } catch (error) {
      log(`the analysis of run ${due.run_id} is not settled`, error)
    }
  }

  async #try(due: DueAnalysis): Promise<Try> {
    const { database, plans } = this.#options
    const { scope, run_id: runId } = due
    const db = database.within(scope)
    const run = await readRun(db, scope, runId)
    const transcript = run === null ? null : await readTranscript(db, scope, runId)
    const plan = run === null ? null : await plans.planOf(scope, run.agent_id, run.publication.version)
    const items = plan?.analysis?.items ?? []
    if (run === null || plan === null || items.length === 0) return without('not_asked')
    if (transcript === null || transcript.utterances.length === 0) return without('transcript_expired')

    let model: LanguageModel
    try {
      const use = { scope, agent_id: run.agent_id, version: run.publication.version, plan }
      model = await this.#modelFor(plan, use)
    } catch (error) {
      return { result: this.#again(due, codeOf(error)), inference: null }
    }
    const request = analysisRequest(items, transcript.utterances, languageOf(plan))
    return this.#ask(due, plan, model, request)
  }

  /** The model of the analysis, within 10 s: a provider may hang. */
  async #modelFor(plan: Plan, use: ModelUse): Promise<LanguageModel> {
    const { models, time } = this.#options
    const ready = Promise.resolve().then(() => models(plan.analysis?.model ?? null, use))
    const model = await withDeadline(time, time.now() + MODEL_WITHIN_MS, this.abortSignal, ready)
    if (model === null)
      throw new JobsError(
        'model_not_ready',
        'the model for the analysis was not available within 10 s; check the agent’s model and its service',
      )
    return model
  }

  async #ask(due: DueAnalysis, plan: Plan, model: LanguageModel, request: GenerationRequest): Promise<Try> {
    const { time, wallClock, answerWithinMs = ANSWER_WITHIN_MS } = this.#options
    const items = plan.analysis?.items ?? []
    const limits = { time, deadline: time.now() + answerWithinMs, signal: this.abortSignal }
    const created_at = new Date(wallClock()).toISOString()
    const answers: ModelAnswer[] = []
    let findings: Findings | null = null
    let failure = 'model_failed'
    for (let next = request; answers.length < 2; ) {
      const answer = await requestReport(model, next, limits)
      answers.push(answer)
      const read = answer.call?.name === REPORT_TOOL && answer.args !== null ? readFindings(items, answer.args) : null
      findings = read?.findings ?? findings
      if (read?.issues.length === 0) break
      if (answer.failure !== null) failure = answer.failure.code
      if (answer.failure !== null && !answer.failure.retryable) break
      const issues = read?.issues ?? ['the arguments are not a JSON object']
      next = correctionRequest(request, read === null ? null : answer.call!.argumentsText, issues)
    }
    const inference = {
      sends: answers.length,
      created_at,
      error_code: findings === null ? failure : null,
      measurements: measured(model, answers),
    }
    const result = findings === null ? this.#again(due, failure) : this.#made(plan, model, findings)
    return { result, inference }
  }

  #made(plan: Plan, model: LanguageModel, findings: Findings): AnalysisResult {
    const { analysis, providers } = plan
    const disposition = dispositionOf(analysis?.items ?? [], findings)
    const { provider, model: name } = model.identity
    const configured = analysis?.model?.model ?? providers?.llm.model
    const identity = configured ?? { provider, model_id: name, tier: 'platform-served' as const }
    const completed_at = new Date(this.#options.wallClock()).toISOString()
    return {
      kind: 'made',
      analysis: { ...findings, model: identity, completed_at } as unknown as JsonObject,
      successful: findings.successful,
      ...(disposition !== undefined && { disposition }),
    }
  }

  #again({ attempts }: DueAnalysis, errorCode: string): AnalysisResult {
    const pause = PAUSES_MS[attempts - 1]
    if (attempts >= MAX_TRIES || pause === undefined) return { kind: 'given_up', errorCode }
    return { kind: 'again', inMs: this.abortSignal.aborted ? 0 : pause }
  }
}

function without(errorCode: string): Try {
  return { result: { kind: 'given_up', errorCode }, inference: null }
}

function measured({ identity }: LanguageModel, answers: readonly ModelAnswer[]): Measurement[] {
  const sum = (of: 'inputTokens' | 'outputTokens') => answers.reduce((total, answer) => total + answer[of], 0)
  const measurement = (meter: Measurement['meter'], quantity: number): Measurement[] =>
    quantity === 0 ? [] : [{ meter, provider: identity.provider, model_id: identity.model, quantity }]
  return [
    ...measurement('llm_input_tokens', sum('inputTokens')),
    ...measurement('llm_output_tokens', sum('outputTokens')),
  ]
}

function languageOf({ settings }: Plan): string {
  const language = settings?.language ?? 'en'
  return (typeof language === 'string' ? language : (language[0] ?? 'en')).split('-')[0]!
}

function codeOf(error: unknown): string {
  return error instanceof ParleyError ? error.code : 'model_not_ready'
}
