import type { Scope } from '@parley/contract'
import type { Ms, Time } from '@parley/kernel'
import type { EnvironmentQueue } from '@parley/runs'
import {
  ALERT_EVERY_MS,
  type AlertWindow,
  type Database,
  lockAlertRules,
  measureCallErrors,
  measureLatency,
  measureRecordingFailures,
  measureSpend,
  nextAlertDueInMs,
  type Queries,
  type Sealer,
  storeAlertEvaluation,
  takeDueAlerts,
  windowUntilNow,
} from '@parley/store'
import { EnvironmentRounds } from '../environment-rounds.ts'
import type { JobCounters } from '../metrics.ts'
import type { JobLog } from '../protocol.ts'
import { type AlertMetric, evaluate, faultyEvaluation, isAlertMetric, type Measured, ruleFault } from './evaluation.ts'

/** Environments served at once by one process. */
const ENVIRONMENTS_AT_ONCE = 4
/** Rules that one transaction evaluates; an environment has at most 100. */
const RULES_AT_ONCE = 100

const WINDOW_HOURS: Readonly<Record<AlertMetric, number>> = {
  spend_usd_per_hour: 1,
  p95_latency_ms_1h: 1,
  call_error_rate_24h: 24,
  recording_failure_rate_24h: 24,
}

interface AlertEvaluatorOptions {
  readonly database: Database
  readonly queue: EnvironmentQueue
  /** Decrypts the URLs of alert webhooks, to see whether they can be decrypted. */
  readonly sealer: Sealer
  readonly time: Time
  readonly log: JobLog
  readonly counters: JobCounters
  /** Time from one evaluation of a rule to the next. Default 60 s; for tests and proofs. */
  readonly alertEveryMs?: Ms
}

/** Rules of one environment whose evaluation is due. */
interface DueRules {
  readonly scope: Scope
  readonly alertIds: readonly string[]
}

/** Evaluates alert rules every 60 s, environment by environment: each metric is measured once for all rules on it. */
export class AlertEvaluator extends EnvironmentRounds<DueRules> {
  readonly #options: AlertEvaluatorOptions

  constructor(options: AlertEvaluatorOptions) {
    super({
      work: 'alerts',
      queue: options.queue,
      environmentsAtOnce: ENVIRONMENTS_AT_ONCE,
      itemsAtOnce: 1,
      time: options.time,
    })
    this.#options = options
  }

  protected nextDueInMs(scope: Scope): Promise<number | null> {
    return nextAlertDueInMs(this.#options.database.within(scope), scope)
  }

  protected async take(scope: Scope): Promise<DueRules[]> {
    const { database, alertEveryMs = ALERT_EVERY_MS } = this.#options
    const alertIds = await database.transaction(scope, tx => takeDueAlerts(tx, scope, alertEveryMs, RULES_AT_ONCE))
    return alertIds.length === 0 ? [] : [{ scope, alertIds }]
  }

  /** Never rejects: rules that were not evaluated are due again after 60 s. */
  protected async carryOut({ scope, alertIds }: DueRules): Promise<void> {
    const { database, queue, log, counters } = this.#options
    try {
      const { evaluated, fired } = await database.transaction(scope, tx => this.#evaluate(tx, scope, alertIds))
      counters.add('alerts_evaluated', evaluated)
      counters.add('alerts_fired', fired)
      if (fired > 0) queue.wake('alert_deliveries', scope)
    } catch (error) {
      log(`${alertIds.length} alert rules of the environment ${scope.tenant_id} were not evaluated`, error)
    }
  }

  async #evaluate(tx: Queries, scope: Scope, alertIds: readonly string[]) {
    const rules = await lockAlertRules(tx, scope, this.#options.sealer, alertIds)
    const measured = new Map<AlertMetric, Measured>()
    let fired = 0
    for (const rule of rules) {
      const fault = ruleFault(rule)
      if (fault !== null || !isAlertMetric(rule.metric)) {
        const { to } = await windowUntilNow(tx, 1)
        await storeAlertEvaluation(tx, scope, rule, faultyEvaluation(fault ?? 'unsupported_metric', to), 'none')
        continue
      }
      const metric = measured.get(rule.metric) ?? (await measure(tx, scope, rule.metric))
      measured.set(rule.metric, metric)
      const { evaluation, verdict } = evaluate(rule, metric, scope)
      if (await storeAlertEvaluation(tx, scope, rule, evaluation, verdict)) fired++
    }
    return { evaluated: rules.length, fired }
  }
}

async function measure(tx: Queries, scope: Scope, metric: AlertMetric): Promise<Measured> {
  const window: AlertWindow = await windowUntilNow(tx, WINDOW_HOURS[metric])
  switch (metric) {
    case 'spend_usd_per_hour':
      return { metric, window, spend: await measureSpend(tx, scope, window) }
    case 'p95_latency_ms_1h':
      return { metric, window, latency: await measureLatency(tx, scope, window) }
    case 'call_error_rate_24h':
      return { metric, window, rate: await measureCallErrors(tx, scope, window) }
    case 'recording_failure_rate_24h':
      return { metric, window, rate: await measureRecordingFailures(tx, scope, window) }
  }
}
