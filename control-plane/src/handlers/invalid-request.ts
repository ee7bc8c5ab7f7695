import { type ErrorReason, type Issue, Refusal } from '@parley/contract'

/** The refusal of a request for one thing in it that no schema can judge; `path` is a JSON pointer into what was sent. */
export function invalid(path: Issue['path'], message: string, reason?: ErrorReason<'invalid_request'>): Refusal {
  return new Refusal('invalid_request', `${path.slice(1)}: ${message}`, {
    ...(reason !== undefined && { reason }),
    details: { issues: [{ path, message }] },
  })
}
