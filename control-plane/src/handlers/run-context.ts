import type { Context, Principal } from '../context.ts'

/** What the creation of a run uses of its context. */
export interface RunContext
  extends Pick<Context, 'db' | 'scope' | 'platform' | 'idempotencyKey' | 'auditResource' | 'wakeAfterCommit'> {
  readonly principal: Pick<Principal, 'ref' | 'canDial'>
}
