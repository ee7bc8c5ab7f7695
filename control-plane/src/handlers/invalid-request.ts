import { type ErrorReason, type Issue, Refusal } from '@parley/contract'

/** The refusal of a request for one value that its schema cannot check; `path` is a JSON pointer to it. */
export function invalid(path: Issue['path'], message: string, reason?: ErrorReason<'invalid_request'>): Refusal {
  return new Refusal('invalid_request', `${path.slice(1)}: ${message}`, {
    ...(reason !== undefined && { reason }),
    details: { issues: [{ path, message }] },
  })
}
