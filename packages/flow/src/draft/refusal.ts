/** Why an edit does not apply; `path` is relative to the edit. A class, so that `instanceof` tells it from a node or a flow. */
export class Refusal {
  readonly reason: 'edit_not_applicable' | 'limit_reached'
  readonly path: readonly string[]
  readonly message: string

  constructor(reason: Refusal['reason'], path: string | readonly string[], message: string) {
    this.reason = reason
    this.path = typeof path === 'string' ? [path] : path
    this.message = message
  }
}

export function notApplicable(path: string | readonly string[], message: string): Refusal {
  return new Refusal('edit_not_applicable', path, message)
}

export function limitReached(path: string | readonly string[], message: string): Refusal {
  return new Refusal('limit_reached', path, message)
}
