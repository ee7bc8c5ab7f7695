import { Refusal } from '@parley/contract'
import type { Admission } from '@parley/store'

type Refused = Pick<Extract<Admission, { readonly kind: 'refused' }>, 'reason' | 'limit' | 'used'>

/**
 * The refusal of a run that cannot be admitted, with the limit and its use. `secondsUntilCallAllowed`: when the daily
 * limit has room again; null: never, unless it is raised.
 */
export function admissionRefused({ reason, limit, used }: Refused, secondsUntilCallAllowed: number | null): Refusal {
  switch (reason) {
    case 'admission_disabled':
      return new Refusal(
        'capability_unavailable',
        'runs are not enabled in this environment: platform staff can enable them',
        {
          reason,
          details: { limit: null, used: null },
        },
      )
    case 'tenant_not_configured':
      return new Refusal(
        'capability_unavailable',
        'the capacity of this environment is not set: platform staff can set it',
        {
          reason,
          details: { limit: null, used: null },
        },
      )
    case 'spend_cap':
      return new Refusal(
        'policy_denied',
        `the run would exceed the month's spend cap of ${limit} USD (${used} USD are spent or reserved): raise the cap`,
        { reason, details: { limit, used } },
      )
    case 'daily_call_limit':
      if (secondsUntilCallAllowed === null)
        return new Refusal('rate_limited', 'the daily limit allows no calls: raise it', {
          reason,
          details: counts(limit, used),
          retryable: false,
        })
      return new Refusal(
        'rate_limited',
        `${used} calls were placed in the last 24 hours, and ${limit} are allowed: wait ${secondsUntilCallAllowed} s, or raise the daily limit`,
        { reason, details: { ...counts(limit, used), retry_after_seconds: secondsUntilCallAllowed } },
      )
    case 'concurrent_capacity':
      return new Refusal(
        'rate_limited',
        `${limit} runs are live, the maximum of this environment: wait for one to end`,
        {
          reason,
          details: { ...counts(limit, used), retry_after_seconds: 1 },
        },
      )
  }
}

function counts(limit: string | null, used: string | null) {
  return { limit: limit === null ? null : Number(limit), used: used === null ? null : Number(used) }
}

export function runEnded(runId: string): Refusal<'run_not_active'> {
  return new Refusal('run_not_active', `run ${runId} is ending or has ended: create another run`, {
    reason: 'run_ended',
  })
}
