import type { TimelineFact } from '@parley/conversation'
import type { LegEvent } from '@parley/leg'

type Refusal = LegEvent & { readonly type: 'refer-refused' | 'redirected' | 'transfer-result' }

/** The timeline item of a transfer or redirection that did not take place; null for a transfer that succeeded. */
export function refusalItem(event: Refusal): TimelineFact | null {
  switch (event.type) {
    case 'refer-refused': {
      const target = event.target ?? 'an unreadable address'
      const message = `the far end asked to be transferred to ${target}; Parley answered ${event.status}`
      return { kind: 'error', code: 'transfer_refused', message }
    }
    case 'redirected': {
      const targets = event.targets.join(', ') || 'no address'
      const message = `the far end answered ${event.status} and named ${targets}, which was not called`
      return { kind: 'error', code: 'call_redirected', message }
    }
    case 'transfer-result':
      return event.taken ? null : { kind: 'error', code: 'transfer_failed', message: failureOf(event.receipt) }
  }
}

function failureOf({ referStatus, finalSipStatus }: (Refusal & { type: 'transfer-result' })['receipt']): string {
  if (referStatus === null) return 'the call ended before the far end answered the REFER'
  if (referStatus >= 300) return `the far end answered the REFER with ${referStatus}`
  return `the far end called the target, which answered ${finalSipStatus}`
}
